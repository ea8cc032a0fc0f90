import type { Page } from "playwright-core";
import * as v from "valibot";
import type { ViewerBrowser, ViewerPage } from "./viewer-browser.js";

/** A page's size in pixels. */
export interface Screen {
  readonly width: number;
  readonly height: number;
}

const WATCHED = `(() => {
  const video = document.querySelector("#video");
  const { totalVideoFrames, droppedVideoFrames } = video.getVideoPlaybackQuality();
  return { timeSec: video.currentTime, atMs: performance.now(), frames: totalVideoFrames, dropped: droppedVideoFrames };
})()`;
const Watched = v.object({
  timeSec: v.number(),
  atMs: v.number(),
  frames: v.number(),
  dropped: v.number(),
});
type Watched = v.InferOutput<typeof Watched>;

/** What one viewer saw in a stretch of time. */
export interface Watching {
  /** How far the picture went, as a part of real time. */
  readonly rate: number;
  readonly framesPerSec: number;
  /** Frames that were decoded and not shown, as a part of all. */
  readonly dropped: number;
}

/** One page for each stream, all in one browser. */
export class Audience {
  readonly #viewers: readonly ViewerPage[];

  /** Resolves when all of them wait for their stream. */
  static async open(
    browser: ViewerBrowser,
    urls: readonly string[],
    viewport: Screen,
  ): Promise<Audience> {
    const viewers: ViewerPage[] = [];
    for (const url of urls) {
      const viewer = await browser.open(url, { viewport });
      await viewer.untilText("#feed-state", /^Live updates$/);
      viewers.push(viewer);
    }
    return new Audience(viewers);
  }

  private constructor(viewers: readonly ViewerPage[]) {
    this.#viewers = viewers;
  }

  /** When each began to play, in milliseconds since `beganMs` of this process's clock; infinite where none did within `timeoutMs`. */
  untilPlaying(beganMs: number, timeoutMs: number): Promise<readonly number[]> {
    return Promise.all(
      this.#viewers.map(async (viewer) => {
        const isPlaying = await viewer.untilPlaying(timeoutMs).then(
          () => true,
          () => false,
        );
        return isPlaying ? performance.now() - beganMs : Number.POSITIVE_INFINITY;
      }),
    );
  }

  /** How each of them plays for `lengthMs` from now on. */
  async watch(lengthMs: number): Promise<readonly Watching[]> {
    const before = await this.#look();
    await new Promise((resolve) => setTimeout(resolve, lengthMs));
    const after = await this.#look();
    return after.map((now, place) => watchingBetween(before[place] ?? now, now));
  }

  async close(): Promise<void> {
    for (const viewer of this.#viewers) await viewer.close();
  }

  #look(): Promise<readonly Watched[]> {
    return Promise.all(this.#viewers.map(({ page }) => watched(page)));
  }
}

async function watched(page: Page): Promise<Watched> {
  return v.parse(Watched, await page.evaluate(WATCHED));
}

function watchingBetween(before: Watched, now: Watched): Watching {
  const passedSec = (now.atMs - before.atMs) / 1_000;
  const frames = now.frames - before.frames;
  return {
    rate: (now.timeSec - before.timeSec) / passedSec,
    framesPerSec: frames / passedSec,
    dropped: frames === 0 ? 0 : (now.dropped - before.dropped) / frames,
  };
}
