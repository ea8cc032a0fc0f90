import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as v from "valibot";

const script = v.object({ url: v.string(), functions: v.unknown() });
const report = v.object({ result: v.array(script) });
const jsonReport = v.pipe(v.string(), v.parseJson(), report);
const range = v.object({ startOffset: v.number(), endOffset: v.number(), count: v.number() });
const functionsOfScript = v.array(v.object({ ranges: v.array(range) }));

type Range = v.InferOutput<typeof range>;

/** By path of the module: where what was executed begins, where it ends, where the next begins, and so on. */
export type ExecutedOffsets = Readonly<Record<string, readonly number[]>>;

/** What one run executed of the modules of a build, by V8's reports of its processes and threads, one behind the other. */
export function executedOffsets(coverageFolder: string, buildFolder: string): ExecutedOffsets {
  const buildUrl = `${pathToFileURL(buildFolder).href}/`;
  const offsets: Record<string, readonly number[]> = {};
  for (const name of readdirSync(coverageFolder)) {
    const text = readFileSync(join(coverageFolder, name), "utf8");
    for (const { url, functions } of v.parse(jsonReport, text).result) {
      // Most of a report is about what others have written.
      if (!url.startsWith(buildUrl)) continue;
      const path = url.slice(buildUrl.length);
      const ranges = v.parse(functionsOfScript, functions).flatMap((one) => one.ranges);
      offsets[path] = [...(offsets[path] ?? []), ...flattened(ranges)];
    }
  }
  return offsets;
}

/** Whether any thread executed what stands at an offset of a module. */
export function isExecuted(offsets: ExecutedOffsets, path: string, offset: number): boolean {
  const bounds = offsets[path] ?? [];
  return bounds.some((start, index) => {
    const end = bounds[index + 1];
    return index % 2 === 0 && end !== undefined && start <= offset && offset < end;
  });
}

/** V8's ranges lie inside each other, and the innermost tells: the bounds of where it tells of at least one time. */
function flattened(ranges: readonly Range[]): readonly number[] {
  const outerFirst = [...ranges].sort(
    (one, other) => one.startOffset - other.startOffset || other.endOffset - one.endOffset,
  );
  const bounds: number[] = [];
  const open: Range[] = [];
  let at = 0;
  const goTo = (offset: number) => {
    if (offset > at && (open.at(-1)?.count ?? 0) > 0) {
      if (bounds.at(-1) === at) bounds.pop();
      else bounds.push(at);
      bounds.push(offset);
    }
    at = Math.max(at, offset);
  };
  const closeUntil = (offset: number) => {
    for (let top = open.at(-1); top !== undefined && top.endOffset <= offset; top = open.at(-1)) {
      goTo(top.endOffset);
      open.pop();
    }
  };
  for (const one of outerFirst) {
    closeUntil(one.startOffset);
    goTo(one.startOffset);
    open.push(one);
  }
  closeUntil(Number.POSITIVE_INFINITY);
  return bounds;
}
