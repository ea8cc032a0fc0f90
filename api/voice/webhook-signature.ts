import { Failure } from "../../engine/failure.js";
import { phoneVendor, SIGNATURE_HEADERS } from "../../engine/telephony/phone-vendors.js";
import type { WebhookKeys } from "../../engine/telephony/telephony-settings.js";
import type { Clock } from "../../engine/time/clock.js";
import type { IncomingRequest } from "../http/endpoint.js";
import { httpBase } from "./stream-address.js";

export interface SignatureOptions {
  readonly publicBaseUrl: string | undefined;
  /** A vendor that has its key here must sign. */
  readonly webhookKeys: WebhookKeys;
  /** A vendor that has its key only here need not sign, but a signature that is there must fit. */
  readonly optionalWebhookKeys?: Partial<WebhookKeys> | undefined;
  readonly clock: Clock;
}

/** What an endpoint has to keep of a request for `demandSignature`. */
export const SIGNED_HEADERS: readonly string[] = ["host", ...SIGNATURE_HEADERS];

/** Rejects with a Failure when the vendor did not sign this. The endpoint keeps SIGNED_HEADERS. */
export async function demandSignature(
  vendor: string,
  request: IncomingRequest,
  path: string,
  body: Buffer,
  { publicBaseUrl, webhookKeys, optionalWebhookKeys, clock }: SignatureOptions,
): Promise<void> {
  const signature = phoneVendor(vendor)?.signature;
  if (signature === undefined) return;
  const isThere = signature.headerNames.some((name) => request.header(name) !== "");
  const optionalKey = isThere ? signature.keyOf(optionalWebhookKeys ?? {}) : undefined;
  const key = signature.keyOf(webhookKeys) ?? optionalKey;
  if (key === undefined) return;
  const base = httpBase(request, publicBaseUrl);
  const isSigned = await signature.check(key, {
    url: `${base}${path}${request.queryString === "" ? "" : `?${request.queryString}`}`,
    body,
    nowMs: clock.epochMs(),
    header: (name) => request.header(name),
  });
  if (isSigned) return;
  throw new Failure("forbidden", `${signature.header} does not fit the request`);
}
