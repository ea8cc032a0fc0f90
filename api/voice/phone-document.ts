import { eventDelayed } from "../../engine/calls/call-refused-error.js";
import { type Continuations, continuationUrl } from "../../engine/calls/continuations.js";
import type { StreamClaims } from "../../engine/security/stream-token.js";
import type { CallInstructions, StreamTarget } from "../../engine/telephony/call-instructions.js";
import { DEFAULT_PHONE_VENDOR, phoneVendor } from "../../engine/telephony/phone-vendors.js";
import type { MaybePromise } from "../../engine/time/maybe-promise.js";
import type { Answer } from "../http/answer/answer.js";
import type { IncomingRequest } from "../http/endpoints/endpoint.js";
import { httpBase, STREAM_PATH, socketBase } from "./stream-address.js";

/** The value of `continue` for a dialplan that follows documents with a dial instruction. */
export const DIALS_TRANSFERS = "transfer";

export interface PhoneDocumentOptions {
  readonly publicBaseUrl: string | undefined;
  /** In addition to the stream's token. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly continuations: Pick<Continuations, "tokenFor">;
  /** The address of the server for the call, if servers have addresses of their own. */
  readonly streamBase: string | undefined;
  /** False for a dialplan that is older than this request. */
  readonly isNextNamed: boolean;
}

/** The best address for callers' streams at this moment; undefined if all servers share one address. */
export type StreamAddress = () => MaybePromise<string | undefined>;

const NO_CONTENT = 204;

/** The response to a vendor's webhook. */
export function documentAnswer({ contentType }: CallInstructions, body: string): Answer {
  return { status: body === "" ? NO_CONTENT : 200, contentType, body };
}

/** The caller hears the reason, and the call ends. */
export function turnedAway(documents: CallInstructions, reason: string): Answer {
  const text = `This call cannot be taken: ${reason}. Goodbye.`;
  return documentAnswer(documents, documents.farewell({ text }));
}

/** Tells the caller the reason of a refusal if its event is stored, and otherwise to call again later. */
export function refusedCall(
  documents: CallInstructions,
  { words, isStored }: { readonly words: string; readonly isStored: boolean },
): Answer {
  return turnedAway(documents, isStored ? words : eventDelayed().callerWords);
}

/** Opens the stream of `claims`; the vendor learns where to request what follows it. See `socketBase`. */
export function connectDocument(
  request: IncomingRequest,
  documents: CallInstructions,
  claims: StreamClaims,
  streamToken: string,
  options: PhoneDocumentOptions,
): string {
  const { publicBaseUrl, continuations, streamBase, isNextNamed } = options;
  const url = phoneStreamUrl(request, streamBase ?? publicBaseUrl, claims.vendor);
  const parameters = { ...parametersOf(claims, streamToken), ...options.parameters };
  const token = isNextNamed ? continuations.tokenFor(claims) : undefined;
  if (token === undefined) return documents.connect({ url, parameters });
  const continueUrl = continuationUrl(httpBase(request, publicBaseUrl), token);
  return documents.connect({ url, parameters, continueUrl });
}

function parametersOf(
  { vendor, callerRef }: StreamClaims,
  token: string,
): StreamTarget["parameters"] {
  const isToldCall = phoneVendor(vendor)?.passesCallId === true && callerRef !== "";
  return isToldCall ? { token, callId: callerRef } : { token };
}

/** The address of the vendor's media streams; see `socketBase`. */
export function phoneStreamUrl(
  request: IncomingRequest,
  publicBaseUrl: string | undefined,
  vendor: string,
): string {
  const path = vendor === DEFAULT_PHONE_VENDOR ? STREAM_PATH : `${STREAM_PATH}/${vendor}`;
  return `${socketBase(request, publicBaseUrl)}${path}`;
}
