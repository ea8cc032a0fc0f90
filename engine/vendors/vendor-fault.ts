import { ParleyError } from "../../storage/parley-error.js";
import { VendorError, type VendorFault } from "./contracts.js";
import { ShareUsedUpError } from "./transport/organization-connections.js";
import { PrivateAddressError } from "./transport/private-addresses.js";

/** Enough for a vendor's sentence, too little for a page. */
const MESSAGE_MAX_CHARS = 300;

/** For a call, a vendor that requests a longer pause is down. */
const RETRY_AFTER_MAX_MS = 3_600_000;

/** OpenSSL's and Node's codes for certificate and handshake errors. */
const TLS_CODE = /CERT|TLS|SSL|SIGNED|VERIFY_LEAF|HOSTNAME_MISMATCH/;

/** One word; anything else is text. */
const REQUEST_ID = /^[\w.:/=+-]+$/;

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The content of a vendor's error body, as received: `reasonOf` extracts what may be logged. */
export interface RefusalDetail {
  /** The vendor's own short code, for example `insufficient_quota`. */
  readonly code: string | undefined;
  /** The parameter that it names in its own field. */
  readonly param?: string | undefined;
  /** Text, which may repeat the request. */
  readonly message: string | undefined;
}

/**
 * A code consists of words with underscores (`model_not_found`), of capitals and a number (`NET-0001`), or is a
 * number.
 */
const CODE = /^(?:[A-Za-z]+(?:_[A-Za-z0-9]+)+|[A-Z]{2,12}-\d{1,4}|\d{3,5})$/;
/** Deepgram's code, at the beginning of a close reason. */
const CODE_FIRST = /^[A-Z]{3,4}-\d{4}(?!\d)/;
const CODE_MAX_CHARS = 64;
/** A longer run of digits in a code or a name may be a telephone number or an account. */
const LONG_NUMBER = /\d{6}/;
/** Codes of a single word; any other single word may be a caller's. */
const PLAIN_CODES: ReadonlySet<string> = new Set([
  "missing",
  "overloaded",
  "requests",
  "tokens",
  "unauthorized",
  "forbidden",
  "extra_forbidden",
]);
/** `temperature`, `messages[0].content`, `body.reasoning_effort`. */
const PARAMETER = /^[a-z][a-z0-9_]*(?:\[\d{1,3}\]|\.[a-z0-9_]+)*$/;
/** The names of a request's fields; any other name may be a caller's word. */
const FIELDS: ReadonlySet<string> = new Set([
  "audio",
  "body",
  "content",
  "encoding",
  "file",
  "format",
  "frequency_penalty",
  "function",
  "functions",
  "input",
  "instructions",
  "language",
  "languages",
  "max_completion_tokens",
  "max_output_tokens",
  "max_tokens",
  "message",
  "messages",
  "model",
  "model_id",
  "output_format",
  "parameters",
  "presence_penalty",
  "eot_threshold",
  "eager_eot_threshold",
  "prompt",
  "reasoning",
  "reasoning_effort",
  "response_format",
  "sample_rate",
  "seed",
  "speed",
  "stop",
  "store",
  "stream",
  "stream_options",
  "temperature",
  "text",
  "thinking",
  "tool_choice",
  "tools",
  "top_k",
  "top_p",
  "voice",
  "voice_id",
  "voice_settings",
]);

/** Topics of vendors' texts, in sentences of our own: the first match is logged in place of the text. */
const SUBJECTS: readonly (readonly [RegExp, string])[] = [
  [/api[ _-]?key|credential|invalid[ _]token|authenti|unauthori[sz]ed/i, "the credentials"],
  [/quota|credits?\b|billing|balance|payment/i, "the account's quota or credit"],
  [/moderat|flagged|safety|content[ _](?:policy|filter)/i, "the vendor's rules for content"],
  [/context[ _](?:length|window)|prompt is too long/i, "the length of the conversation"],
  [/concurren|too many|rate[ _]limit|slow down/i, "a limit of requests"],
  [
    /unsupported|not supported|unrecogni[sz]ed|unknown|extra inputs/i,
    "something that it does not support",
  ],
  [/\bmodel\b/i, "the model"],
  [/\bvoice\b/i, "the voice"],
  [/sample[ _]rate|encoding|audio format/i, "the audio format"],
  [/overload|capacity|try again|internal/i, "a failure of its own"],
  [/time[ds]?[ -]?out|idle|inactiv|no audio/i, "a time that was exceeded"],
];

/** A 403 concerns one request or one model and shows nothing about the key; vendors have specific codes for the key. */
export function faultOfStatus(status: number): VendorFault {
  if (status === 401) return "unauthorized";
  if (status === 402) return "quotaExceeded";
  if (status === 404) return "notFound";
  if (status === 408) return "timeout";
  // 498 is Groq's "no capacity left on this tier".
  if (status === 429 || status === 498) return "rateLimited";
  if (status === 409 || status === 499 || status >= 500) return "unavailable";
  return "refused";
}

/** As `faultOfStatus`, for a vendor whose 403 is about the credential. */
export function keyFaultOfStatus(status: number): VendorFault {
  return status === 403 ? "unauthorized" : faultOfStatus(status);
}

/**
 * The vendor's reason in a form that is safe for a log: its code, the name of the parameter, and the topic of its text.
 * The text itself is left out, because it may repeat what was sent. Empty when nothing is left.
 */
export function reasonOf({ code, param, message }: RefusalDetail): string {
  const parts: string[] = [];
  const word = isCode(code) ? code : CODE_FIRST.exec(message ?? "")?.[0];
  if (word !== undefined) parts.push(word);
  const parameter = isParameter(param) ? param : parameterIn(message ?? "");
  if (parameter !== undefined) parts.push(`parameter ${parameter}`);
  const subject = SUBJECTS.find(([words]) => words.test(message ?? ""))?.[1];
  if (subject !== undefined) parts.push(`about ${subject}`);
  return parts.join(", ");
}

/** True for a vendor's code that cannot be a word, a number or a key from the request. */
export function isCode(given: string | undefined): given is string {
  if (given === undefined || given.length > CODE_MAX_CHARS || LONG_NUMBER.test(given)) return false;
  return CODE.test(given) || PLAIN_CODES.has(given);
}

/** The first name in a text that can only be a field's: one with an underscore. */
function parameterIn(text: string): string | undefined {
  return text.match(/\b[a-z]+(?:_[a-z]+)+\b|\btemperature\b/g)?.find((name) => FIELDS.has(name));
}

function isParameter(given: string | undefined): given is string {
  if (given === undefined || given.length > CODE_MAX_CHARS || LONG_NUMBER.test(given)) return false;
  const names = given.split(/[.[\]]/).filter((name) => !/^\d*$/.test(name));
  return PARAMETER.test(given) && names.every((name) => FIELDS.has(name));
}

/** A refused request as an error: its message holds the reason, and `vendorText` the vendor's text without the key. */
export function refusal(
  vendor: string,
  fault: VendorFault,
  answer: { readonly status: number; readonly headers: AnswerHeaders; readonly nowMs: number },
  detail: RefusalDetail,
  secret: string | undefined,
): VendorError {
  const retryAfterMs = retryAfter(answer.headers, answer.nowMs);
  const requestId = requestIdOf(answer.headers);
  const words = [`${vendor} answered ${answer.status}`, reasonOf(detail)].filter(Boolean);
  return new VendorError(vendor, fault, safeText(words.join(": "), secret), {
    status: answer.status,
    retryAfterMs,
    requestId,
    vendorText: vendorTextOf(detail, secret),
  });
}

/**
 * An error of the connection (undici, node:net, TLS, DNS) as a VendorError; a VendorError is returned unchanged.
 * `wasOpen`: the handshake was done, so a TLS error has nothing to do with settings.
 */
export function connectionFault(vendor: string, cause: unknown, wasOpen = false): VendorError {
  if (cause instanceof VendorError) return cause;
  if (cause instanceof ShareUsedUpError) {
    return new VendorError(vendor, "unavailable", `${vendor}: ${cause.message}`, { cause });
  }
  const code = codeOf(cause);
  const isTls = code !== undefined && TLS_CODE.test(code);
  const failed = isTls && !wasOpen ? "no TLS connection that can be trusted" : "connection failed";
  const words = code === undefined ? failed : `${failed}: ${code}`;
  const fault = isTls && wasOpen ? "disconnected" : faultOfCode(code);
  // The parser's error contains the received data, which may repeat the request.
  const kept = isQuoting(cause) ? {} : { cause };
  return new VendorError(vendor, fault, `${vendor}: ${words}`, kept);
}

/** True for an error that contains received data, as the parsers of undici and Node create it, at any depth. */
function isQuoting(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth++) {
    if ("data" in at || "rawPacket" in at) return true;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return false;
}

/** For `VendorError.vendorText`. */
export function vendorTextOf(
  { code, message }: RefusalDetail,
  secret: string | undefined,
): string | undefined {
  const text = [code, message].filter((part) => part !== undefined && part !== "").join(": ");
  return text === "" ? undefined : safeText(text, secret);
}

/** One line, bounded, without the key. */
export function safeText(text: string, secret: string | undefined): string {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, " ").trim();
  const hidden =
    secret === undefined || secret.length < 4 ? line : line.replaceAll(secret, "[key]");
  return hidden.length <= MESSAGE_MAX_CHARS ? hidden : `${hidden.slice(0, MESSAGE_MAX_CHARS)}…`;
}

export function headerOf(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
}

/** The pause that the vendor requests, an hour at most; undefined if it requests none. */
export function retryAfter(headers: AnswerHeaders, nowMs: number): number | undefined {
  const exactMs = Number(headerOf(headers, "retry-after-ms"));
  if (exactMs > 0) return Math.min(exactMs, RETRY_AFTER_MAX_MS);
  const value = headerOf(headers, "retry-after");
  if (value === undefined) return undefined;
  const seconds = Number(value);
  const waitMs = Number.isNaN(seconds) ? Date.parse(value) - nowMs : seconds * 1_000;
  return waitMs >= 0 ? Math.min(waitMs, RETRY_AFTER_MAX_MS) : undefined;
}

function requestIdOf(headers: AnswerHeaders): string | undefined {
  for (const name of ["x-request-id", "request-id", "dg-request-id"]) {
    const value = headerOf(headers, name);
    if (value !== undefined && REQUEST_ID.test(value)) return value.slice(0, 100);
  }
  return undefined;
}

function faultOfCode(code: string | undefined): VendorFault {
  switch (code) {
    case "private_address":
    // For example a key that is invalid in a header.
    case "UND_ERR_INVALID_ARG":
      return "refused";
    case "UND_ERR_CONNECT_TIMEOUT":
    case "ETIMEDOUT":
      return "timeout";
    case "ECONNREFUSED":
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "UND_ERR_CLOSED":
    case "UND_ERR_DESTROYED":
      return "unavailable";
    case undefined:
      return "disconnected";
    default:
      if (code.startsWith("HPE_") || code === "UND_ERR_HEADERS_OVERFLOW") return "badAnswer";
      // An invalid certificate is a setting to correct, not a temporary fault.
      return TLS_CODE.test(code) ? "refused" : "disconnected";
  }
}

/**
 * The system's own code of an error, or `private_address`: follows the causes, and the attempts of a connection to
 * several addresses.
 */
export function codeOf(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth++) {
    const isOurs = at instanceof ParleyError && !(at instanceof PrivateAddressError);
    if (!isOurs && "code" in at && typeof at.code === "string") return at.code;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return undefined;
}
