import { createHash } from "node:crypto";
import { SourceMap } from "node:module";
import * as v from "valibot";
import type { CompiledTree } from "./compiled-tree.js";
import { changesOf } from "./mutator.js";
import type { Change } from "./source-edits.js";

/** A change of one compiled module, with its place in the source that people read. */
export interface Mutant {
  /** The compiled module, relative to the build. */
  readonly path: string;
  readonly change: Change;
  readonly sourcePath: string;
  readonly line: number;
  /** The whole line of the compiled module, without its indent: it names the place when lines move. */
  readonly code: string;
  readonly original: string;
  /** How many of the same change on the same line of code stand before it in the module. */
  readonly twinIndex: number;
}

const sourceMap = v.object({
  version: v.number(),
  file: v.string(),
  sources: v.array(v.string()),
  names: v.array(v.string()),
  mappings: v.string(),
  sourceRoot: v.optional(v.string(), ""),
  sourcesContent: v.optional(v.array(v.string()), []),
});
const jsonSourceMap = v.pipe(v.string(), v.parseJson(), sourceMap);

/** So many mutants of the modules, always the same ones for the same seed and source. */
export function sampleMutants(
  tree: CompiledTree,
  paths: readonly string[],
  size: number,
  seed: number,
): readonly Mutant[] {
  const all = paths.flatMap((path) => mutantsOf(tree, path));
  const ranked = all.map((mutant) => ({ mutant, rank: rankOf(mutant, seed) }));
  ranked.sort((one, other) => (one.rank < other.rank ? -1 : 1));
  return ranked.slice(0, size).map(({ mutant }) => mutant);
}

function mutantsOf(tree: CompiledTree, path: string): readonly Mutant[] {
  const source = tree.source(path);
  const map = new SourceMap(v.parse(jsonSourceMap, tree.sourceMap(path)));
  const twinCounts = new Map<string, number>();
  return changesOf(source).map((change) => {
    const lineBegan = source.lastIndexOf("\n", change.start - 1) + 1;
    const lineIndex = source.slice(0, lineBegan).split("\n").length - 1;
    const entry = map.findEntry(lineIndex, change.start - lineBegan);
    const line = "originalLine" in entry ? entry.originalLine + 1 : lineIndex + 1;
    const code = source.slice(lineBegan).split("\n", 1)[0]?.trim() ?? "";
    const original = source.slice(change.start, change.end);
    const sourcePath = path.replace(/\.js$/, ".ts");
    const name = [code, original, change.replacement].join("\n");
    const twinIndex = twinCounts.get(name) ?? 0;
    twinCounts.set(name, twinIndex + 1);
    return { path, change, sourcePath, line, code, original, twinIndex };
  });
}

/** A rank does not depend on what else is in the module, so that a sample stays the same when other lines are changed. */
function rankOf({ path, code, change, original, twinIndex }: Mutant, seed: number): string {
  const name = [seed, path, code, original, change.replacement, twinIndex].join("\n");
  return createHash("sha256").update(name).digest("hex");
}
