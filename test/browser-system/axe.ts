import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as v from "valibot";
import type { ViewerPage } from "../../bench/livestream/viewer-browser.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** WCAG 2.2 AA with what it is built upon. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
/** No style sheets: axe reads those of shadow trees by inline styles, which the page's content policy refuses. */
const PRELOAD = { assets: ["media"] };
const RUN = `axe.run(document, ${JSON.stringify({ runOnly: RULES, preload: PRELOAD })})
  .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => id + " at " + target.join(" ") + ": " + failureSummary)))`;

/** What keeps people from using the page as it is now, a line for each element. */
export async function barriers({ page }: ViewerPage): Promise<readonly string[]> {
  await page.evaluate(AXE);
  return v.parse(v.array(v.string()), await page.evaluate(RUN));
}
