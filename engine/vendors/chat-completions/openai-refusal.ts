import * as v from "valibot";
import { VendorError, type VendorFault } from "../contracts.js";
import type { RefusedAnswer } from "../transport/http-stream.js";
import { faultOfStatus, type RefusalDetail, refusal, safeText } from "../vendor-fault.js";

const errorFields = {
  message: v.optional(v.nullable(v.string())),
  type: v.optional(v.nullable(v.string())),
  code: v.optional(v.nullable(v.union([v.string(), v.number()]))),
};

const errorSchema = v.union([v.string(), v.object(errorFields)]);

/** Mistral and older servers of vLLM have no `error` around it. */
const bodySchema = v.union([
  v.object({ error: errorSchema }),
  v.pipe(
    v.object({ ...errorFields, message: v.string() }),
    v.transform((error) => ({ error })),
  ),
]);

interface OpenAiError extends RefusalDetail {
  readonly type: string | undefined;
}

/** Reads the error bodies of OpenAI and of those who speak its protocol. */
export function refuseOpenAi(
  vendor: string,
  apiKey: string | undefined,
): (answer: RefusedAnswer) => VendorError {
  return (answer) => {
    const error = parseBody(answer.body);
    const fault = faultOfError(error) ?? faultOfStatus(answer.status);
    return refusal(vendor, fault, answer, error, apiKey);
  };
}

/** An error that came inside a stream which had begun well. */
export function streamedError(
  vendor: string,
  given: unknown,
  apiKey: string | undefined,
): VendorError {
  const error = readError(given);
  const fault =
    faultOfError(error) ?? (error.type === "invalid_request_error" ? "refused" : "unavailable");
  const words = [error.code, error.message].filter((part) => part !== undefined).join(": ");
  return new VendorError(vendor, fault, safeText(`${vendor} broke off: ${words}`, apiKey));
}

function parseBody(body: string): OpenAiError {
  try {
    const parsed = v.safeParse(bodySchema, JSON.parse(body));
    return readError(parsed.success ? parsed.output.error : undefined);
  } catch {
    // A proxy's page instead of the vendor's JSON: the status has to do.
    return readError(undefined);
  }
}

function readError(given: unknown): OpenAiError {
  const parsed = v.safeParse(errorSchema, given);
  if (!parsed.success) return { code: undefined, message: undefined, type: undefined };
  if (typeof parsed.output === "string") {
    return { code: undefined, message: parsed.output, type: undefined };
  }
  const { code, message, type } = parsed.output;
  return {
    code: code === null || code === undefined ? (type ?? undefined) : String(code),
    message: message ?? undefined,
    type: type ?? undefined,
  };
}

/** What the words say more exactly than the status; a 429 may mean "wait" or "pay". */
function faultOfError({ code, type }: OpenAiError): VendorFault | undefined {
  if (type === "insufficient_quota") return "quotaExceeded";
  return code === undefined ? undefined : FAULTS.get(code);
}

const FAULTS: ReadonlyMap<string, VendorFault> = new Map([
  ["insufficient_quota", "quotaExceeded"],
  ["billing_hard_limit_reached", "quotaExceeded"],
  ["invalid_api_key", "unauthorized"],
  ["model_not_found", "notFound"],
  ["rate_limit_exceeded", "rateLimited"],
  // What the model wrote could not be read by the vendor itself.
  ["tool_use_failed", "badAnswer"],
]);
