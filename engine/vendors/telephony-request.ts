import type { VendorError } from "./contracts.js";
import { type RefusedAnswer, requestStream } from "./http-stream.js";
import type { VendorContext } from "./vendor-settings.js";

/** Telephony vendors answer within a second or so; nobody waits on the line for these requests. */
const ANSWER_MAX_MS = 10_000;
/** The record of a call is some 2 kB. */
const ANSWER_MAX_BYTES = 64 * 1024;

/** What was begun at the vendor is waited for: whoever gave up would not know whether somebody's telephone rings. */
const NEVER_ABORTED = new AbortController().signal;

export interface TelephonyRequest {
  readonly vendor: string;
  readonly baseUrl: string;
  readonly method: "POST" | "DELETE";
  /** Below that of the base. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly refuse: (answer: RefusedAnswer) => VendorError;
}

/** One request to a vendor of telephone calls about a call; resolves with the answer's body, rejects with a VendorError. */
export async function telephonyRequest(
  { clock, connections }: VendorContext,
  { baseUrl, path, body, ...request }: TelephonyRequest,
): Promise<string> {
  const base = new URL(baseUrl);
  const chunks: Buffer[] = [];
  await requestStream(
    {
      ...request,
      dispatcher: connections.for(false),
      clock,
      origin: base.origin,
      path: `${base.pathname.replace(/\/$/, "")}${path}`,
      body,
      limits: {
        firstByteMs: ANSWER_MAX_MS,
        betweenBytesMs: ANSWER_MAX_MS,
        totalMs: ANSWER_MAX_MS,
        replyMaxBytes: ANSWER_MAX_BYTES,
      },
    },
    (chunk) => {
      chunks.push(chunk);
      return false;
    },
    NEVER_ABORTED,
  );
  return Buffer.concat(chunks).toString("utf8");
}

/** Of HTTP's basic authentication. */
export function basicAuthorization(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
}
