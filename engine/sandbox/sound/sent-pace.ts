/** How the audio of one sentence arrived for a listener who begins to play with its first chunk. */
interface Pace {
  readonly durationMs: number;
  /** From the first chunk to the last. */
  readonly elapsedMs: number;
  /**
   * The least audio that was left to play when another chunk arrived; negative if audio was missing, null with one
   * chunk alone.
   */
  readonly minMarginMs: number | null;
}

/** The planned and the actual times of one sentence's chunks: a busy machine must not count as an uneven voice. */
export class SentPace {
  #durationMs = 0;
  readonly #planned = new ChunkTimes();
  readonly #sent = new ChunkTimes();

  /** The next chunk is sent now; times are of any one clock. */
  chunk(chunkMs: number, plannedMs: number, sentMs: number): void {
    this.#planned.add(plannedMs, this.#durationMs);
    this.#sent.add(sentMs, this.#durationMs);
    this.#durationMs += chunkMs;
  }

  /** For the journal: JSON. */
  get text(): string {
    const paceOf = (times: ChunkTimes): Pace => ({ durationMs: this.#durationMs, ...times.pace });
    return JSON.stringify({ planned: paceOf(this.#planned), sent: paceOf(this.#sent) });
  }
}

class ChunkTimes {
  #firstMs: number | undefined;
  #lastMs = 0;
  #minMarginMs: number | null = null;

  get pace(): Omit<Pace, "durationMs"> {
    return { elapsedMs: this.#lastMs - (this.#firstMs ?? 0), minMarginMs: this.#minMarginMs };
  }

  add(atMs: number, durationBeforeMs: number): void {
    this.#lastMs = atMs;
    if (this.#firstMs === undefined) this.#firstMs = atMs;
    else {
      const leftMs = durationBeforeMs - (atMs - this.#firstMs);
      this.#minMarginMs = Math.min(this.#minMarginMs ?? leftMs, leftMs);
    }
  }
}
