import { isRetryable } from "../../storage/statements/storage-failure.js";
import type { AgentUnavailable } from "../tenancy/agents/agent-for-call.js";

/** Why a call is not begun; the edge maps it to a close code or to a spoken sentence. */
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

/** What callers hear: plans, models and providers are the organization's business. */
const CALLER_WORDS: Readonly<Partial<Record<RefusalReason, string>>> = {
  providerUnavailable: UNAVAILABLE,
  modelNotAllowed: UNAVAILABLE,
  limitReached: BUSY,
  overloaded: BUSY,
  storeFailing: BUSY,
};

/** The message is for the organization, whose key the client has; people who call are told `callerWords`. */
export class OpenRefusal extends Error {
  override readonly name = "OpenRefusal";
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }

  get callerWords(): string {
    return CALLER_WORDS[this.reason] ?? this.message;
  }
}

/** A call that leaves no record could not be shown, billed or continued. */
export function cannotBeStored(reason: string, cause?: unknown): OpenRefusal {
  const message = `the server takes no calls for the moment: ${reason}`;
  return new OpenRefusal("storeFailing", message, { cause });
}

/** The refusal that an error is, or comes down to where the store is to blame; undefined for any other error. */
export function openRefusalOf(error: unknown): OpenRefusal | undefined {
  if (error instanceof OpenRefusal) return error;
  return isRetryable(error) ? cannotBeStored("its database does not answer", error) : undefined;
}

export function tooManyCalls(callsMax: number): OpenRefusal {
  return new OpenRefusal("limitReached", `the plan allows ${callsMax} calls at the same time`);
}

export function serverStops(): OpenRefusal {
  return new OpenRefusal("serverStopping", "the server is restarting");
}

const REFUSALS: Readonly<Record<AgentUnavailable["status"], RefusalReason>> = {
  notFound: "agentNotFound",
  inactive: "agentNotFound",
  paused_provider: "providerUnavailable",
  paused_plan: "modelNotAllowed",
};

/** The agent takes no calls, for a reason that its caller may be told. */
export function agentRefused(error: AgentUnavailable): OpenRefusal {
  return new OpenRefusal(REFUSALS[error.status], error.message, { cause: error });
}
