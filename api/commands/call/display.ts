import type { Received } from "../../../engine/sandbox/caller-events.js";
import type { Turn } from "./turn.js";

/** Reports a call while it goes on. Times are from the machine's monotonic clock. */
export interface Display {
  dialled(url: string, atNs: bigint): void;
  /** `turn` is the turn that the event belongs to; it has already recorded the event. */
  received(event: Received, turn: Turn | undefined): void;
  /** Twilio's call status, such as `ringing`, `in-progress` or `completed`. */
  vendorSaid(number: string, status: string, atNs: bigint): void;
  /** The caller begins to say the text of this turn. */
  speaking(turn: Turn, atNs: bigint): void;
  /** An interruption took effect; `turn` has the time that it took. */
  fellSilent(turn: Turn): void;
  /** The turn is over, and the text that the caller heard is known. */
  turnOver(turn: Turn): void;
  ended(report: CallReport): void;
}

export interface CallReport {
  readonly historyKey: string;
  readonly turns: readonly Turn[];
  /** Whether the agent answered with more than the greeting. */
  readonly replyHeard: boolean;
}
