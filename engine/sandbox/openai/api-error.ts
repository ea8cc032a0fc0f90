import type { ChatFault } from "../faults.js";
import { takeFault } from "../faults.js";
import { isGoodKey } from "../simulator.js";
import type { ApiRequest } from "./api-request.js";

export interface ApiError {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
  readonly param?: string;
  /** Mistral's bodies have no `error` object around it. */
  readonly isBare?: true;
  /** Google's are in a list, with a status of its own; Mistral's list the unknown fields of a request. */
  readonly shape?: "google" | "mistral";
  readonly loc?: readonly (string | number)[];
  readonly headers?: Readonly<Record<string, string>>;
}

const UNAUTHORIZED: ApiError = {
  status: 401,
  message: "Incorrect API key provided.",
  type: "invalid_request_error",
  code: "invalid_api_key",
};

const FAULT_ERRORS: Partial<Record<ChatFault, ApiError>> = {
  unauthorized: UNAUTHORIZED,
  forbidden: {
    status: 403,
    message: "Your input was flagged by moderation.",
    type: "permission_error",
    code: null,
  },
  badRequest: badRequest("The sandbox was told to refuse this.", "model", "unsupported_value"),
  notFound: notFound("The model does not exist.", "model", "model_not_found"),
  rateLimited: {
    status: 429,
    message: "Rate limit reached. Please try again in 1s.",
    type: "tokens",
    code: "rate_limit_exceeded",
    headers: { "retry-after": "1" },
  },
  quotaExceeded: {
    status: 429,
    message: "You exceeded your current quota.",
    type: "insufficient_quota",
    code: "insufficient_quota",
  },
  serverError: { status: 500, message: "Internal error.", type: "server_error", code: null },
  overloaded: { status: 503, message: "Overloaded.", type: "server_error", code: null },
};

/** The faults that also occur where nothing is generated. */
const REFUSALS: readonly ChatFault[] = ["unauthorized", "rateLimited", "serverError", "overloaded"];

export function badRequest(message: string, param: string, code: string | null): ApiError {
  return { status: 400, message, type: "invalid_request_error", code, param };
}

export function notFound(message: string, param: string, code: string | null): ApiError {
  return { ...badRequest(message, param, code), status: 404 };
}

/** Why a request is refused immediately: its key, or the fault that was taken for it. */
export function refusalOf(
  { context, exchange }: ApiRequest,
  fault: ChatFault | undefined,
): ApiError | undefined {
  if (!isGoodKey(context, exchange.bearer)) return UNAUTHORIZED;
  return fault === undefined ? undefined : FAULT_ERRORS[fault];
}

/** As `refusalOf`, for requests with an immediate response: other faults are not counted. */
export function refusalOfLookup(request: ApiRequest): ApiError | undefined {
  return refusalOf(request, takeFault(request.context.faults, request.vendor, REFUSALS));
}

export function refuse({ context, vendor, exchange, id }: ApiRequest, error: ApiError): void {
  const { status, headers = {} } = error;
  const body = bodyOf(vendor, error);
  exchange.answerJson(status, body, { "x-request-id": `req_${id}`, ...headers });
  context.journal.record(vendor, "fault", id, String(status));
}

function bodyOf(vendor: ApiRequest["vendor"], error: ApiError) {
  const { status, message, type, code, param, isBare, shape, loc } = error;
  if (shape === "google") {
    return [{ error: { code: status, message, status: "INVALID_ARGUMENT" } }];
  }
  if (shape === "mistral") {
    const detail = [{ type, loc, msg: message, input: null }];
    return { object: "error", message: { detail }, type: "invalid_request_error", code: null };
  }
  if (vendor === "groq") return { error: { message, type, ...(code === null ? {} : { code }) } };
  const said = { message, type, param: param ?? null, code };
  return isBare === true ? { object: "error", ...said } : { error: said };
}
