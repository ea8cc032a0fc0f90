import { ParleyError } from "../../storage/parley-error.js";
import type { Clock } from "../time/clock.js";
import type { ConversionBatch, ConversionResult, ConversionStep } from "./conversion-batch.js";
import type { ConversionFormats } from "./speech-conversion.js";

/** Enough for a quantile that one slow batch does not move; a full machine fills it in a tenth of a second. */
const WAITS_KEPT_MAX = 64;
/**
 * Older waits show nothing about the present: a server that refuses calls must see its queue empty again though
 * nothing passes it.
 */
const WAITS_KEPT_MS = 5_000;
/** A single slow item counts once: a check every second must not see it five times. */
const LAST_KEPT_MS = 1_000;

/** The waits of the last few items. */
export class RecentWaits {
  readonly #clock: Clock;
  readonly #waits = new Float64Array(WAITS_KEPT_MAX);
  readonly #atMs = new Float64Array(WAITS_KEPT_MAX);
  #count = 0;
  #countedFromMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records an item that has waited since then. */
  addSince(sinceMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#waits[this.#count % WAITS_KEPT_MAX] = nowMs - Math.max(sinceMs, this.#countedFromMs);
    this.#atMs[this.#count % WAITS_KEPT_MAX] = nowMs;
    this.#count += 1;
  }

  /** Items that still wait are measured only from now on, too. */
  forget(): void {
    this.#count = 0;
    this.#countedFromMs = this.#clock.monotonicMs();
  }

  /** 0 if there was none within LAST_KEPT_MS. */
  get lastMs(): number {
    return this.#recent(LAST_KEPT_MS).at(-1) ?? 0;
  }

  /** The wait that 95 of 100 items do not exceed; 0 if there were none recently. */
  get p95Ms(): number {
    const sorted = this.#recent(WAITS_KEPT_MS).sort((one, other) => one - other);
    return sorted[Math.ceil(0.95 * sorted.length) - 1] ?? 0;
  }

  /** Oldest first. */
  #recent(keptMs: number): number[] {
    const sinceMs = this.#clock.monotonicMs() - keptMs;
    const recent: number[] = [];
    for (let at = Math.max(0, this.#count - WAITS_KEPT_MAX); at < this.#count; at += 1) {
      const slot = at % WAITS_KEPT_MAX;
      if ((this.#atMs[slot] ?? 0) >= sinceMs) recent.push(this.#waits[slot] ?? 0);
    }
    return recent;
  }
}

/** At about a tenth of a millisecond a step, a queue of a tenth of a second: later, the caller would hear a gap. */
const STEPS_WAITING_MAX = 1_000;
/** Recordings may wait as long as necessary; steps beyond this limit are missing in one recording. */
const BACKGROUND_STEPS_WAITING_MAX = 5_000;
/** A batch is a few milliseconds of work, so that the next one does not wait longer for its turn. */
const BATCH_BYTES_MAX = 64 * 1024;
/** A byte of MP3 contains as much audio, and needs as much work, as this many bytes of samples. */
const MP3_BYTE_WORK = 8;
/** A step of this size, a few seconds of MP3, occupies the thread for about a millisecond. */
const STEP_BYTES_MAX = 16 * 1024;
/** A thread that takes this long for a batch hangs. */
const BATCH_DEADLINE_MS = 10_000;

export class AudioPoolOverloadedError extends ParleyError {
  override readonly name = "AudioPoolOverloadedError";
  readonly code = "audio_pool_overloaded";
}

export class AudioPoolClosedError extends ParleyError {
  override readonly name = "AudioPoolClosedError";
  readonly code = "audio_pool_closed";
}

/** Rejects when the batch, and with it the thread, is lost. */
export type ConvertBatch = (
  batch: ConversionBatch,
  signal: AbortSignal,
) => Promise<readonly ConversionResult[]>;

/** `speech`: a caller waits to hear it. `background`: runs when no speech waits. */
export type ConversionPriority = "speech" | "background";

export interface ConversionListener {
  /** The next audio, in order; the callee owns the bytes. */
  onAudio(audio: Uint8Array): void;
  /** All audio has been passed on. */
  onEnd(): void;
  /** Nothing follows. */
  onFailed(error: Error): void;
}

interface Waiting {
  readonly conversion: QueuedConversion;
  readonly step: ConversionStep;
  readonly sinceMs: number;
}

/** One sentence in progress. */
export interface Conversion {
  /** Copies nothing: the bytes must not change. */
  write(bytes: Uint8Array): void;
  /** No more bytes follow. */
  end(): void;
  /** The result is no longer needed; the listener is not called from now on. */
  drop(): void;
}

/**
 * Sentences on their way through one thread: everything that arrives while it is busy becomes one batch. Owners,
 * which are organizations, take turns, and when the queue is full, the owner with the most entries loses one.
 */
export class ConversionQueue {
  readonly waits: RecentWaits;
  readonly #convert: ConvertBatch;
  readonly #clock: Clock;
  readonly #onBatchLost: (error: unknown) => void;
  readonly #waiting: Record<ConversionPriority, Waiting[]> = { speech: [], background: [] };
  readonly #open = new Map<number, QueuedConversion>();
  /** The owner of the last background step. */
  #lastOwner: string | undefined;
  #dropped: number[] = [];
  #nextId = 1;
  #isBusy = false;
  #isClosed = false;

  constructor(convert: ConvertBatch, clock: Clock, onBatchLost: (error: unknown) => void) {
    this.#convert = convert;
    this.#clock = clock;
    this.waits = new RecentWaits(clock);
    this.#onBatchLost = onBatchLost;
  }

  /** The number of waiting speech steps. */
  get length(): number {
    return this.#waiting.speech.length;
  }

  get oldestWaitMs(): number {
    const [oldest] = this.#waiting.speech;
    return oldest === undefined ? 0 : this.#clock.monotonicMs() - oldest.sinceMs;
  }

  /**
   * The listener gets an AudioPoolOverloadedError or AudioPoolClosedError, or the reason why the audio cannot be
   * converted.
   */
  open(
    format: ConversionFormats,
    priority: ConversionPriority,
    listener: ConversionListener,
    owner = "",
  ): Conversion {
    const id = this.#nextId;
    this.#nextId += 1;
    const conversion: QueuedConversion = new QueuedConversion(id, owner, format, listener, {
      add: (step) => this.#add(conversion, priority, step),
      drop: () => this.#drop(id),
    });
    if (!this.#isClosed) this.#open.set(id, conversion);
    return conversion;
  }

  /** Everything in progress fails. */
  close(): void {
    this.#isClosed = true;
    this.#failAll(new AudioPoolClosedError("the audio pool is closed"));
  }

  #add(conversion: QueuedConversion, priority: ConversionPriority, step: ConversionStep): void {
    if (this.#isClosed) {
      conversion.fail(new AudioPoolClosedError("the audio pool is closed"));
      return;
    }
    const waiting = this.#waiting[priority];
    const stepsMax = priority === "speech" ? STEPS_WAITING_MAX : BACKGROUND_STEPS_WAITING_MAX;
    if (waiting.length >= stepsMax && !this.#evict(waiting, conversion.owner)) {
      conversion.fail(
        new AudioPoolOverloadedError(`${stepsMax} pieces of audio are already waiting`),
      );
      return;
    }
    waiting.push({ conversion, step, sinceMs: this.#clock.monotonicMs() });
    this.#pump();
  }

  /**
   * Fails the newest sentence of the owner with the most waiting, if that is at least two more than the newcomer
   * has.
   */
  #evict(waiting: readonly Waiting[], newcomer: string): boolean {
    const counts = new Map<string, number>();
    for (const { conversion } of waiting) {
      counts.set(conversion.owner, (counts.get(conversion.owner) ?? 0) + 1);
    }
    const [largest, count] = [...counts].reduce((most, each) => (each[1] > most[1] ? each : most));
    if (count <= (counts.get(newcomer) ?? 0) + 1) return false;
    const newest = waiting.findLast(({ conversion }) => conversion.owner === largest);
    newest?.conversion.fail(
      new AudioPoolOverloadedError(
        `${count} pieces of audio of one organization are already waiting`,
      ),
    );
    return true;
  }

  #drop(id: number): void {
    if (!this.#open.delete(id)) return;
    for (const waiting of Object.values(this.#waiting)) {
      const kept = waiting.filter(({ step }) => step.id !== id);
      waiting.splice(0, waiting.length, ...kept);
    }
    this.#dropped.push(id);
  }

  #pump(): void {
    if (this.#isBusy || this.#isClosed) return;
    const taken = this.#take();
    if (taken.length === 0) return;
    this.#isBusy = true;
    const batch = { steps: taken.map(({ step }) => step), dropped: this.#dropped };
    this.#dropped = [];
    const overdue = new AbortController();
    const cancel = this.#clock.after(BATCH_DEADLINE_MS, () => overdue.abort());
    this.#convert(batch, overdue.signal)
      .then(
        (results) => this.#deliver(taken, results),
        (error: unknown) => this.#lose(error),
      )
      .finally(() => {
        cancel();
        this.#isBusy = false;
        this.#pump();
      });
  }

  /**
   * Speech first, and of speech the sentences without output so far: their callers wait, while those of the others
   * still hear earlier audio. In both groups owners take turns. Background work runs one step at a time, since
   * speech may arrive meanwhile.
   */
  #take(): readonly Waiting[] {
    const { speech, background } = this.#waiting;
    if (speech.length === 0) return this.#takeBackground(background);
    const begun = speech.filter(({ conversion }) => conversion.hasOutput);
    const inOrder =
      begun.length === 0
        ? inTurns(speech)
        : [...inTurns(speech.filter(({ conversion }) => !conversion.hasOutput)), ...inTurns(begun)];
    let workBytes = 0;
    let count = 0;
    for (const { conversion, step } of inOrder) {
      workBytes += step.bytes.byteLength * conversion.byteWork;
      if (count > 0 && workBytes > BATCH_BYTES_MAX) break;
      count += 1;
    }
    this.#waiting.speech = inOrder.slice(count);
    return inOrder.slice(0, count);
  }

  #takeBackground(background: Waiting[]): readonly Waiting[] {
    const other = background.findIndex(({ conversion }) => conversion.owner !== this.#lastOwner);
    const taken = background.splice(Math.max(0, other), 1);
    this.#lastOwner = taken[0]?.conversion.owner;
    return taken;
  }

  #deliver(taken: readonly Waiting[], results: readonly ConversionResult[]): void {
    for (const [index, { conversion, step, sinceMs }] of taken.entries()) {
      this.waits.addSince(sinceMs);
      const result = results[index] ?? { error: "the audio thread did not respond" };
      if (!this.#open.has(step.id)) continue;
      if (!(result instanceof Uint8Array)) conversion.fail(new Error(result.error));
      else conversion.deliver(result, step.isLast);
      if (step.isLast) this.#open.delete(step.id);
    }
  }

  /** The thread's state of sentences is gone. */
  #lose(error: unknown): void {
    if (this.#isClosed) return;
    this.#onBatchLost(error);
    this.#failAll(new Error("an audio thread exited", { cause: error }));
  }

  #failAll(error: Error): void {
    this.#waiting.speech.length = 0;
    this.#waiting.background.length = 0;
    this.#dropped = [];
    const lost = Array.from(this.#open.values());
    this.#open.clear();
    for (const conversion of lost) conversion.fail(error);
  }
}

/** One step of each owner after the other, an owner's own steps in their order. */
function inTurns(steps: readonly Waiting[]): readonly Waiting[] {
  const byOwner = new Map<string, Waiting[]>();
  for (const step of steps) {
    const { owner } = step.conversion;
    const own = byOwner.get(owner);
    if (own === undefined) byOwner.set(owner, [step]);
    else own.push(step);
  }
  if (byOwner.size < 2) return steps;
  const queues = [...byOwner.values()];
  const ordered: Waiting[] = [];
  for (let round = 0; ordered.length < steps.length; round += 1) {
    for (const queue of queues) {
      const step = queue[round];
      if (step !== undefined) ordered.push(step);
    }
  }
  return ordered;
}

interface ConversionWays {
  readonly add: (step: ConversionStep) => void;
  readonly drop: () => void;
}

class QueuedConversion implements Conversion {
  /** The work per byte, relative to a byte of samples. */
  readonly byteWork: number;
  readonly owner: string;
  /** Some of its audio has already been passed on. */
  hasOutput = false;
  readonly #id: number;
  readonly #listener: ConversionListener;
  readonly #ways: ConversionWays;
  #opens: ConversionFormats | undefined;
  #isOver = false;

  constructor(
    id: number,
    owner: string,
    format: ConversionFormats,
    listener: ConversionListener,
    ways: ConversionWays,
  ) {
    this.#id = id;
    this.owner = owner;
    this.#opens = format;
    this.byteWork = format.from.encoding === "mp3" ? MP3_BYTE_WORK : 1;
    this.#listener = listener;
    this.#ways = ways;
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.byteLength && !this.#isOver; at += STEP_BYTES_MAX) {
      this.#add(bytes.subarray(at, at + STEP_BYTES_MAX), false);
    }
  }

  end(): void {
    if (!this.#isOver) this.#add(new Uint8Array(0), true);
  }

  drop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ways.drop();
  }

  deliver(audio: Uint8Array, isLast: boolean): void {
    if (audio.byteLength > 0) {
      this.hasOutput = true;
      this.#listener.onAudio(audio);
    }
    if (!isLast || this.#isOver) return;
    this.#isOver = true;
    this.#listener.onEnd();
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.drop();
    this.#listener.onFailed(error);
  }

  #add(bytes: Uint8Array, isLast: boolean): void {
    const opens = this.#opens;
    this.#opens = undefined;
    this.#ways.add({ id: this.#id, opens, bytes, isLast });
  }
}
