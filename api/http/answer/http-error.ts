import { ParleyError, type RequestErrorCode } from "../../../storage/parley-error.js";

/** The status for each code; the type ensures that every code has one. */
export const STATUS_BY_CODE = {
  invalid_request: 400,
  wrong_password: 400,
  call_rejected: 400,
  unauthenticated: 401,
  invalid_token: 401,
  invalid_api_key: 401,
  wrong_credentials: 401,
  forbidden: 403,
  organization_pending: 403,
  scope_missing: 403,
  admin_required: 403,
  operator_required: 403,
  model_not_allowed: 403,
  plan_feature_missing: 403,
  plan_limit_reached: 403,
  limit_reached: 403,
  provider_disabled: 403,
  provider_read_only: 403,
  caller_number_not_allowed: 403,
  target_not_allowed: 403,
  do_not_call: 403,
  invalid_signature: 403,
  not_found: 404,
  path_not_found: 404,
  agent_not_found: 404,
  plan_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  idempotency_key_in_use: 409,
  email_taken: 409,
  name_taken: 409,
  provider_in_use: 409,
  provider_unavailable: 409,
  agent_not_active: 409,
  owner_protected: 409,
  number_taken: 409,
  call_ended: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rate_limited: 429,
  calls_limit_reached: 429,
  minutes_limit_reached: 429,
  conversation_limit_reached: 429,
  concurrency_limit_reached: 429,
  internal_error: 500,
  unavailable: 503,
  overloaded: 503,
  database_unavailable: 503,
  server_stopping: 503,
  telephony_unavailable: 503,
  not_configured: 503,
} as const satisfies Readonly<Record<RequestErrorCode, number>>;

/**
 * A refusal that only occurs in HTTP (a body too large, a method not allowed); the engine's refusals are
 * `RequestError`s.
 */
export class HttpError extends ParleyError {
  override readonly name = "HttpError";
  readonly code: RequestErrorCode;
  readonly headers: readonly (readonly [string, string])[];

  constructor(code: RequestErrorCode, message: string, headers: HttpError["headers"] = []) {
    super(message);
    this.code = code;
    this.headers = headers;
  }

  get status(): number {
    return STATUS_BY_CODE[this.code];
  }
}

/** The client disconnected while its request was being read; no response can be sent. */
export class RequestAbortedError extends ParleyError {
  override readonly name = "RequestAbortedError";
  readonly code = "request_aborted";
}
