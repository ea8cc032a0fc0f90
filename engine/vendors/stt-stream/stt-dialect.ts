import type { ListenOptions, SpokenLanguage, TurnMark, VendorFault } from "../contracts.js";
import type { SocketDialect } from "../transport/socket-vendor.js";
import type { RefusalDetail } from "../vendor-fault.js";

/** How a vendor expects its audio. */
export interface FeedRules {
  /**
   * Silence of this length right after the upgrade, so that the vendor does not take a silent caller for a client
   * that never sends.
   */
  readonly openingSilenceMs: number;
  /** Sound is sent in pieces of at least this length; 0 = as it arrives. */
  readonly soundPieceMs: number;
  /**
   * The text that is sent after this much time without audio; undefined: the vendor has no such text, and gets
   * silence.
   */
  readonly keepAliveMs: number;
  readonly keepAlive: string | undefined;
  /** Tells the vendor that the audio has ended. */
  readonly endMark: string;
}

/** The content of a message; times are seconds of audio since its socket was opened. */
export type SttMessage =
  | {
      readonly kind: "words";
      readonly text: string;
      readonly isFinal: boolean;
      readonly speechFinal: boolean;
      readonly lastWordEndSec: number | undefined;
      readonly language?: SpokenLanguage | undefined;
    }
  /** The vendor has finished the audio before this: it need not be sent again. */
  | { readonly kind: "settled"; readonly sec: number }
  /** It has processed audio without finding words. */
  | { readonly kind: "wordless" }
  | { readonly kind: "speechStarted" }
  | { readonly kind: "utteranceEnd"; readonly lastWordEndSec: number }
  | { readonly kind: "turn"; readonly mark: TurnMark; readonly text: string }
  /** The vendor ends this connection. */
  | { readonly kind: "error"; readonly fault: VendorFault; readonly detail: RefusalDetail };

/** Parses the messages of one socket. */
export interface MessageReader {
  /** Undefined if it is not a message of this vendor; empty if it contains no event. */
  read(text: string): readonly SttMessage[] | undefined;
  /** The socket broke: returns the remaining events. Audio from `heldFromSec` on is sent again on the next one. */
  lost(heldFromSec: number): readonly SttMessage[];
}

/** The differences between STT vendors with a WebSocket. */
export interface RecognizerDialect extends SocketDialect {
  readonly feed: FeedRules;
  /** It has turn detection: `onTurn` is called. */
  readonly hasTurnDetection: boolean;
  /** The silence after which it ends a turn in any case, if the operator has set one. */
  readonly turnSilenceMaxMs?: number | undefined;
  /** Path and query, relative to the vendor's address. */
  target(options: ListenOptions): string;
  newReader(): MessageReader;
  closeFault(code: number, reason: string): VendorFault;
}
