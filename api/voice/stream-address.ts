import { RequestError } from "../../engine/request-error.js";
import type { IncomingRequest } from "../http/endpoints/endpoint.js";

/** The path of the default vendor's media streams; other vendors' names are appended. */
export const STREAM_PATH = "/ws/telephony/stream";
/** A name, an address of four numbers, or one of version 6 in brackets, and a port. */
const HOST = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;
const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

/** `https://host` of this server, as vendors reach it and sign it; see `socketBase`. */
export function httpBase(request: IncomingRequest, publicBaseUrl: string | undefined): string {
  return socketBase(request, publicBaseUrl).replace(/^ws/, "http");
}

/**
 * `wss://host` of this server, as vendors reach it. The endpoint keeps the header `host`; throws a RequestError if
 * that is invalid.
 */
export function socketBase(request: IncomingRequest, publicBaseUrl: string | undefined): string {
  if (publicBaseUrl !== undefined) return publicBaseUrl.replace(/^http/, "ws").replace(/\/$/, "");
  const host = request.header("host");
  if (!HOST.test(host))
    throw new RequestError("invalid_request", "host: expected this server's name");
  // Vendors accept only wss; a local machine has no certificate.
  return `${LOOPBACK.test(host) ? "ws" : "wss"}://${host}`;
}
