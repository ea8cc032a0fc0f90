import type { ListenOptions, TurnMark, VendorFault } from "../contracts.js";
import type { SocketDialect } from "../transport/socket-vendor.js";
import type { RefusalDetail } from "../vendor-fault.js";

/** How a vendor wants to be fed. */
export interface FeedRules {
  /** Silence of this length right after the upgrade: a caller who stays silent is not a client that never sends. */
  readonly openingSilenceMs: number;
  /** Sound goes out in pieces of this length or longer; 0 = as it comes. */
  readonly soundPieceMs: number;
  /** When nothing was sent for so long, this text is; undefined: the vendor takes no such text, and is sent silence. */
  readonly keepAliveMs: number;
  readonly keepAlive: string | undefined;
  /** Tells the vendor that no more audio comes. */
  readonly endMark: string;
}

/** What a message says; times are seconds of audio since its socket was opened. */
export type SttMessage =
  | {
      readonly kind: "words";
      readonly text: string;
      readonly isFinal: boolean;
      readonly speechFinal: boolean;
      readonly lastWordEndSec: number | undefined;
    }
  /** The vendor will not come back to audio before this: it need not be sent again. */
  | { readonly kind: "settled"; readonly sec: number }
  /** It has listened, and made no words of what it heard. */
  | { readonly kind: "wordless" }
  | { readonly kind: "speechStarted" }
  | { readonly kind: "utteranceEnd"; readonly lastWordEndSec: number }
  | { readonly kind: "turn"; readonly mark: TurnMark; readonly text: string }
  /** The vendor gives up this connection. */
  | { readonly kind: "error"; readonly fault: VendorFault; readonly detail: RefusalDetail };

/** Understands what comes over one socket. */
export interface MessageReader {
  /** Undefined if it is not a message of this vendor; empty if it has no event. */
  read(text: string): readonly SttMessage[] | undefined;
  /** The socket broke: the events that are still due. Audio from `heldFromSec` on is sent again on the next one. */
  lost(heldFromSec: number): readonly SttMessage[];
}

/** What differs between the vendors that hear over a WebSocket. */
export interface RecognizerDialect extends SocketDialect {
  readonly feed: FeedRules;
  /** It says by itself when a turn ends: `onTurn` is called. */
  readonly hasTurnDetection: boolean;
  /** The silence after which it does so in any case, where the operator has set one. */
  readonly turnSilenceMaxMs?: number | undefined;
  /** Path and query below the vendor's address. */
  target(options: ListenOptions): string;
  newReader(): MessageReader;
  closeFault(code: number, reason: string): VendorFault;
}
