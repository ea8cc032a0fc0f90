import type { PhoneCallerEvent } from "./phone-caller-events.js";

/** What a vendor, or the telephone network, may do wrong. */
export interface PhoneFaults {
  readonly noStart?: boolean;
  /** So many frames of audio come before the start. */
  readonly mediaBeforeStart?: number;
  /** Every so many frames one is lost: its number is missing. */
  readonly sequenceGapEvery?: number;
  readonly marksNeverReturn?: boolean;
  /** Hanging up sends `stop` and leaves the socket open. */
  readonly stopWithoutClose?: boolean;
  /** Hanging up closes the socket without a `stop`. */
  readonly closeWithoutStop?: boolean;
}

export interface PhoneCallerOptions {
  /** Asked first, and believed in where the stream goes to and with which parameters. */
  readonly webhookUrl?: string;
  /** Where the stream goes to without a webhook, or in spite of it. */
  readonly streamUrl?: string;
  /** Beside those of the webhook's document, and over them. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly from?: string;
  readonly to?: string;
  readonly callSid?: string;
  /** The token that both requests are signed with. */
  readonly authToken?: string;
  /** What the webhook is told beside the usual; what is asked later is not. */
  readonly fields?: Readonly<Record<string, string>>;
  /** False saves memory in load tests: `said` and `heard` then tell nothing. */
  readonly keepsAudio?: boolean;
  readonly faults?: PhoneFaults;
  /** Waits so many seconds, as a document may have the vendor do; left out, as long as it says. */
  readonly pause?: (lengthSec: number) => Promise<void>;
  /** Told of every piece of the agent's audio, in µ-law, for measurements. */
  readonly onAudio?: (bytes: Uint8Array, atNs: bigint) => void;
  readonly onEvent?: (event: PhoneCallerEvent) => void;
}
