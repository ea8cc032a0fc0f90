const FRAME_MS = 20;
const NS_PER_MS = 1e6;
/** A server sends these frames ahead in one burst when speech begins; they say nothing about jitter. */
const BURST_FRAMES = 10;
/** RFC 3550, section 6.4.1. */
const JITTER_GAIN = 1 / 16;

export interface FrameMeasures {
  readonly count: number;
  readonly bytes: number;
  /** Interarrival jitter of the frames, smoothed as in RTP (RFC 3550). Undefined if there were too few frames. */
  readonly jitterMs: number | undefined;
  /** The longest gap between two frames while the agent was speaking. */
  readonly longestGapMs: number | undefined;
}

/** Measures the arrival times of 20 ms frames. */
export class FrameMeter {
  #count = 0;
  #bytes = 0;
  #lastNs = 0n;
  #playedOutNs = 0n;
  /** Frames since the agent began to speak after a silence. */
  #running = 0;
  #jitterMs: number | undefined;
  #longestGapMs: number | undefined;

  /** Records one frame on arrival. */
  add(bytes: number, atNs: bigint): void {
    if (atNs >= this.#playedOutNs) this.#running = 0;
    if (this.#running >= BURST_FRAMES) this.#measure(Number(atNs - this.#lastNs) / NS_PER_MS);
    const fromNs = this.#playedOutNs > atNs ? this.#playedOutNs : atNs;
    this.#playedOutNs = fromNs + BigInt(FRAME_MS * NS_PER_MS);
    this.#lastNs = atNs;
    this.#running += 1;
    this.#count += 1;
    this.#bytes += bytes;
  }

  get measures(): FrameMeasures {
    return {
      count: this.#count,
      bytes: this.#bytes,
      jitterMs: this.#jitterMs,
      longestGapMs: this.#longestGapMs,
    };
  }

  #measure(gapMs: number): void {
    const errorMs = Math.abs(gapMs - FRAME_MS);
    const jitterMs = this.#jitterMs ?? 0;
    this.#jitterMs = jitterMs + (errorMs - jitterMs) * JITTER_GAIN;
    this.#longestGapMs = Math.max(this.#longestGapMs ?? 0, gapMs);
  }
}
