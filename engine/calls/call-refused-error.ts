import { ParleyError, type RequestErrorCode } from "../../storage/parley-error.js";
import { isRetryable } from "../../storage/statements/storage-error.js";
import type { AgentUnavailableError } from "../tenancy/agents/agent-for-call.js";

/** Why a call is not opened; the API maps it to a close code or to a spoken sentence. */
export type RefusalReason =
  | "agentNotFound"
  | "providerUnavailable"
  | "modelNotAllowed"
  | "limitReached"
  | "overloaded"
  | "storeFailing"
  | "callerLeft"
  | "serverStopping";

const BUSY = "no further calls are taken at the moment, please try again later";
const UNAVAILABLE = "the agent is not available at the moment";

const CODE_BY_REASON: Readonly<Record<RefusalReason, RequestErrorCode>> = {
  agentNotFound: "agent_not_found",
  providerUnavailable: "provider_unavailable",
  modelNotAllowed: "model_not_allowed",
  limitReached: "calls_limit_reached",
  overloaded: "overloaded",
  storeFailing: "database_unavailable",
  callerLeft: "unavailable",
  serverStopping: "server_stopping",
};

export interface CallRefusedOptions extends ErrorOptions {
  /** Omitted: the code of the reason. */
  readonly code?: RequestErrorCode;
}

/** What callers hear: plans, models and providers are the organization's business. */
const CALLER_WORDS: Readonly<Partial<Record<RefusalReason, string>>> = {
  providerUnavailable: UNAVAILABLE,
  modelNotAllowed: UNAVAILABLE,
  limitReached: BUSY,
  overloaded: BUSY,
  storeFailing: BUSY,
};

const CALLER_CODES: Readonly<Partial<Record<RefusalReason, RequestErrorCode>>> = {
  providerUnavailable: "unavailable",
  modelNotAllowed: "unavailable",
  limitReached: "overloaded",
  storeFailing: "overloaded",
};

/** The message is for the organization, whose key the client has; callers get `callerWords`. */
export class CallRefusedError extends ParleyError {
  override readonly name = "CallRefusedError";
  readonly reason: RefusalReason;
  readonly code: RequestErrorCode;

  constructor(reason: RefusalReason, message: string, options: CallRefusedOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.reason = reason;
    this.code = options.code ?? CODE_BY_REASON[reason];
  }

  /** As public as `callerWords`. */
  get callerCode(): RequestErrorCode {
    return CALLER_CODES[this.reason] ?? this.code;
  }

  get callerWords(): string {
    return CALLER_WORDS[this.reason] ?? this.message;
  }
}

/** A call without a record could not be shown, billed or continued. */
export function cannotBeStored(reason: string, cause?: unknown): CallRefusedError {
  const message = `the server takes no calls for the moment: ${reason}`;
  return new CallRefusedError("storeFailing", message, { cause });
}

/** The refusal that a caller hears if the event could not be stored in time. It is the only one without an event. */
export function eventDelayed(refusal?: CallRefusedError): CallRefusedError {
  return cannotBeStored("its database does not answer", refusal);
}

/** The refusal that an error is, or leads to if the store is to blame; undefined for any other error. */
export function callRefusedErrorOf(error: unknown): CallRefusedError | undefined {
  if (error instanceof CallRefusedError) return error;
  return isRetryable(error) ? cannotBeStored("its database does not answer", error) : undefined;
}

export function tooManyCalls(callsMax: number): CallRefusedError {
  return new CallRefusedError("limitReached", `the plan allows ${callsMax} calls at the same time`);
}

export function serverStops(): CallRefusedError {
  return new CallRefusedError("serverStopping", "the server is restarting");
}

const REFUSALS: Readonly<Record<AgentUnavailableError["status"], RefusalReason>> = {
  notFound: "agentNotFound",
  inactive: "agentNotFound",
  paused_provider: "providerUnavailable",
  paused_plan: "modelNotAllowed",
};

/** The agent accepts no calls, for a reason that its caller may know. */
export function agentRefused(error: AgentUnavailableError): CallRefusedError {
  return new CallRefusedError(REFUSALS[error.status], error.message, { cause: error });
}
