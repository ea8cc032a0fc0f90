import * as v from "valibot";
import type { ViewerPage } from "../../bench/livestream/viewer-browser.js";

/** Runs before every other script: records layout shifts without recent user input. */
export const SHIFT_WATCH = `{
  const moved = [];
  const keep = (entries) => {
    for (const { value, hadRecentInput, sources } of entries) {
      const names = sources.map(({ node }) => node?.getAttribute?.("class") || node?.nodeName || "gone");
      if (!hadRecentInput) moved.push({ share: value, names });
    }
  };
  const observer = new PerformanceObserver((list) => keep(list.getEntries()));
  observer.observe({ type: "layout-shift", buffered: true });
  globalThis.takeShifts = () => {
    keep(observer.takeRecords());
    return moved.splice(0);
  };
}`;

const Shifts = v.array(v.object({ share: v.number(), names: v.array(v.string()) }));

/** Rounding can shift a thousandth of the window by its whole height. */
const SHARE_MIN = 0.001;

/** Returns the layout shifts since the page was opened, or since the last call. */
export async function layoutShifts({ page }: ViewerPage): Promise<readonly string[]> {
  const shifts = v.parse(Shifts, await page.evaluate("takeShifts()"));
  return shifts
    .filter(({ share }) => share >= SHARE_MIN)
    .map(({ share, names }) => `${share.toFixed(3)}: ${names.join(", ")}`);
}
