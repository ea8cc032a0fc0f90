import type { Clock } from "../time/clock.js";
import { RecentWaits } from "./recent-waits.js";
import type { SpeechFormat } from "./sentence-audio.js";

/** At some two milliseconds a sentence, a queue of a second: later, the caller has waited too long anyway. */
export const SPEECH_WAITING_MAX = 500;
/** The longest sentence that a vendor may give takes a tenth of a second; a worker that takes so long hangs. */
export const SPEECH_DEADLINE_MS = 10_000;

export class AudioPoolOverloaded extends Error {
  override readonly name = "AudioPoolOverloaded";
}

export class AudioPoolClosed extends Error {
  override readonly name = "AudioPoolClosed";
}

export interface SpeechTask {
  readonly audio: Uint8Array;
  readonly format: SpeechFormat;
}

export type ConvertSpeech = (task: SpeechTask, signal: AbortSignal) => Promise<Uint8Array>;

interface Waiter {
  readonly task: SpeechTask;
  readonly sinceMs: number;
  readonly resolve: (converted: Uint8Array) => void;
  readonly reject: (reason: unknown) => void;
  isOver: boolean;
}

/** Sentences on their way through the pool: first come, first served, a few at a time. */
export class SpeechQueue {
  readonly waits: RecentWaits;
  readonly #convert: ConvertSpeech;
  readonly #clock: Clock;
  readonly #runningMax: number;
  readonly #waiting: Waiter[] = [];
  readonly #running = new Set<Waiter>();
  #isClosed = false;

  constructor(convert: ConvertSpeech, clock: Clock, runningMax: number) {
    this.#convert = convert;
    this.#clock = clock;
    this.waits = new RecentWaits(clock);
    this.#runningMax = runningMax;
  }

  get length(): number {
    return this.#waiting.length;
  }

  get oldestWaitMs(): number {
    const [oldest] = this.#waiting;
    return oldest === undefined ? 0 : this.#clock.monotonicMs() - oldest.sinceMs;
  }

  /** Rejects with the signal's reason at once when it is aborted; a worker that is at it finishes for nobody. */
  add(task: SpeechTask, signal?: AbortSignal): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new AudioPoolClosed("the audio pool is closed"));
      if (signal?.aborted) return reject(signal.reason);
      if (this.#waiting.length >= SPEECH_WAITING_MAX) {
        return reject(new AudioPoolOverloaded(`${SPEECH_WAITING_MAX} sentences wait already`));
      }
      const sinceMs = this.#clock.monotonicMs();
      const onAbort = () => this.#abandon(waiter, signal?.reason);
      const settle = () => signal?.removeEventListener("abort", onAbort);
      const waiter: Waiter = {
        task,
        sinceMs,
        resolve: (converted) => {
          settle();
          resolve(converted);
        },
        reject: (reason) => {
          settle();
          reject(reason);
        },
        isOver: false,
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(waiter);
      this.#next();
    });
  }

  /** All that wait or run are rejected. */
  close(): void {
    this.#isClosed = true;
    const reason = new AudioPoolClosed("the audio pool is closed");
    for (const waiter of [...this.#waiting.splice(0), ...this.#running]) this.#end(waiter, reason);
  }

  #next(): void {
    while (this.#running.size < this.#runningMax) {
      const waiter = this.#waiting.shift();
      if (waiter === undefined) return;
      this.#run(waiter);
    }
  }

  #run(waiter: Waiter): void {
    this.#running.add(waiter);
    const overdue = new AbortController();
    const cancel = this.#clock.after(SPEECH_DEADLINE_MS, () => overdue.abort());
    this.#convert(waiter.task, overdue.signal)
      .then(
        (converted) => {
          this.waits.addSince(waiter.sinceMs);
          if (!waiter.isOver) waiter.resolve(converted);
        },
        (error: unknown) => this.#end(waiter, error),
      )
      .finally(() => {
        cancel();
        this.#running.delete(waiter);
        this.#next();
      });
  }

  #abandon(waiter: Waiter, reason: unknown): void {
    const at = this.#waiting.indexOf(waiter);
    if (at >= 0) this.#waiting.splice(at, 1);
    this.#end(waiter, reason);
  }

  #end(waiter: Waiter, reason: unknown): void {
    if (waiter.isOver) return;
    waiter.isOver = true;
    waiter.reject(reason);
  }
}
