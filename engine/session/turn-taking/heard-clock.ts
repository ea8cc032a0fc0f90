/** Clocks of telephone and server part by less; audio that comes later than this is new time, not jitter. */
const LATE_PER_MS = 0.001;
/** A gap in the audio: the stream's time goes on where it stopped, and lies that much later from then on. */
const GAP_MIN_MS = 200;
/** How finely, and for how much of the newest audio, is known when it came: longer than any STT takes for its words. */
const ARRIVAL_STEP_MS = 200;
const ARRIVALS_MAX = 50;

interface Arrival {
  readonly streamMs: number;
  readonly atMs: number;
}

/**
 * Where the stream of the caller's audio stands on the server's clock. Audio comes in whole frames, some of them late: the
 * earliest tells when a moment of it was spoken, and the time since the newest counts as well.
 */
export class HeardClock {
  /** The server's time at the stream's own zero. */
  #originMs = Number.POSITIVE_INFINITY;
  #atMs = 0;
  #heardMs = 0;
  /** The oldest first. */
  readonly #arrivals: Arrival[] = [];

  /** Audio up to `heardMs` of the stream has come by `atMs`. */
  heard(heardMs: number, atMs: number): void {
    const originMs = atMs - heardMs;
    const isGap = originMs - this.#originMs > GAP_MIN_MS;
    const oldest = isGap ? originMs : this.#originMs + (atMs - this.#atMs) * LATE_PER_MS;
    this.#originMs = Math.min(originMs, oldest);
    this.#atMs = atMs;
    this.#heardMs = heardMs;
    this.#noteArrival(heardMs, atMs);
  }

  /**
   * How long before `atMs` the audio came in which a moment of the stream lies: less than the time since it was spoken where the audio
   * came ahead of time, as from a vendor that floods. 0 for a moment that is not known, or has not come.
   */
  arrivedAgoMs(streamMs: number | undefined, atMs: number): number {
    if (streamMs === undefined || streamMs > this.#heardMs) return 0;
    const next = this.#arrivals.findIndex((each) => each.streamMs >= streamMs);
    const known = this.#arrivals[next] ?? { streamMs: this.#heardMs, atMs: this.#atMs };
    // Between two that are known, audio came in its own time or later.
    const before = this.#arrivals.at(next - 1);
    const earliestMs = next === 0 ? known.atMs : (before?.atMs ?? known.atMs);
    return Math.max(0, atMs - Math.max(earliestMs, known.atMs - (known.streamMs - streamMs)));
  }

  /** How long before `atMs` a moment of the stream was spoken; 0 for one that is not known, or not over. */
  agoMs(streamMs: number | undefined, atMs: number): number {
    if (streamMs === undefined || this.#originMs === Number.POSITIVE_INFINITY) return 0;
    return Math.max(0, atMs - (this.#originMs + streamMs));
  }

  #noteArrival(streamMs: number, atMs: number): void {
    const newest = this.#arrivals.at(-1);
    if (newest !== undefined && streamMs - newest.streamMs < ARRIVAL_STEP_MS) return;
    this.#arrivals.push({ streamMs, atMs });
    if (this.#arrivals.length > ARRIVALS_MAX) this.#arrivals.shift();
  }
}
