import * as v from "valibot";
import { VendorError, type VendorFault } from "../contracts.js";
import type { RefusedAnswer } from "../transport/http-stream.js";
import {
  faultOfStatus,
  type RefusalDetail,
  reasonOf,
  refusal,
  safeText,
  vendorTextOf,
} from "../vendor-fault.js";
import type { RequestRefusal } from "./chat-parameters.js";

const errorFields = {
  message: v.optional(v.nullable(v.string())),
  type: v.optional(v.nullable(v.string())),
  code: v.optional(v.nullable(v.union([v.string(), v.number()]))),
  param: v.optional(v.nullable(v.string())),
};

const errorSchema = v.union([v.string(), v.object(errorFields)]);

/** Validation errors of Mistral and FastAPI servers; each entry also quotes the request, which is omitted. */
const misfitsSchema = v.pipe(
  v.array(
    v.object({
      type: v.optional(v.string()),
      loc: v.pipe(v.array(v.union([v.string(), v.number()])), v.minLength(1)),
      msg: v.optional(v.string(), ""),
    }),
  ),
  v.minLength(1),
  v.transform((misfits) => ({
    error: {
      message: misfits.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; "),
      type: misfits[0]?.type ?? null,
      code: null,
      param: misfits[0]?.loc.filter((part) => part !== "body").join(".") ?? null,
    },
  })),
);

/** Mistral and older vLLM servers have no `error` object around it. */
const plainBodySchema = v.union([
  v.object({ error: errorSchema }),
  v.pipe(
    v.object({ ...errorFields, message: v.string() }),
    v.transform((error) => ({ error })),
  ),
  v.pipe(
    v.object({ detail: misfitsSchema }),
    v.transform(({ detail }) => detail),
  ),
  v.pipe(
    v.object({ message: v.object({ detail: misfitsSchema }) }),
    v.transform(({ message }) => message.detail),
  ),
]);

/** Google puts the error into a list. */
const bodySchema = v.union([
  plainBodySchema,
  v.pipe(
    v.tuple([plainBodySchema]),
    v.transform(([body]) => body),
  ),
]);

interface OpenAiError extends RefusalDetail {
  readonly type: string | undefined;
  readonly param: string | undefined;
}

/** Reads the error bodies of OpenAI and compatible servers. */
export function refuseOpenAi(
  vendor: string,
  apiKey: string | undefined,
  onRefused: (refusal: RequestRefusal) => void = () => undefined,
): (answer: RefusedAnswer) => VendorError {
  return (answer) => {
    const error = parseBody(answer.body);
    onRefused(requestRefusal(answer.status, error));
    const fault = faultOfError(error) ?? faultOfStatus(answer.status);
    return refusal(vendor, fault, answer, error, apiKey);
  };
}

/** An error within a stream that had started normally. */
export function streamedError(
  vendor: string,
  given: unknown,
  apiKey: string | undefined,
  onRefused: (refusal: RequestRefusal) => void = () => undefined,
): VendorError {
  const error = readError(given);
  // A gateway that has started its response reports the refusal of the vendor behind it in its error's code.
  const isRefused = error.code === "400" || error.type === "invalid_request_error";
  onRefused(requestRefusal(isRefused ? 400 : 500, error));
  const fault =
    faultOfError(error) ?? (error.type === "invalid_request_error" ? "refused" : "unavailable");
  const words = [`${vendor} broke off`, reasonOf(error)].filter(Boolean).join(": ");
  const vendorText = vendorTextOf(error, apiKey);
  return new VendorError(vendor, fault, safeText(words, apiKey), { vendorText });
}

function requestRefusal(status: number, { param, code, message }: OpenAiError): RequestRefusal {
  return { status, param, code, message: message ?? "" };
}

function parseBody(body: string): OpenAiError {
  try {
    const parsed = v.safeParse(bodySchema, JSON.parse(body));
    return readError(parsed.success ? parsed.output.error : undefined);
  } catch {
    // A proxy's page instead of the vendor's JSON: only the status is usable.
    return readError(undefined);
  }
}

const NO_ERROR: OpenAiError = {
  code: undefined,
  message: undefined,
  type: undefined,
  param: undefined,
};

function readError(given: unknown): OpenAiError {
  const parsed = v.safeParse(errorSchema, given);
  if (!parsed.success) return NO_ERROR;
  if (typeof parsed.output === "string") {
    return { ...NO_ERROR, message: parsed.output };
  }
  const { code, message, type, param } = parsed.output;
  return {
    param: param ?? undefined,
    code: code === null || code === undefined ? (type ?? undefined) : String(code),
    message: message ?? undefined,
    type: type ?? undefined,
  };
}

/** The code and type, if they are more specific than the status; a 429 may mean "wait" or "pay". */
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
  // The vendor itself could not parse the model's output.
  ["tool_use_failed", "badAnswer"],
]);
