import { createHmac, randomBytes } from "node:crypto";
import type { Logger } from "../../engine/log.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";

/** How often the numbers are computed. */
export const COUNT_PERIOD_MS = 5_000;
/** Players request a playlist about once a second, and the front proxy reports each every five seconds. */
export const VIEWER_LIFETIME_MS = 15_000;
/** Viewers beyond this number, over all streams, are not counted. */
export const VIEWERS_MAX = 50_000;
const SALT_BYTES = 32;
/** Enough to distinguish that many. */
const DIGEST_CHARS = 16;

export interface ViewerCountsOptions {
  readonly isLive: (streamKey: string) => boolean;
  /** The published number; undefined if there is none. */
  readonly shown: (streamKey: string) => number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** The numbers that have changed, by stream key. */
  readonly onCounts: (viewersByStream: ReadonlyMap<string, number>) => void;
}

/**
 * The number of viewers per stream, by the requests for its playlists in the last seconds. Only a digest of a
 * viewer is kept, under a salt of this process. A viewer's data is not verified: the number is approximate, not
 * for billing.
 */
export class ViewerCounts {
  readonly #options: ViewerCountsOptions;
  readonly #salt = randomBytes(SALT_BYTES);
  readonly #endsMsByStream = new Map<string, Map<string, number>>();
  readonly #stopCounting: CancelTimer;
  #count = 0;
  #isFull = false;

  constructor(options: ViewerCountsOptions) {
    this.#options = options;
    this.#stopCounting = options.clock.every(COUNT_PERIOD_MS, () => this.#recount());
  }

  /** False for a stream that is not live, and if there is no room for another viewer. */
  note(streamKey: string, who: string): boolean {
    const { isLive, clock } = this.#options;
    if (!isLive(streamKey)) return false;
    const viewers = this.#endsMsByStream.get(streamKey) ?? new Map<string, number>();
    const digest = createHmac("sha256", this.#salt).update(who).digest("base64");
    const viewer = digest.slice(0, DIGEST_CHARS);
    if (!viewers.has(viewer)) {
      if (this.#count >= VIEWERS_MAX) return this.#refuse();
      this.#count += 1;
    }
    viewers.set(viewer, clock.monotonicMs() + VIEWER_LIFETIME_MS);
    this.#endsMsByStream.set(streamKey, viewers);
    return true;
  }

  close(): void {
    this.#stopCounting();
  }

  #refuse(): false {
    if (!this.#isFull)
      this.#options.log.warn(
        { max: VIEWERS_MAX },
        "viewer limit reached: further viewers are not counted",
      );
    this.#isFull = true;
    return false;
  }

  #recount(): void {
    const { isLive, shown, clock, onCounts } = this.#options;
    const nowMs = clock.monotonicMs();
    const changed = new Map<string, number>();
    for (const [streamKey, viewers] of this.#endsMsByStream) {
      const isOver = !isLive(streamKey);
      for (const [viewer, endsMs] of viewers) {
        if (!isOver && endsMs > nowMs) continue;
        viewers.delete(viewer);
        this.#count -= 1;
      }
      if (viewers.size === 0) this.#endsMsByStream.delete(streamKey);
      if (!isOver && shown(streamKey) !== viewers.size) changed.set(streamKey, viewers.size);
    }
    if (this.#count < VIEWERS_MAX) this.#isFull = false;
    if (changed.size > 0) onCounts(changed);
  }
}
