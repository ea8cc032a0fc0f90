import { VendorError, type VendorFault } from "./contracts.js";
import { ShareUsedUpError } from "./transport/organization-connections.js";

/** Enough for a vendor's sentence, too little for a page. */
const MESSAGE_MAX_CHARS = 300;

/** A vendor that asks for a longer pause is, for a call, down. */
const RETRY_AFTER_MAX_MS = 3_600_000;

/** The names that OpenSSL and Node give to certificates and handshakes that fail. */
const TLS_CODE = /CERT|TLS|SSL|SIGNED|VERIFY_LEAF|HOSTNAME_MISMATCH/;

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What a vendor's error body says, as far as it is understood; it must not hold what was said in the call. */
export interface RefusalDetail {
  /** The vendor's own short word, for example `insufficient_quota`. */
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/** A 403 is of one request or one model, which says nothing of the key; vendors that mean the key have words for it. */
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

/** As `faultOfStatus`, of a vendor whose 403 is about the credential. */
export function keyFaultOfStatus(status: number): VendorFault {
  return status === 403 ? "unauthorized" : faultOfStatus(status);
}

/** A refused request as an error, in the vendor's words without the key. */
export function refusal(
  vendor: string,
  fault: VendorFault,
  answer: { readonly status: number; readonly headers: AnswerHeaders; readonly nowMs: number },
  detail: RefusalDetail,
  secret: string | undefined,
): VendorError {
  const retryAfterMs = retryAfter(answer.headers, answer.nowMs);
  const requestId = requestIdOf(answer.headers);
  const words = [detail.code, detail.message].filter((part) => part !== undefined && part !== "");
  const text = [`${vendor} answered ${answer.status}`, ...words].join(": ");
  return new VendorError(vendor, fault, safeText(text, secret), {
    status: answer.status,
    retryAfterMs,
    requestId,
  });
}

/**
 * An error of the connection (undici, node:net, TLS, DNS) as a VendorError; a VendorError stays as it is. `wasOpen` says that the
 * handshake was over: what TLS complains of then has nothing to do with settings.
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
  return new VendorError(vendor, fault, `${vendor}: ${words}`, { cause });
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

function retryAfter(headers: AnswerHeaders, nowMs: number): number | undefined {
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
    if (value !== undefined) return value.slice(0, 100);
  }
  return undefined;
}

function faultOfCode(code: string | undefined): VendorFault {
  switch (code) {
    case "PRIVATE_ADDRESS":
    // For example a key that cannot stand in a header.
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
      // A certificate that does not fit is a setting to correct, not a fault that passes.
      return TLS_CODE.test(code) ? "refused" : "disconnected";
  }
}

/** The system's own code of an error: walks down the causes, and into the attempts of a connection to several addresses. */
export function codeOf(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth++) {
    if ("code" in at && typeof at.code === "string") return at.code;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return undefined;
}
