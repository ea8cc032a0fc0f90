import { ParleyError, type RequestErrorCode } from "../storage/parley-error.js";

/** One invalid field of a request: its path and what was expected. */
export interface FieldFault {
  readonly path: string;
  readonly message: string;
}

export interface RequestErrorOptions extends ErrorOptions {
  readonly details?: readonly FieldFault[];
  /** Fields that the answer carries beside `error`, for example the agents that use a provider. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly retryAfterSec?: number;
}

/**
 * An expected refusal, in words that the requester may read. It is a result, not a bug: it is answered,
 * never logged as an error. Anything else that is thrown is a bug or an outage. The API maps the code to a status.
 */
export class RequestError extends ParleyError {
  override readonly name = "RequestError";
  readonly code: RequestErrorCode;
  readonly details: readonly FieldFault[] | undefined;
  readonly extra: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterSec: number | undefined;

  constructor(code: RequestErrorCode, message: string, options: RequestErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.extra = options.extra;
    this.retryAfterSec = options.retryAfterSec;
  }
}

/** The error for fields of a request that are not as expected: its message names each field, as its details do. */
export function invalidFields(
  details: readonly FieldFault[],
  code: RequestErrorCode = "invalid_request",
  { cause }: ErrorOptions = {},
): RequestError {
  const message = details.map(({ path, message: words }) => `${path}: ${words}`).join("; ");
  return new RequestError(code, message, { details, cause });
}
