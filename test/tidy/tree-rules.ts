import type { Fault } from "./source-file.js";

const TOP_FOLDERS = new Set(["api", "engine", "storage", "bench", "test", "deploy", "docs"]);
/** Made by tools or by running, never committed. */
const MADE_FOLDERS = /^(?:\..*|node_modules|dist.*|coverage|data)$/;
const TOP_SOURCES = new Set(["main.ts", "parley.ts", "config.ts"]);

/** Takes the names in the root; folders end with a slash. */
export function topLevel(names: readonly string[]): readonly Fault[] {
  return names.flatMap((name) => {
    const folder = /^(.*)\/$/.exec(name)?.[1];
    const isFine =
      folder === undefined
        ? !name.endsWith(".ts") || TOP_SOURCES.has(name)
        : TOP_FOLDERS.has(folder) || MADE_FOLDERS.test(folder);
    return isFine ? [] : [{ path: name, line: 1, message: "is not in the tree of design.md" }];
  });
}
