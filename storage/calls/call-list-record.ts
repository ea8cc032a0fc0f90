export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** The same hours of some days, in the time of the called number. */
export interface CallWindow {
  readonly days: readonly Weekday[];
  /** `HH:MM`. */
  readonly from: string;
  /** Not included; `24:00` is the end of the day. */
  readonly to: string;
}

/** How a call ended that did not reach its agent, and after which the same person may be called again. */
export const RETRIED_OUTCOMES = ["busy", "noAnswer", "machine", "failed"] as const;
export type RetriedOutcome = (typeof RETRIED_OUTCOMES)[number];

export interface RetryRule {
  /** A person is called again as long as there were no more calls than this. */
  readonly times: number;
  readonly afterMinutes: number;
}

/** An outcome without a rule is not followed by another call. */
export type RetryRules = { readonly [Outcome in RetriedOutcome]?: RetryRule | undefined };

/**
 * `ready`: uploaded and not started. `completed`: no person is left to be called. `cancelled`: the rest is not called any more.
 */
export const CALL_LIST_STATES = ["ready", "running", "paused", "completed", "cancelled"] as const;
export type CallListState = (typeof CALL_LIST_STATES)[number];

/**
 * `calling`: a call was placed whose end is not known yet. `completed`: the agent talked to the person, or left a message.
 * `failed`: it did neither, and no other call follows. `skipped`: never called, since the number may not be called.
 * `cancelled`: not called any more.
 */
export const CALL_LIST_ROW_STATES = [
  "waiting",
  "calling",
  "completed",
  "failed",
  "skipped",
  "cancelled",
] as const;
export type CallListRowState = (typeof CALL_LIST_ROW_STATES)[number];

export interface CallListRecord {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly agentId: string;
  /** The calling number, E.164. */
  readonly fromNumber: string;
  /** The telephony vendor; null for the first that can place calls. */
  readonly vendor: string | null;
  readonly detectMachine: boolean;
  /** Calls of the list at the same time. */
  readonly callsMax: number;
  readonly windows: readonly CallWindow[];
  readonly retries: RetryRules;
  readonly state: CallListState;
  /** Why the last call could not be placed: a code of an error, and words. Null since one could. */
  readonly holdCode: string | null;
  readonly holdReason: string | null;
  /** Since when no call could be placed for this reason; null since one could. */
  readonly heldSinceMs: number | null;
  /** No call is placed before. */
  readonly heldUntilMs: number;
  /** Orders in a row that the telephony vendor did not accept. */
  readonly vendorRefusals: number;
  /** When the next call is placed at the earliest, of a list that waits for hours or for a retry; null otherwise. */
  readonly nextCallAtMs: number | null;
  /** Calls in a row that the vendor or this server has failed. */
  readonly failuresInRow: number;
  /** The key that uploaded the list; its calls count as this key's. */
  readonly apiKeyId: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A person to be called. */
export interface NewCallListRow {
  /** E.164. */
  readonly number: string;
  /** The number's time zones, separated by blanks. */
  readonly timeZones: string;
  readonly variables: Readonly<Record<string, string>>;
}

export interface CallListRowRecord extends NewCallListRow {
  readonly listId: string;
  /** From 1. */
  readonly position: number;
  readonly state: CallListRowState;
  /** Calls that were placed. */
  readonly attempts: number;
  /** The last call. */
  readonly callId: string | null;
  readonly calledAtMs: number | null;
  /** How the last call ended, or why there is none. */
  readonly reason: string | null;
  /** Not called before. */
  readonly nextAtMs: number;
  /** Orders of the present call that the vendor has refused for a time. */
  readonly refusals: number;
}

/** How many people of a list are in a state for the same reason. */
export interface CallListOutcome {
  readonly state: CallListRowState;
  readonly reason: string;
  readonly count: number;
}

export type CallListCounts = Readonly<Record<CallListRowState, number>>;

/** The row that a call is placed for. The call is placed only if nothing has been placed for the row since it was read. */
export interface RowClaim {
  readonly listId: string;
  readonly position: number;
  /** As it was read. */
  readonly attempts: number;
}
