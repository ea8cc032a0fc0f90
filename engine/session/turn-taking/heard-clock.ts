/** Clocks of telephone and server part by less; audio that comes later than this is new time, not jitter. */
const LATE_PER_MS = 0.001;
/** A gap in the audio: the stream's time goes on where it stopped, and lies that much later from then on. */
const GAP_MIN_MS = 200;

/**
 * Where the stream of the caller's audio stands on the server's clock. Audio comes in whole frames, some of them late: the
 * earliest tells when a moment of it was spoken, and the time since the newest counts as well.
 */
export class HeardClock {
  /** The server's time at the stream's own zero. */
  #originMs = Number.POSITIVE_INFINITY;
  #atMs = 0;

  /** Audio up to `heardMs` of the stream has come by `atMs`. */
  heard(heardMs: number, atMs: number): void {
    const originMs = atMs - heardMs;
    const isGap = originMs - this.#originMs > GAP_MIN_MS;
    const oldest = isGap ? originMs : this.#originMs + (atMs - this.#atMs) * LATE_PER_MS;
    this.#originMs = Math.min(originMs, oldest);
    this.#atMs = atMs;
  }

  /** How long before `atMs` a moment of the stream was spoken; 0 for one that is not known, or not over. */
  agoMs(streamMs: number | undefined, atMs: number): number {
    if (streamMs === undefined || this.#originMs === Number.POSITIVE_INFINITY) return 0;
    return Math.max(0, atMs - (this.#originMs + streamMs));
  }
}
