import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The project's folder: this file runs from `dist/test/docs`. */
export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** What a reader may meet between fences. Commands are `sh` and nothing else, so that none is overlooked. */
export const LANGUAGES = [
  "sh",
  "output",
  "js",
  "python",
  "json",
  "html",
  "ini",
  "nginx",
  "text",
  "mermaid",
] as const;
export type Language = (typeof LANGUAGES)[number];

export interface Block {
  /** Where a person finds it: the page's path and the line of its fence. */
  readonly place: string;
  /** As it stands after the fence; a test holds it to be one of LANGUAGES. */
  readonly language: string;
  /** What a reader is to save it as. */
  readonly fileName: string | undefined;
  /** The block's text, without the line break at its end. */
  readonly text: string;
}

export interface Page {
  /** The page's path from the root, such as `docs/reference/rest.md`. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

const FENCED = /^```(\S*)(?: (\S+))?\n([\s\S]*?)\n```$/gm;

/** README.md and the pages of `docs/` and its folders, without the decisions, with their fenced blocks in order. */
export function readPages(): readonly Page[] {
  const names = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".md") && !name.startsWith("decisions/"));
  return ["README.md", ...names.sort().map((name) => `docs/${name}`)].map((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    return { path, text, blocks: blocksIn(path, text) };
  });
}

function blocksIn(path: string, page: string): readonly Block[] {
  return Array.from(page.matchAll(FENCED), (fenced) => {
    const [, language = "", fileName, text = ""] = fenced;
    const line = page.slice(0, fenced.index).split("\n").length;
    return { place: `${path}:${line}`, language, fileName, text };
  });
}
