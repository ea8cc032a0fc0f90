import { Failure } from "../../engine/failure.js";
import { isTwilioSignature } from "../../engine/security/twilio-signature.js";
import type { IncomingRequest } from "../http/endpoint.js";

export interface SignatureOptions {
  readonly publicBaseUrl: string | undefined;
  /** Checked where it is set. */
  readonly twilioAuthToken: string | undefined;
}

/** Throws a Failure when the form was not signed for this path and query. The endpoint keeps both headers. */
export function demandTwilioSignature(
  request: IncomingRequest,
  path: string,
  body: string,
  { publicBaseUrl, twilioAuthToken }: SignatureOptions,
): void {
  if (twilioAuthToken === undefined) return;
  const base = publicBaseUrl ?? `https://${request.header("host")}`;
  const url = `${base.replace(/\/$/, "")}${path}?${request.queryString}`;
  const signature = request.header("x-twilio-signature");
  if (!isTwilioSignature(twilioAuthToken, { url, fields: new URLSearchParams(body), signature })) {
    throw new Failure("forbidden", "X-Twilio-Signature does not fit the request");
  }
}
