import { Piscina } from "piscina";
import type { Clock } from "../time/clock.js";
import {
  type ConvertBatch,
  type InboundFault,
  InboundLane,
  type InboundLine,
  type InboundListener,
} from "./inbound-lane.js";
import type { SpeechFormat } from "./sentence-audio.js";
import { SpeechQueue } from "./speech-queue.js";

export interface AudioPoolOptions {
  readonly clock: Clock;
  readonly onFault: (fault: AudioFault) => void;
  /** For callers' audio. One does for more calls than a session thread has. */
  readonly inboundThreads?: number;
  /** For sentences, so that no caller's audio waits behind one. */
  readonly speechThreads?: number;
  /** What the threads run; tests have one that fails. */
  readonly worker?: URL;
}

export type AudioFault =
  | InboundFault
  /** A thread died with nothing to do; another has taken its place. */
  | { readonly kind: "threadLost"; readonly error: unknown };

/** For admission and metrics. Waits are of the last seconds, of the queue where it is worst; 0 while the threads start. */
export interface AudioPoolStats {
  readonly inboundLines: number;
  readonly inboundLinesWaiting: number;
  /** From a frame's arrival to its delivery, over the last batches; what waits now counts when it has waited longer. */
  readonly inboundWaitP95Ms: number;
  readonly inboundWaitLastMs: number;
  /** Callers' audio thrown away at the bound, of all calls so far. */
  readonly inboundDroppedMs: number;
  readonly inboundBatches: number;
  readonly speechWaiting: number;
  readonly speechWaitP95Ms: number;
  readonly speechWaitLastMs: number;
  readonly batchesLost: number;
}

const WORKER = new URL("./audio-worker.js", import.meta.url);

/** The CPU-heavy audio of telephone calls, on threads of its own. */
export class AudioPool {
  readonly #threads: Piscina;
  readonly #lanes: readonly InboundLane[];
  readonly #speech: SpeechQueue;
  #areThreadsReady = false;
  #isClosed = false;
  #batchesLost = 0;

  constructor(options: AudioPoolOptions) {
    const { clock, onFault, inboundThreads = 1, speechThreads = 1, worker = WORKER } = options;
    const threads = inboundThreads + speechThreads;
    this.#threads = new Piscina({
      filename: worker.href,
      minThreads: threads,
      maxThreads: threads,
      // Never more tasks than threads and warm-ups; they wait here only while a thread starts or is replaced.
      maxQueue: 2 * threads,
      recordTiming: false,
    });
    this.#threads.on("error", (error: unknown) => onFault({ kind: "threadLost", error }));
    const onLaneFault = (fault: InboundFault) => {
      if (fault.kind === "batchLost") this.#batchesLost += 1;
      onFault(fault);
    };
    const convert: ConvertBatch = (batch, signal) =>
      this.#threads.run(batch, { name: "inbound", transferList: [batch.buffer], signal });
    this.#lanes = Array.from(
      { length: inboundThreads },
      () => new InboundLane(convert, clock, onLaneFault),
    );
    this.#speech = new SpeechQueue(
      (task, signal) => this.#threads.run(task, { name: "speech", signal }),
      clock,
      speechThreads,
    );
    void this.#warmUp(threads, onFault);
  }

  /** What the first calls wait for while threads start says nothing about how busy they are. */
  async #warmUp(threads: number, onFault: (fault: AudioFault) => void): Promise<void> {
    try {
      const ready = Array.from({ length: threads }, () =>
        this.#threads.run(undefined, { name: "warmUp" }),
      );
      await Promise.all(ready);
    } catch (error) {
      if (!this.#isClosed) onFault({ kind: "threadLost", error });
    }
    for (const { waits } of [...this.#lanes, this.#speech]) waits.forget();
    this.#areThreadsReady = true;
  }

  get stats(): AudioPoolStats {
    const lanes = this.#lanes;
    const most = (of: (lane: InboundLane) => number) =>
      this.#areThreadsReady ? Math.max(...lanes.map(of)) : 0;
    const sum = (of: (lane: InboundLane) => number) =>
      lanes.reduce((total, lane) => total + of(lane), 0);
    return {
      inboundLines: sum((lane) => lane.lines),
      inboundLinesWaiting: sum((lane) => lane.linesWaiting),
      inboundWaitP95Ms: most((lane) => Math.max(lane.waits.p95Ms, lane.oldestWaitMs)),
      inboundWaitLastMs: most((lane) => lane.waits.lastMs),
      inboundDroppedMs: sum((lane) => lane.droppedMs),
      inboundBatches: sum((lane) => lane.batches),
      speechWaiting: this.#speech.length,
      speechWaitP95Ms: this.#areThreadsReady
        ? Math.max(this.#speech.waits.p95Ms, this.#speech.oldestWaitMs)
        : 0,
      speechWaitLastMs: this.#areThreadsReady ? this.#speech.waits.lastMs : 0,
      batchesLost: this.#batchesLost,
    };
  }

  /** A call's audio, 8 kHz as the line has it, to 16 kHz. A call keeps its lane, and so its order. */
  inbound(listener: InboundListener): InboundLine {
    const lane = this.#lanes.reduce((least, other) => (other.lines < least.lines ? other : least));
    return lane.open(listener);
  }

  /**
   * A whole sentence as the line wants it: not delayed, exactly as long, in no frames yet. Rejects with AudioPoolOverloaded,
   * AudioPoolClosed, the signal's reason, or an Error when the audio cannot be decoded or the thread died of it.
   */
  speech(audio: Uint8Array, format: SpeechFormat, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#speech.add({ audio, format }, signal);
  }

  /** Ends the threads at once: nothing is delivered any more, and sentences that wait are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const lane of this.#lanes) lane.close();
    this.#speech.close();
    await this.#threads.destroy();
  }
}
