/** Sent at once where a reply begins, so that the caller is some frames ahead. */
const BURST_FRAMES = 10;
const NS_PER_MS = 1_000_000;

/** What lies between two frames of the agent's audio in one reply of a call, without the burst at its beginning. */
export class ReplyGaps {
  readonly #gapsMs: number[] = [];
  #frames = 0;
  #lastMs = 0;

  /** What all replies until now had, the oldest first. */
  get gapsMs(): readonly number[] {
    return this.#gapsMs;
  }

  /** The caller has spoken: what comes next is another reply. */
  asked(): void {
    this.#frames = 0;
  }

  heard(atNs: bigint): void {
    const nowMs = Number(atNs) / NS_PER_MS;
    if (this.#frames >= BURST_FRAMES) this.#gapsMs.push(nowMs - this.#lastMs);
    this.#frames += 1;
    this.#lastMs = nowMs;
  }
}
