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
  /** That of the process where none is given. */
  readonly thread?: AudioThread;
}

/** `batchLost`: with the sentences that were under way. `threadLost`: with nothing to do. Another thread takes the place. */
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

/** The CPU-heavy audio of calls, on a thread beside theirs. */
export class AudioPool {
  /** Settles when the thread is ready to work at once. */
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

  /** For the sentences of one organization. */
  of(owner: string): Pick<ConversionQueue, "open"> {
    return {
      open: (format, priority, listener) => this.open(format, priority, listener, owner),
    };
  }

  /** A whole sentence at once, exactly as long. Rejects with what a listener would be told. */
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

  /** Everything under way fails. */
  close(): void {
    this.#isClosed = true;
    this.#queue.close();
    this.#attached.detach();
  }

  /** What the first calls wait for while the thread starts says nothing about how busy it is. */
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
