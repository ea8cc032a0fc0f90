import type { CancelTimer, Clock } from "../time/clock.js";

export const FRAME_MS = 20;
/** Sent before it is due, so that neither a late timer nor the network is heard; what a `clear` has to throw away. */
export const SEND_AHEAD_MS = 160;
/** More than a session ever synthesizes ahead of the caller's ear. */
export const QUEUED_MAX_MS = 180_000;

export interface PacedSink {
  /** One whole frame, valid only during the call. */
  frame(bytes: Uint8Array): void;
  /** Everything before it has been given to `frame`. */
  mark(name: string): void;
  /** One of the two has thrown: nothing more comes. */
  broken?(): void;
}

export interface PacedFormat {
  /** Of 20 ms. */
  readonly frameBytes: number;
  readonly silence: number;
  /** Left out: SEND_AHEAD_MS, for a vendor that keeps what comes early and plays it in time. */
  readonly aheadMs?: number;
}

interface Piece {
  readonly audio: Uint8Array;
  readonly mark: string;
  sentBytes: number;
}

/** Sends the audio of all calls in exact frames of 20 ms, in real time, from one timer. */
export class Pacer {
  readonly #clock: Clock;
  readonly #onFault: (error: unknown) => void;
  readonly #streams = new Set<PacedStream>();
  /** When the timer is due, not when it fires: a late one is not the next one's start, so that nothing drifts. */
  #dueMs = 0;
  #stopTimer: CancelTimer | undefined;

  /** `onFault` gets what a sink threw; the stream is closed then, the others go on. Without one it is thrown after them. */
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

  /** Sends what is due at the timer's own time: seen from there every stream is as far ahead each time, late or not. */
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

/** The way of one call's audio to its telephone. */
export class PacedStream {
  readonly #clock: Clock;
  readonly #format: PacedFormat;
  readonly #sink: PacedSink;
  readonly #onClose: () => void;
  #pieces: Piece[] = [];
  #queuedBytes = 0;
  /** When the next frame is to be heard. */
  #nextFrameMs = Number.NEGATIVE_INFINITY;
  #isHeld = false;
  /** Since the last frame: a silence now is meant. */
  #wasHeld = false;
  #underrunCount = 0;

  constructor(clock: Clock, format: PacedFormat, sink: PacedSink, onClose: () => void) {
    this.#clock = clock;
    this.#format = format;
    this.#sink = sink;
    this.#onClose = onClose;
  }

  /** Moments at which the caller had nothing to hear although there was something to say. */
  get underrunCount(): number {
    return this.#underrunCount;
  }

  get queuedMs(): number {
    return (this.#queuedBytes / this.#format.frameBytes) * FRAME_MS;
  }

  /** The last frame is filled up with silence; the mark follows it. False, and nothing is taken, beyond QUEUED_MAX_MS. */
  enqueue(audio: Uint8Array, mark: string): boolean {
    const durationMs = (audio.byteLength / this.#format.frameBytes) * FRAME_MS;
    if (this.queuedMs + durationMs > QUEUED_MAX_MS) return false;
    this.#pieces.push({ audio, mark, sentBytes: 0 });
    this.#queuedBytes += audio.byteLength;
    this.sendDue(this.#clock.monotonicMs());
    return true;
  }

  /** Nothing leaves until `resume`; what has been sent ahead is still heard. */
  hold(): void {
    this.#isHeld = true;
  }

  resume(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#wasHeld = true;
    this.sendDue(this.#clock.monotonicMs());
  }

  /** Nothing of what was queued leaves any more. */
  clear(): void {
    this.#pieces = [];
    this.#queuedBytes = 0;
    this.#isHeld = false;
    this.#wasHeld = false;
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

  /** Sends every frame that is to be heard before `nowMs` and the time sent ahead. */
  sendDue(nowMs: number): void {
    if (this.#isHeld || this.#pieces.length === 0) return;
    const { aheadMs = SEND_AHEAD_MS } = this.#format;
    if (this.#nextFrameMs < nowMs) this.#catchUp(nowMs);
    while (this.#pieces.length > 0 && this.#nextFrameMs < nowMs + aheadMs) {
      this.#sendFrame();
      this.#wasHeld = false;
      this.#nextFrameMs += FRAME_MS;
    }
  }

  /** The caller's buffer is empty: at the beginning of speech, or because this came too late. */
  #catchUp(nowMs: number): void {
    if (this.#pieces[0]?.sentBytes !== 0 && !this.#wasHeld) this.#underrunCount += 1;
    this.#nextFrameMs = nowMs;
  }

  #sendFrame(): void {
    const piece = this.#pieces[0];
    if (piece === undefined) return;
    const { frameBytes } = this.#format;
    const frame = piece.audio.subarray(piece.sentBytes, piece.sentBytes + frameBytes);
    piece.sentBytes += frame.byteLength;
    this.#queuedBytes -= frame.byteLength;
    this.#sink.frame(frame.byteLength === frameBytes ? frame : this.#filled(frame));
    if (piece.sentBytes < piece.audio.byteLength) return;
    this.#pieces.shift();
    this.#sink.mark(piece.mark);
  }

  #filled(frame: Uint8Array): Uint8Array {
    const whole = new Uint8Array(this.#format.frameBytes).fill(this.#format.silence);
    whole.set(frame);
    return whole;
  }
}
