import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as v from "valibot";
import type { ViewerPage } from "../../bench/livestream/viewer-browser.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** WCAG 2.2 AA and the levels that it includes. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
/**
 * Style sheets are left out: axe adds inline styles to read those of shadow trees, which the page's content policy
 * refuses.
 */
const PRELOAD = { assets: ["media"] };
const RUN = `axe.run(document, ${JSON.stringify({ runOnly: RULES, preload: PRELOAD })})
  .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => id + " at " + target.join(" ") + ": " + failureSummary)))`;

/** Returns the page's current accessibility violations, one line per element. */
export async function barriers({ page }: ViewerPage): Promise<readonly string[]> {
  await page.evaluate(AXE);
  return v.parse(v.array(v.string()), await page.evaluate(RUN));
}
