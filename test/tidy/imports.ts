import { posix } from "node:path";
import { codeOnly, lineAt, type SourceFile, withoutComments } from "./source-file.js";

export interface Import {
  /** A path of the tree (`engine/request-error.ts`), or the name of a package (`undici`, `node:fs`). */
  readonly target: string;
  readonly isPackage: boolean;
  readonly isTypeOnly: boolean;
  readonly line: number;
}

const STATIC = /\b(import|export)\s+(type\s+)?(?:([\w$*\s{},]+?)\s+from\s+)?"([^"\n]+)"/g;
const DYNAMIC = /\bimport\(\s*"([^"\n]+)"/g;
/** How a thread's file is named. */
const THREAD = /\bnew URL\(\s*"(\.[^"\n]+\.js)",\s*import\.meta\.url/g;

/** Everything that the file names of other files: imports of all kinds, re-exports, and files of threads. */
export function importsOf(file: SourceFile): readonly Import[] {
  const text = withoutComments(file.text);
  const code = codeOnly(file.text);
  const found: Import[] = [];
  const add = (index: number, specifier: string, isTypeOnly: boolean) => {
    // Inside a string it is only a text about imports.
    if (code.charAt(index) === " ") return;
    found.push({ ...resolved(file.path, specifier), isTypeOnly, line: lineAt(text, index) });
  };
  for (const { index, 2: typeWord, 3: names = "", 4: specifier = "" } of text.matchAll(STATIC)) {
    add(index, specifier, typeWord !== undefined || areTypes(names));
  }
  for (const { index, 1: specifier = "" } of text.matchAll(DYNAMIC)) add(index, specifier, false);
  for (const { index, 1: specifier = "" } of text.matchAll(THREAD)) add(index, specifier, false);
  return found;
}

/** `{ type A, type B }` brings nothing at run time. */
function areTypes(names: string): boolean {
  const inner = /^\{([^}]*)\}$/.exec(names.trim())?.[1];
  const entries = inner?.split(",").filter((entry) => entry.trim() !== "") ?? [];
  return entries.length > 0 && entries.every((entry) => entry.trim().startsWith("type "));
}

function resolved(path: string, specifier: string): { target: string; isPackage: boolean } {
  if (specifier.startsWith(".")) {
    const target = posix.join(posix.dirname(path), specifier).replace(/\.js$/, ".ts");
    return { target, isPackage: false };
  }
  const depth = specifier.startsWith("@") ? 2 : 1;
  return { target: specifier.split("/").slice(0, depth).join("/"), isPackage: true };
}
