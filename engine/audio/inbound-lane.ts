import type { CancelTimer, Clock } from "../time/clock.js";
import { CallerAudio } from "./caller-audio.js";
import { type InboundPiece, packBatch, wideBytes } from "./inbound-batch.js";
import type { PhoneEncoding } from "./phone-encoding.js";
import { RecentWaits } from "./recent-waits.js";

/**
 * While many call, batches start no closer together than this, so that one hop to the worker is shared by the frames of many
 * calls; a call on an idle box waits for nothing.
 */
export const BATCH_INTERVAL_MS = 3;
/** Less than a millisecond of a worker; what does not fit is in the next batch. */
export const BATCH_AUDIO_MAX_MS = 10_000;
/** A worker that takes so long for a millisecond of work hangs. The first batch waits for its thread to start, too. */
export const BATCH_DEADLINE_MS = 5_000;
/** After a failure, so that a worker that cannot live does not keep the machine busy with being started. */
export const FAILURE_PAUSE_MS = 100;

export interface InboundListener {
  readonly encoding: PhoneEncoding;
  /** PCM of 16 bits at 16 kHz, low byte first, in order; the receiver may keep it. It lags 2 ms behind the frames. */
  readonly onPcm: (pcm16k: Uint8Array) => void;
}

/** One caller's audio on its way through the pool. */
export interface InboundLine {
  /** Copies the frame, which may have any length; of half a sample at its end nothing is kept. Ignored after `close`. */
  push(frame: Uint8Array): void;
  /** Nothing is delivered any more, not even what is being converted. */
  close(): void;
  /** Audio that was thrown away because the pool was too far behind. */
  readonly droppedMs: number;
}

export type InboundFault =
  /** So many calls miss so much audio, all together; they go on with the next batch. */
  | {
      readonly kind: "batchLost";
      readonly calls: number;
      readonly audioMs: number;
      readonly error: unknown;
    }
  /** What an `onPcm` threw. */
  | { readonly kind: "listenerFailed"; readonly error: unknown };

/** Takes the batch's memory away. */
export type ConvertBatch = (
  batch: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
) => Promise<Uint8Array>;

interface Member {
  readonly audio: CallerAudio;
  readonly onPcm: (pcm16k: Uint8Array) => void;
  isOpen: boolean;
  isWaiting: boolean;
  waitingSinceMs: number;
}

interface Batch {
  readonly members: readonly Member[];
  readonly pieces: readonly InboundPiece[];
  readonly audioMs: number;
  readonly sinceMs: number;
}

/** Like a group commit: what arrives while a batch is being converted is the next batch. One batch at a time keeps the order. */
export class InboundLane {
  readonly waits: RecentWaits;
  readonly #convert: ConvertBatch;
  readonly #clock: Clock;
  readonly #onFault: (fault: InboundFault) => void;
  #members = 0;
  #waiting: Member[] = [];
  #isBusy = false;
  #isScheduled = false;
  #isClosed = false;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #cancelTimer: CancelTimer | undefined;
  /** Of the batch at work; made anew only when it was used, since a batch lasts a millisecond. */
  #overdue = new AbortController();
  #droppedMs = 0;
  #batches = 0;

  constructor(convert: ConvertBatch, clock: Clock, onFault: (fault: InboundFault) => void) {
    this.#convert = convert;
    this.#clock = clock;
    this.waits = new RecentWaits(clock);
    this.#onFault = onFault;
  }

  get lines(): number {
    return this.#members;
  }

  get linesWaiting(): number {
    return this.#waiting.length;
  }

  get batches(): number {
    return this.#batches;
  }

  get droppedMs(): number {
    return this.#droppedMs;
  }

  /** Of the audio that has waited longest and is in no batch yet. */
  get oldestWaitMs(): number {
    const [oldest] = this.#waiting;
    return oldest === undefined ? 0 : this.#clock.monotonicMs() - oldest.waitingSinceMs;
  }

  open({ encoding, onPcm }: InboundListener): InboundLine {
    const audio = new CallerAudio(encoding);
    const member: Member = { audio, onPcm, isOpen: true, isWaiting: false, waitingSinceMs: 0 };
    this.#members += 1;
    return {
      push: (frame) => this.#push(member, frame),
      close: () => this.#leave(member),
      get droppedMs() {
        return audio.droppedMs;
      },
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#cancelTimer?.();
  }

  #push(member: Member, frame: Uint8Array): void {
    if (!member.isOpen || this.#isClosed) return;
    this.#droppedMs += member.audio.push(frame);
    if (member.isWaiting || member.audio.waitingBytes === 0) return;
    member.isWaiting = true;
    member.waitingSinceMs = this.#clock.monotonicMs();
    this.#waiting.push(member);
    if (!this.#isScheduled && !this.#isBusy) this.#schedule();
  }

  #leave(member: Member): void {
    if (!member.isOpen) return;
    member.isOpen = false;
    this.#members -= 1;
    if (member.isWaiting) this.#waiting = this.#waiting.filter((other) => other !== member);
  }

  #schedule(): void {
    this.#isScheduled = true;
    const waitMs = this.#notBeforeMs - this.#clock.monotonicMs();
    // The frames of other calls that this turn of the event loop still brings come along.
    if (waitMs <= 0) setImmediate(this.#send);
    else this.#cancelTimer = this.#clock.after(waitMs, this.#send);
  }

  readonly #send = (): void => {
    this.#isScheduled = false;
    const batch = this.#takeBatch();
    if (batch === undefined) return;
    this.#isBusy = true;
    this.#batches += 1;
    this.#notBeforeMs = this.#clock.monotonicMs() + BATCH_INTERVAL_MS;
    const cancel = this.#clock.after(BATCH_DEADLINE_MS, () => this.#giveUp());
    const packed = packBatch(batch.pieces);
    for (const { audio } of batch.members) audio.sent();
    this.#convert(packed, this.#overdue.signal)
      .then(
        (wide) => this.#deliver(batch, wide),
        (error: unknown) => this.#lose(batch, error),
      )
      .finally(() => {
        cancel();
        this.#isBusy = false;
        if (this.#waiting.length > 0 && !this.#isScheduled) this.#schedule();
      });
  };

  #giveUp(): void {
    const overdue = this.#overdue;
    this.#overdue = new AbortController();
    overdue.abort();
  }

  #takeBatch(): Batch | undefined {
    let audioMs = 0;
    let count = 0;
    for (const { audio } of this.#waiting) {
      if (count > 0 && audioMs + audio.waitingMs > BATCH_AUDIO_MAX_MS) break;
      audioMs += audio.waitingMs;
      count += 1;
    }
    const members = this.#waiting.splice(0, count);
    const [oldest] = members;
    if (oldest === undefined) return undefined;
    const pieces = members.map((member) => {
      member.isWaiting = false;
      return member.audio.piece();
    });
    return { members, pieces, audioMs, sinceMs: oldest.waitingSinceMs };
  }

  #deliver({ members, pieces, sinceMs }: Batch, wide: Uint8Array): void {
    if (this.#isClosed) return;
    this.waits.addSince(sinceMs);
    let at = 0;
    for (const [index, { isOpen, onPcm }] of members.entries()) {
      const piece = pieces[index];
      const size = piece === undefined ? 0 : wideBytes(piece);
      if (isOpen) this.#hand(onPcm, wide.subarray(at, at + size));
      at += size;
    }
  }

  /** One receiver's fault is not the others'. */
  #hand(onPcm: (pcm16k: Uint8Array) => void, pcm16k: Uint8Array): void {
    try {
      onPcm(pcm16k);
    } catch (error) {
      this.#onFault({ kind: "listenerFailed", error });
    }
  }

  #lose({ members, audioMs }: Batch, error: unknown): void {
    if (this.#isClosed) return;
    this.#notBeforeMs = this.#clock.monotonicMs() + FAILURE_PAUSE_MS;
    const calls = members.filter(({ isOpen }) => isOpen).length;
    this.#onFault({ kind: "batchLost", calls, audioMs, error });
  }
}
