import { bytesPerMs } from "../../engine/audio/audio-format.js";
import type { PlayedReport } from "../contract/caller-message.js";
import { STREAM_FORMATS, type StreamEncoding } from "./audio-mode.js";
import { audioStartMessage } from "./voice-message.js";

/** The contract's bound on one binary frame of the stream mode. */
export const PIECE_MAX_MS = 100;
/**
 * While more than this is unread, audio waits here: what is in the network cannot be taken back when the caller interrupts.
 * The system's own buffers are enough to keep a fast connection busy.
 */
export const UNREAD_TARGET_BYTES = 16 * 1024;
/** A session has ten seconds and two of the longest sentences ahead of the caller's ear, and no more. */
export const WAITING_MAX_MS = 60_000;
/** A client may round up. */
const PLAYED_SLACK_MS = 1;

/** The way of the pieces to the client. */
export interface VoiceLine {
  sendText(message: string): void;
  sendAudio(piece: Uint8Array): void;
  unreadBytes(): number;
}

interface WaitingAudio {
  readonly turnId: number;
  readonly audio: Uint8Array;
  sentBytes: number;
}

/** The agent's voice as a stream: in pieces, as fast as the client takes them, each turn behind its `audioStart`. */
export class StreamedVoice {
  readonly #encoding: StreamEncoding;
  readonly #line: VoiceLine;
  readonly #pieceBytes: number;
  readonly #bytesPerMs: number;
  /** Audio, and messages that keep their place behind it. */
  #waiting: (WaitingAudio | string)[] = [];
  #waitingBytes = 0;
  /** The turn whose audio was sent last, how much of it was, and how much the client has played. */
  #turnId = 0;
  /** That turn was not stopped since its `audioStart`. */
  #isGoingOn = false;
  #sentBytes = 0;
  #playedMs = 0;

  constructor(encoding: StreamEncoding, line: VoiceLine) {
    this.#encoding = encoding;
    this.#line = line;
    this.#bytesPerMs = bytesPerMs(STREAM_FORMATS[encoding]);
    this.#pieceBytes = PIECE_MAX_MS * this.#bytesPerMs;
  }

  /** Audio that the client has not taken; of a client that reads, next to nothing. */
  get waitingMs(): number {
    return this.#waitingBytes / this.#bytesPerMs;
  }

  /** Whole samples; the bytes are not changed afterwards. False beyond WAITING_MAX_MS: then they are not taken. */
  play(audio: Uint8Array, turnId: number): boolean {
    if (this.waitingMs + audio.byteLength / this.#bytesPerMs > WAITING_MAX_MS) return false;
    if (audio.byteLength === 0) return true;
    this.#waiting.push({ turnId, audio, sentBytes: 0 });
    this.#waitingBytes += audio.byteLength;
    this.sendWaiting();
    return true;
  }

  /** Sends the message when everything before it has left. */
  follow(message: string): void {
    this.#waiting.push(message);
    this.sendWaiting();
  }

  /** Nothing of what waits leaves any more. What follows, be it of the same turn, begins anew. */
  clear(): void {
    this.#isGoingOn = false;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** To be called when the client has taken something. */
  sendWaiting(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      if (typeof next === "string") {
        this.#waiting.shift();
        this.#line.sendText(next);
        continue;
      }
      if (this.#line.unreadBytes() > UNREAD_TARGET_BYTES) return;
      this.#sendPiece(next);
    }
  }

  /** Why the report cannot be true, with the name of the field; undefined where it can. */
  faultIn({ turnId, ms }: PlayedReport): string | undefined {
    if (turnId > this.#turnId) return "turnId: expected the `turnId` of an `audioStart` before it";
    if (turnId < this.#turnId) return undefined;
    const sentMs = this.#sentBytes / this.#bytesPerMs;
    if (ms > sentMs + PLAYED_SLACK_MS) {
      return `ms: expected at most the ${Math.floor(sentMs)} ms that were sent of turn ${turnId}`;
    }
    if (ms < this.#playedMs) {
      return `ms: expected at least the ${this.#playedMs} ms that were reported of turn ${turnId} before`;
    }
    return undefined;
  }

  /** Takes a report that has no fault. Answers what was played, in ms; undefined for a turn that is over or was stopped. */
  take({ turnId, ms }: PlayedReport): number | undefined {
    if (turnId !== this.#turnId || !this.#isGoingOn) return undefined;
    this.#playedMs = ms;
    return Math.min(ms, this.#sentBytes / this.#bytesPerMs);
  }

  #sendPiece(next: WaitingAudio): void {
    if (next.turnId !== this.#turnId || !this.#isGoingOn) {
      this.#turnId = next.turnId;
      this.#isGoingOn = true;
      this.#sentBytes = 0;
      this.#playedMs = 0;
      this.#line.sendText(audioStartMessage(next.turnId, this.#encoding));
    }
    const piece = next.audio.subarray(next.sentBytes, next.sentBytes + this.#pieceBytes);
    next.sentBytes += piece.byteLength;
    this.#sentBytes += piece.byteLength;
    this.#waitingBytes -= piece.byteLength;
    if (next.sentBytes === next.audio.byteLength) this.#waiting.shift();
    this.#line.sendAudio(piece);
  }
}
