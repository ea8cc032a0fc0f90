import assert from "node:assert/strict";
import type { Rgb, ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { eventually } from "../system/eventually.js";

/** The colours of ffmpeg's smptebars, from left to right. */
const BARS: readonly Rgb[] = [
  [191, 191, 191],
  [191, 191, 0],
  [0, 191, 191],
  [0, 191, 0],
  [191, 0, 191],
  [191, 0, 0],
  [0, 0, 191],
];
/** The tolerance for encoding at a low bit rate and for colour conversions. */
const TOLERANCE = 40;

/** Checks decoded frames until one matches, since the last frame of another broadcast may still be shown. */
export async function untilBarsAreSeen(viewer: ViewerPage, isMirrored = false): Promise<void> {
  const expected = isMirrored ? BARS.toReversed() : BARS;
  let seen: readonly Rgb[] = [];
  await eventually("the colours of the test picture", async () => {
    seen = await viewer.bars();
    return areClose(seen, expected) || undefined;
  }).catch(() => assert.deepEqual(seen, expected));
}

function areClose(seen: readonly Rgb[], expected: readonly Rgb[]): boolean {
  return expected.every((color, bar) =>
    color.every((value, channel) => Math.abs(value - (seen[bar]?.[channel] ?? -999)) <= TOLERANCE),
  );
}
