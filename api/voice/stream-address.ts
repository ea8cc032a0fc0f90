import type { IncomingRequest } from "../http/endpoint.js";

/** Where media streams of the default vendor come; those of the others have the vendor's name behind it. */
export const STREAM_PATH = "/ws/telephony/stream";
const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

/** `wss://host` of this server, as vendors reach it. The endpoint keeps the header `host`. */
export function socketBase(request: IncomingRequest, publicBaseUrl: string | undefined): string {
  if (publicBaseUrl !== undefined) return publicBaseUrl.replace(/^http/, "ws").replace(/\/$/, "");
  const host = request.header("host");
  // Vendors only take wss; on one's own machine there is no certificate.
  return `${LOOPBACK.test(host) ? "ws" : "wss"}://${host}`;
}
