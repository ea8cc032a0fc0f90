import type { CancelTimer, Clock } from "../time/clock.js";
import { FRAME_MS } from "./audio-format.js";

/**
 * Audio is sent this far ahead, so that neither a late timer nor the network is audible; a `clear` discards at
 * most this much.
 */
const SEND_AHEAD_MS = 160;
/** More than a conversation ever synthesizes ahead of playback. */
const QUEUED_MAX_MS = 180_000;

export interface PacedSink {
  /** One whole frame, valid only during the call. */
  frame(bytes: Uint8Array): void;
  /** Everything before it has been passed to `frame`. */
  mark(name: string): void;
  /** Waiting audio is sent only now, this long after the caller had heard everything before it. */
  late?(lateMs: number): void;
  /** One of these has thrown: no further call follows. */
  broken?(): void;
}

export interface PacedFormat {
  /** The bytes of 20 ms. */
  readonly frameBytes: number;
  readonly silence: number;
  /** Omitted: SEND_AHEAD_MS, for a vendor that buffers early audio and plays it in time. */
  readonly aheadMs?: number;
}

interface Piece {
  readonly audio: Uint8Array;
  /** Reported when the piece has been sent; a piece without a mark continues in the next. */
  readonly mark: string | undefined;
  sentBytes: number;
}

/** Sends the audio of all calls in exact frames of 20 ms, in real time, from one timer. */
export class Pacer {
  readonly #clock: Clock;
  readonly #onFault: (error: unknown) => void;
  readonly #streams = new Set<PacedStream>();
  /** When the timer is due, not when it fires: a late one does not delay the next, so that nothing drifts. */
  #dueMs = 0;
  #stopTimer: CancelTimer | undefined;

  /**
   * `onFault` gets the exception of a sink; its stream is closed then, and the others continue. Without it the
   * exception is rethrown after them.
   */
  constructor(clock: Clock, onFault: (error: unknown) => void = throwLater) {
    this.#clock = clock;
    this.#onFault = onFault;
  }

  get streamCount(): number {
    return this.#streams.size;
  }

  open(format: PacedFormat, sink: PacedSink): PacedStream {
    const stream: PacedStream = new PacedStream(this.#clock, format, sink, () =>
      this.#close(stream),
    );
    this.#streams.add(stream);
    if (this.#stopTimer === undefined) {
      this.#dueMs = this.#clock.monotonicMs() + FRAME_MS;
      this.#schedule();
    }
    return stream;
  }

  #schedule(): void {
    const waitMs = this.#dueMs - this.#clock.monotonicMs();
    this.#stopTimer = this.#clock.after(Math.max(0, waitMs), () => this.#tick());
  }

  /**
   * Sends what is due at the timer's scheduled time, so that every stream is equally far ahead each time, late or
   * not.
   */
  #tick(): void {
    const lateMs = this.#clock.monotonicMs() - this.#dueMs;
    if (lateMs < -FRAME_MS / 2) return this.#schedule();
    const dueMs = this.#dueMs + Math.max(0, Math.floor(lateMs / FRAME_MS)) * FRAME_MS;
    this.#dueMs = dueMs + FRAME_MS;
    this.#schedule();
    for (const stream of this.#streams) {
      try {
        stream.sendDue(dueMs);
      } catch (error) {
        stream.break();
        this.#onFault(error);
      }
    }
  }

  #close(stream: PacedStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }
}

function throwLater(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}

/** One call's audio on its way to its telephone. */
export class PacedStream {
  readonly #clock: Clock;
  readonly #format: PacedFormat;
  readonly #sink: PacedSink;
  readonly #onClose: () => void;
  #pieces: Piece[] = [];
  #queuedBytes = 0;
  /** How many of the pieces have a mark. */
  #marksQueued = 0;
  /** When the next frame has to play. */
  #nextFrameMs = Number.NEGATIVE_INFINITY;
  #isPaused = false;
  /** Paused since the last frame: a silence now is intended. */
  #wasPaused = false;

  constructor(clock: Clock, format: PacedFormat, sink: PacedSink, onClose: () => void) {
    this.#clock = clock;
    this.#format = format;
    this.#sink = sink;
    this.#onClose = onClose;
  }

  /**
   * When the last sent frame has been played, if it plays in time; before the first frame, and after a `clear`,
   * -Infinity.
   */
  get playedByMs(): number {
    return this.#nextFrameMs;
  }

  get queuedMs(): number {
    return (this.#queuedBytes / this.#format.frameBytes) * FRAME_MS;
  }

  /**
   * The next piece of a sound, and with `mark` its last: the rest of the frame is filled with silence, and the
   * mark follows. False beyond QUEUED_MAX_MS: the audio is dropped then, but the mark is kept.
   */
  enqueue(audio: Uint8Array, mark?: string): boolean {
    const durationMs = (audio.byteLength / this.#format.frameBytes) * FRAME_MS;
    const isTaken = this.queuedMs + durationMs <= QUEUED_MAX_MS;
    const taken = isTaken ? audio : audio.subarray(0, 0);
    if (taken.byteLength === 0 && mark === undefined) return isTaken;
    const nowMs = this.#clock.monotonicMs();
    this.sendDue(nowMs);
    // Without waiting audio, the silence until now is not the pacer's.
    if (!this.#hasFrame) this.#nextFrameMs = Math.max(this.#nextFrameMs, nowMs);
    this.#pieces.push({ audio: taken, mark, sentBytes: 0 });
    this.#queuedBytes += taken.byteLength;
    if (mark !== undefined) this.#marksQueued += 1;
    this.sendDue(nowMs);
    return isTaken;
  }

  /** Nothing is sent until `resume`; audio that was sent ahead still plays. */
  hold(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#wasPaused = true;
    this.sendDue(this.#clock.monotonicMs());
  }

  /** Drops the queued audio. */
  clear(): void {
    this.#pieces = [];
    this.#queuedBytes = 0;
    this.#marksQueued = 0;
    this.#isPaused = false;
    this.#wasPaused = false;
    this.#nextFrameMs = Number.NEGATIVE_INFINITY;
  }

  close(): void {
    this.clear();
    this.#onClose();
  }

  break(): void {
    this.close();
    this.#sink.broken?.();
  }

  /** Sends every frame that has to play before `nowMs` plus the time sent ahead. */
  sendDue(nowMs: number): void {
    if (this.#isPaused) return;
    this.#reportMarks();
    if (!this.#hasFrame) return;
    const { aheadMs = SEND_AHEAD_MS } = this.#format;
    if (this.#nextFrameMs < nowMs) this.#catchUp(nowMs);
    while (this.#hasFrame && this.#nextFrameMs < nowMs + aheadMs) {
      this.#sendFrame();
      this.#wasPaused = false;
      this.#nextFrameMs += FRAME_MS;
    }
  }

  /** The caller's buffer is empty although audio waits: playback stopped, or this ran too late. */
  #catchUp(nowMs: number): void {
    const lateMs = nowMs - this.#nextFrameMs;
    this.#nextFrameMs = nowMs;
    if (!this.#wasPaused) this.#sink.late?.(lateMs);
  }

  /** The queued audio fills a frame, or is the end of a sound. */
  get #hasFrame(): boolean {
    return this.#marksQueued > 0 || this.#queuedBytes >= this.#format.frameBytes;
  }

  #sendFrame(): void {
    const { frameBytes } = this.#format;
    const frame = this.#take(frameBytes) ?? this.#gathered();
    this.#sink.frame(frame.byteLength === frameBytes ? frame : this.#filled(frame));
    this.#reportMarks();
  }

  /** Without a copy, if one piece contains all of it. */
  #take(sizeBytes: number): Uint8Array | undefined {
    const piece = this.#pieces[0];
    if (piece === undefined) return undefined;
    const leftBytes = piece.audio.byteLength - piece.sentBytes;
    if (leftBytes < sizeBytes && piece.mark === undefined) return undefined;
    const part = piece.audio.subarray(piece.sentBytes, piece.sentBytes + sizeBytes);
    piece.sentBytes += part.byteLength;
    this.#queuedBytes -= part.byteLength;
    return part;
  }

  /** A frame from several pieces of one sound. */
  #gathered(): Uint8Array {
    const frame = new Uint8Array(this.#format.frameBytes);
    let filledBytes = 0;
    for (;;) {
      const piece = this.#pieces[0];
      if (piece === undefined) break;
      const wantedBytes = frame.byteLength - filledBytes;
      const part = piece.audio.subarray(piece.sentBytes, piece.sentBytes + wantedBytes);
      frame.set(part, filledBytes);
      filledBytes += part.byteLength;
      piece.sentBytes += part.byteLength;
      this.#queuedBytes -= part.byteLength;
      if (piece.mark !== undefined || filledBytes === frame.byteLength) break;
      this.#pieces.shift();
    }
    return frame.subarray(0, filledBytes);
  }

  /** Frees the sent pieces, and reports their marks. */
  #reportMarks(): void {
    for (;;) {
      const piece = this.#pieces[0];
      if (piece === undefined || piece.sentBytes < piece.audio.byteLength) return;
      this.#pieces.shift();
      if (piece.mark === undefined) continue;
      this.#marksQueued -= 1;
      this.#sink.mark(piece.mark);
    }
  }

  #filled(frame: Uint8Array): Uint8Array {
    const whole = new Uint8Array(this.#format.frameBytes).fill(this.#format.silence);
    whole.set(frame);
    return whole;
  }
}
