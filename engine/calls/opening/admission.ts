import type { CancelTimer, Clock } from "../../time/clock.js";

export interface AdmissionLimits {
  /** Calls at the same time on this box, of all organizations; `npm run bench:capacity` finds it. 0 = no such limit. */
  readonly callsMax: number;
  /** How late the event loop may be (p99 of a second) before callers in progress would hear it. 0 = not looked at. */
  readonly eventLoopDelayMaxMs: number;
}

export interface AdmissionGauges {
  /** On this box. */
  callCount(): number;
  /** Whether another session process of this box takes calls, so that none has to be refused by this one. */
  othersTake(): boolean;
  /** An operator wants no new calls on this box. */
  isDrained(): boolean;
  /** p99 of the lateness of the event loop since the last look. */
  takeEventLoopDelayMs(): number;
  /** How long audio waits for the audio pool. */
  audioPoolWaitMs(): number;
}

const LOOK_MS = 1_000;
/** One bad second may be a collection of garbage; two in a row are load. */
const BAD_LOOKS_TO_CLOSE = 2;
const GOOD_LOOKS_TO_OPEN = 3;
/** Audio that waits longer than two frames is heard as a gap. */
const AUDIO_POOL_WAIT_MAX_MS = 40;

/**
 * Refuses new calls before those in progress suffer. Lateness is the honest sign of a full box: its processors show half
 * of their time idle when callers begin to hear it.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #gauges: AdmissionGauges;
  readonly #stop: CancelTimer;
  #badLooks = 0;
  #goodLooks = 0;
  #isClosed = false;

  constructor(limits: AdmissionLimits, gauges: AdmissionGauges, clock: Clock) {
    this.#limits = limits;
    this.#gauges = gauges;
    this.#stop = clock.every(LOOK_MS, () => this.#look());
  }

  /** Why a new call is not taken now; undefined when it is. */
  get refusal(): string | undefined {
    const { callsMax } = this.#limits;
    if (this.#gauges.isDrained()) return "the server takes no new calls";
    if (callsMax > 0 && this.#gauges.callCount() >= callsMax) {
      return "the server has as many calls as it can carry";
    }
    const isRefusing = this.#isClosed && !this.#gauges.othersTake();
    return isRefusing ? "the server is too busy for another call" : undefined;
  }

  /** Whether calls in progress would suffer from another one. */
  get isLate(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#stop();
  }

  #look(): void {
    const { eventLoopDelayMaxMs } = this.#limits;
    // Also where it is not judged: the metrics show it.
    const eventLoopDelayMs = this.#gauges.takeEventLoopDelayMs();
    if (eventLoopDelayMaxMs === 0) return;
    const isBad =
      eventLoopDelayMs > eventLoopDelayMaxMs ||
      this.#gauges.audioPoolWaitMs() > AUDIO_POOL_WAIT_MAX_MS;
    this.#badLooks = isBad ? this.#badLooks + 1 : 0;
    this.#goodLooks = isBad ? 0 : this.#goodLooks + 1;
    if (this.#badLooks >= BAD_LOOKS_TO_CLOSE) this.#isClosed = true;
    if (this.#goodLooks >= GOOD_LOOKS_TO_OPEN) this.#isClosed = false;
  }
}
