import { Piscina } from "piscina";
import type { ConversionBatch, ConversionResult, QueuedBatch } from "./conversion-batch.js";

const WORKER = new URL("./audio-worker.js", import.meta.url);

/** A thread that converts speech for any number of queues; if it dies, another replaces it. */
export class AudioThread {
  /** Resolves when it is ready to work immediately; rejects if it has died before. */
  readonly warm: Promise<void>;
  readonly #piscina: Piscina;
  readonly #lossListeners = new Set<(error: unknown) => void>();
  #lastQueueId = 0;
  #hasEnded = false;

  /** `worker`: the script that it runs; tests use one that fails. */
  constructor(worker = WORKER) {
    this.#piscina = new Piscina({
      filename: worker.href,
      // The state of sentences stays in the thread, so there is exactly one.
      minThreads: 1,
      maxThreads: 1,
      recordTiming: false,
    });
    this.#piscina.on("error", (error: unknown) => {
      for (const tell of this.#lossListeners) tell(error);
    });
    this.warm = this.#piscina.run(undefined, { name: "warmUp" });
    // Its users are notified, if there are any.
    this.warm.catch(() => undefined);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** `onLost` is called when the thread dies while idle. */
  attach(onLost: (error: unknown) => void): AttachedQueue {
    this.#lastQueueId += 1;
    const queueId = this.#lastQueueId;
    const piscina = this.#piscina;
    this.#lossListeners.add(onLost);
    return {
      convert: (batch, signal) =>
        piscina.run({ queueId, ...batch } satisfies QueuedBatch, { name: "convert", signal }),
      detach: () => {
        this.#lossListeners.delete(onLost);
        // A thread that has died has no state.
        void piscina.run(queueId, { name: "forget" }).catch(() => undefined);
      },
    };
  }

  /** Immediately: work in progress rejects. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#piscina.destroy();
  }
}

export interface AttachedQueue {
  /** One at a time. Rejects when the batch, and with it the thread, is lost. */
  convert(batch: ConversionBatch, signal: AbortSignal): Promise<readonly ConversionResult[]>;
  /** Drops the thread's state for this queue. */
  detach(): void;
}

let ofThisProcess: AudioThread | undefined;

/** One for the whole process: its start, and compiling its hot code, take 180 ms of CPU. */
export function audioThread(): AudioThread {
  if (ofThisProcess === undefined || ofThisProcess.hasEnded) ofThisProcess = new AudioThread();
  return ofThisProcess;
}
