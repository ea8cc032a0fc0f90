import type { Received } from "../../../engine/sandbox/caller-events.js";
import type { Turn } from "./turn.js";

/** Tells of a call as it goes on. Times are of the machine's monotonic clock. */
export interface Display {
  dialled(url: string, atNs: bigint): void;
  /** `turn` is the one that the event belongs to; it has taken note of it already. */
  received(event: Received, turn: Turn | undefined): void;
  /** Twilio's word for how it stands with a telephone number: `ringing`, `in-progress`, `completed` and so on. */
  vendorSaid(number: string, status: string, atNs: bigint): void;
  /** The caller begins to say the words of this turn. */
  speaking(turn: Turn, atNs: bigint): void;
  /** An interruption took effect; `turn` knows how fast. */
  fellSilent(turn: Turn): void;
  /** The turn is over and what was heard of it is known. */
  turnOver(turn: Turn): void;
  ended(report: CallReport): void;
}

export interface CallReport {
  readonly historyKey: string;
  readonly turns: readonly Turn[];
  /** An answer, not only the greeting. */
  readonly replyHeard: boolean;
}
