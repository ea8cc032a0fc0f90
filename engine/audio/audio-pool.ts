import type { Clock } from "../time/clock.js";
import { type AttachedQueue, type AudioThread, audioThread } from "./audio-thread.js";
import {
  type Conversion,
  type ConversionListener,
  type ConversionPriority,
  ConversionQueue,
} from "./conversion-queue.js";
import type { ConversionFormats } from "./speech-conversion.js";

export interface AudioPoolOptions {
  readonly clock: Clock;
  readonly onFault: (fault: AudioFault) => void;
  /** By default the process's shared thread. */
  readonly thread?: AudioThread;
}

/** `batchLost`: with the sentences in progress. `threadLost`: while idle. Another thread replaces it. */
export interface AudioFault {
  readonly kind: "batchLost" | "threadLost";
  readonly error: unknown;
}

/** For admission and metrics. Waits are of the last seconds; 0 while the thread starts. */
export interface AudioPoolStats {
  readonly stepsWaiting: number;
  /** From the arrival of a piece to its delivery. */
  readonly waitP95Ms: number;
  readonly waitLastMs: number;
}

/** The CPU-intensive audio work of calls, on a thread of its own. */
export class AudioPool {
  /** Resolves when the thread is ready to work immediately. */
  readonly ready: Promise<void>;
  readonly #attached: AttachedQueue;
  readonly #queue: ConversionQueue;
  #isReady = false;
  #isClosed = false;

  constructor({ clock, onFault, thread = audioThread() }: AudioPoolOptions) {
    this.#attached = thread.attach((error) => onFault({ kind: "threadLost", error }));
    this.#queue = new ConversionQueue(
      (batch, signal) => this.#attached.convert(batch, signal),
      clock,
      (error) => onFault({ kind: "batchLost", error }),
    );
    this.ready = this.#warmUp(thread, onFault);
  }

  get stats(): AudioPoolStats {
    const { waits, oldestWaitMs, length } = this.#queue;
    return {
      stepsWaiting: length,
      waitP95Ms: this.#isReady ? Math.max(waits.p95Ms, oldestWaitMs) : 0,
      waitLastMs: this.#isReady ? waits.lastMs : 0,
    };
  }

  /** As `ConversionQueue.open`. */
  open(
    format: ConversionFormats,
    priority: ConversionPriority,
    listener: ConversionListener,
    owner = "",
  ): Conversion {
    return this.#queue.open(format, priority, listener, owner);
  }

  /** The pool for the sentences of one organization. */
  of(owner: string): Pick<ConversionQueue, "open"> {
    return {
      open: (format, priority, listener) => this.open(format, priority, listener, owner),
    };
  }

  /** Converts a whole sentence, with exactly its length. Rejects with the error that a listener would get. */
  convert(
    audio: Uint8Array,
    format: ConversionFormats,
    priority: ConversionPriority,
    owner = "",
  ): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const pieces: Uint8Array[] = [];
      const listener = {
        onAudio: (piece: Uint8Array) => void pieces.push(piece),
        onEnd: () => {
          const whole = Buffer.concat(pieces);
          if (whole.byteLength > 0) resolve(whole);
          else reject(new Error("the answer holds no audio that can be decoded"));
        },
        onFailed: reject,
      };
      const conversion = this.open(format, priority, listener, owner);
      conversion.write(audio);
      conversion.end();
    });
  }

  /** Everything in progress fails. */
  close(): void {
    this.#isClosed = true;
    this.#queue.close();
    this.#attached.detach();
  }

  /** The first calls' wait while the thread starts shows nothing about its load. */
  async #warmUp({ warm }: AudioThread, onFault: AudioPoolOptions["onFault"]): Promise<void> {
    try {
      await warm;
    } catch (error) {
      if (!this.#isClosed) onFault({ kind: "threadLost", error });
    }
    this.#queue.waits.forget();
    this.#isReady = true;
  }
}
