import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as v from "valibot";

const range = v.object({ startOffset: v.number(), endOffset: v.number(), count: v.number() });
const report = v.object({
  result: v.array(
    v.object({ url: v.string(), functions: v.array(v.object({ ranges: v.array(range) })) }),
  ),
});
const jsonReport = v.pipe(v.string(), v.parseJson(), report);

type Range = v.InferOutput<typeof range>;

/** What one run executed of the modules of a build, by V8's reports of its processes and threads. */
export class ExecutedRanges {
  readonly #loads = new Map<string, Range[][]>();

  constructor(coverageFolder: string, buildFolder: string) {
    const buildUrl = `${pathToFileURL(buildFolder).href}/`;
    for (const name of readdirSync(coverageFolder)) {
      const text = readFileSync(join(coverageFolder, name), "utf8");
      for (const { url, functions } of v.parse(jsonReport, text).result) {
        if (!url.startsWith(buildUrl)) continue;
        const path = url.slice(buildUrl.length);
        const ranges = functions.flatMap((one) => one.ranges);
        this.#loads.set(path, [...(this.#loads.get(path) ?? []), ranges]);
      }
    }
  }

  /** Whether any thread executed what stands at an offset of a module. */
  has(path: string, offset: number): boolean {
    return (this.#loads.get(path) ?? []).some((ranges) => countAt(ranges, offset) > 0);
  }
}

/** V8's ranges lie inside each other: the smallest one tells. */
function countAt(ranges: readonly Range[], offset: number): number {
  let nearest: Range | undefined;
  for (const one of ranges) {
    if (offset < one.startOffset || offset >= one.endOffset) continue;
    const isNearer =
      nearest === undefined ||
      one.endOffset - one.startOffset <= nearest.endOffset - nearest.startOffset;
    if (isNearer) nearest = one;
  }
  return nearest?.count ?? 0;
}
