import type { Clock } from "../time/clock.js";
import { VendorError } from "../vendors/contracts.js";
import type { Connections } from "../vendors/transport/connections.js";
import { type MethodRequest, requestStream } from "../vendors/transport/http-stream.js";
import { faultOfStatus, refusal } from "../vendors/vendor-fault.js";

/** How errors name the receiver. */
const VENDOR = "webhook";
/** From the connection to the last byte that is read. */
const TIMEOUT_MS = 15_000;
/** Read of an answer, and kept of what was read. */
const ANSWER_READ_MAX_BYTES = 4 * 1024;
export const ANSWER_KEPT_MAX_BYTES = 1_024;

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whose share of connections it takes. */
  readonly orgId: string;
}

export interface WebhookAnswer {
  /** Undefined where no status came. */
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** Its first bytes. */
  readonly answer: string;
  /** Why no status came. */
  readonly error: string | undefined;
}

const REASONS: Readonly<Record<string, string>> = {
  timeout: "no answer within 15 s",
  refused: "the address may not be reached from here",
  disconnected: "connection lost",
  badAnswer: "the answer is no HTTP",
};

/**
 * Posts through the dispatcher that refuses private addresses, and follows no redirect. The status counts as soon as it is
 * there, whatever becomes of the body. Rejects only when aborted.
 */
export async function postWebhook(
  { url, headers, body, orgId }: WebhookRequest,
  connections: Connections,
  clock: Clock,
  signal: AbortSignal,
): Promise<WebhookAnswer> {
  const target = new URL(url);
  let status: number | undefined;
  let retryAfterMs: number | undefined;
  let received = Buffer.alloc(0);
  const take = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk.subarray(0, ANSWER_READ_MAX_BYTES)]);
    return received.length >= ANSWER_READ_MAX_BYTES;
  };
  const limits = {
    firstByteMs: TIMEOUT_MS,
    betweenBytesMs: TIMEOUT_MS,
    totalMs: TIMEOUT_MS,
    // Reading ends with the piece that is beyond what is read.
    replyMaxBytes: Number.POSITIVE_INFINITY,
  };
  let error: string | undefined;
  try {
    const request: MethodRequest = {
      vendor: VENDOR,
      dispatcher: connections.for(true, orgId),
      clock,
      method: "POST",
      origin: target.origin,
      path: `${target.pathname}${target.search}`,
      headers,
      body,
      limits,
      accept: (_headers, given) => {
        status = given;
      },
      refuse: (refused) => {
        status = refused.status;
        received = Buffer.from(refused.body);
        const detail = { code: undefined, message: undefined };
        const fault = refusal(VENDOR, faultOfStatus(refused.status), refused, detail, undefined);
        retryAfterMs = fault.retryAfterMs;
        return fault;
      },
    };
    await requestStream(request, take, signal);
  } catch (failure) {
    if (signal.aborted) throw failure;
    const fault = failure instanceof VendorError ? failure.fault : "unavailable";
    if (status === undefined) error = REASONS[fault] ?? "the receiver could not be reached";
  }
  const answer = received.subarray(0, ANSWER_KEPT_MAX_BYTES).toString("utf8").replaceAll("\0", "");
  return { status, retryAfterMs, answer, error };
}
