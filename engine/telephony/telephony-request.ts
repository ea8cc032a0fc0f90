import { setMaxListeners } from "node:events";
import * as v from "valibot";
import { VendorError } from "../vendors/contracts.js";
import { requestStream } from "../vendors/transport/http-stream.js";
import { codeOf, isCode, keyFaultOfStatus, retryAfter } from "../vendors/vendor-fault.js";
import { tryParse } from "../vendors/vendor-json.js";
import type { VendorContext } from "../vendors/vendor-settings.js";

/** Telephony vendors answer within a second or so; no caller waits for these requests. */
const ANSWER_MAX_MS = 10_000;
/** The record of a call is some 2 kB. */
const ANSWER_MAX_BYTES = 64 * 1024;
/** What a vendor says of an error is shorter; a longer answer is a list. */
const ERROR_MAX_CHARACTERS = 4_096;
const STATUS_CALL_ENDED = 404;
const STATUS_SERVER_ERROR = 500;

/** A request that the vendor has started is awaited: after a timeout it would be unknown whether a telephone rings. */
const NEVER_ABORTED = new AbortController().signal;
// Each request listens while it is under way: Node would warn at eleven at a time.
setMaxListeners(0, NEVER_ABORTED);

export interface TelephonyRequest {
  readonly vendor: string;
  readonly baseUrl: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below that of the base. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Left out: enough for the record of a call. */
  readonly answerMaxBytes?: number;
  /** The vendor's number for the reason in the body of a refusal; left out where it gives none. */
  readonly codeOf?: (body: string) => TelephonyError["vendorCode"];
}

/** The vendor says no. Its words may hold telephone numbers, so only its number for the reason is kept. */
export class TelephonyError extends VendorError {
  /** As the vendor's documentation lists them; undefined when it gave none. */
  readonly vendorCode: number | string | undefined;

  constructor(
    vendor: string,
    status: number,
    vendorCode: TelephonyError["vendorCode"],
    retryAfterMs?: number,
  ) {
    const words = `${vendor} answered ${status}${vendorCode === undefined ? "" : `: error ${vendorCode}`}`;
    // Who places a call is not to take a credential without the right to for a wrong order.
    super(vendor, keyFaultOfStatus(status), words, { status, retryAfterMs });
    this.vendorCode = vendorCode;
  }
}

/** One request to a vendor of telephone calls about a call; resolves with the answer's body, rejects with a VendorError. */
export async function telephonyRequest(
  { clock, connections, orgId }: VendorContext,
  { baseUrl, path, body, codeOf, answerMaxBytes = ANSWER_MAX_BYTES, ...request }: TelephonyRequest,
): Promise<string> {
  const base = new URL(baseUrl);
  const chunks: Buffer[] = [];
  await requestStream(
    {
      ...request,
      dispatcher: connections.for(orgId !== undefined, orgId),
      clock,
      origin: base.origin,
      path: `${base.pathname.replace(/\/$/, "")}${path}`,
      body,
      refuse: ({ status, headers, body: words, nowMs }) => {
        const retryAfterMs = retryAfter(headers, nowMs);
        return new TelephonyError(request.vendor, status, shortCode(codeOf?.(words)), retryAfterMs);
      },
      limits: {
        firstByteMs: ANSWER_MAX_MS,
        betweenBytesMs: ANSWER_MAX_MS,
        totalMs: ANSWER_MAX_MS,
        replyMaxBytes: answerMaxBytes,
      },
    },
    (chunk) => {
      chunks.push(chunk);
      return false;
    },
    NEVER_ABORTED,
  );
  const answer = Buffer.concat(chunks).toString("utf8");
  requireNoError(request.vendor, answer);
  return answer;
}

/** How the vendors write an error. What they have been asked for has none of these, or has an id beside them. */
const ErrorAnswer = v.union([
  v.pipe(
    v.object({ "error-code": v.union([v.string(), v.number()]) }),
    v.transform((answer) => String(answer["error-code"])),
    v.check((code) => code !== "200"),
  ),
  v.pipe(
    v.object({ errors: v.pipe(v.array(v.looseObject({})), v.minLength(1)) }),
    v.transform(({ errors: [first] }) => codeIn(first?.["code"])),
  ),
  v.pipe(
    v.object({ code: v.number(), message: v.string(), sid: v.optional(v.undefined()) }),
    v.transform(({ code }) => String(code)),
  ),
  v.pipe(
    v.object({ error: v.union([v.pipe(v.string(), v.minLength(1)), v.looseObject({})]) }),
    v.transform(() => ""),
  ),
  v.pipe(
    v.object({ title: v.string(), uuid: v.optional(v.undefined()) }),
    v.transform(() => ""),
  ),
]);

function codeIn(code: unknown): string {
  return typeof code === "string" || typeof code === "number" ? String(code) : "";
}

/** Some vendors, and gateways before them, answer an error with the status of a success. */
function requireNoError(vendor: string, answer: string): void {
  if (answer.length > ERROR_MAX_CHARACTERS) return;
  const error = tryParse(ErrorAnswer, answer);
  if (error === undefined) return;
  const code = shortCode(error.value);
  const words = `${vendor}: an error in the answer of a success`;
  throw new VendorError(vendor, "badAnswer", code ? `${words}: error ${code}` : words);
}

/** A code that a vendor's documentation may list; text and longer numbers are left out. */
function shortCode(vendorCode: TelephonyError["vendorCode"]): TelephonyError["vendorCode"] {
  return isCode(vendorCode === undefined ? undefined : String(vendorCode)) ? vendorCode : undefined;
}

/** Resolves too when the vendor refuses because the call has ended: by the status 404, or by this code of its own. */
export async function unlessOver(
  request: Promise<unknown>,
  overCode?: TelephonyError["vendorCode"],
): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isOver(error, overCode)) throw error;
  }
}

/** False when the vendor refuses because the call has ended, as `unlessOver` knows it. */
export async function isLiveAfter(
  request: Promise<unknown>,
  overCode?: TelephonyError["vendorCode"],
): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (isOver(error, overCode)) return false;
    throw error;
  }
}

/** Whether the vendor refused because the call has ended. */
export function isOver(error: unknown, overCode?: TelephonyError["vendorCode"]): boolean {
  if (!(error instanceof TelephonyError)) return false;
  if (error.status === STATUS_CALL_ENDED) return true;
  return overCode !== undefined && error.vendorCode === overCode;
}

/** The vendor may have done what it was asked. */
export function isOutcomeUnknown(error: unknown): boolean {
  return isAnswerLost(error) || isAnswerUnclear(error);
}

/** The request may have reached the vendor, whose response was lost or came too late. */
function isAnswerLost(error: unknown): boolean {
  if (!(error instanceof VendorError) || error instanceof TelephonyError) return false;
  if (codeOf(error) === "UND_ERR_CONNECT_TIMEOUT") return false;
  return error.fault === "timeout" || error.fault === "disconnected";
}

/**
 * The vendor has answered, and its answer does not say whether it has done what it was asked: a gateway answers so that has passed
 * the request on.
 */
function isAnswerUnclear(error: unknown): boolean {
  if (!(error instanceof VendorError)) return false;
  if (error.fault === "badAnswer") return true;
  if (!(error instanceof TelephonyError) || error.vendorCode !== undefined) return false;
  return (error.status ?? 0) >= STATUS_SERVER_ERROR;
}

/** The `authorization` header of HTTP's basic authentication (RFC 7617). */
export function basicAuthorization(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
}
