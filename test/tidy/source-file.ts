/** A file of the tree, or a planted one. The path is relative to the root, with slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export interface Fault {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

export type FileRule = (file: SourceFile) => readonly Fault[];
export type TreeRule = (files: readonly SourceFile[]) => readonly Fault[];

export const describeFault = ({ path, line, message }: Fault): string =>
  `${path}:${line} ${message}`;

const LITERAL = new RegExp(
  [
    String.raw`\/\/[^\n]*`,
    String.raw`\/\*[\s\S]*?\*\/`,
    String.raw`"(?:\\.|[^"\\\n])*"`,
    String.raw`'(?:\\.|[^'\\\n])*'`,
    "`(?:\\\\[\\s\\S]|[^`\\\\])*`",
    // A slash after one of these begins a regular expression, elsewhere it divides.
    String.raw`(?<=(?:^|[=(,:[!&|?{};>+]|\breturn|\bcase)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*`,
  ].join("|"),
  "g",
);
const TEMPLATE_VALUE = /\$\{(?:[^{}]|\{[^{}]*\})*\}/;

const blank = (text: string): string => text.replace(/[^\n]/g, " ");

/** The text with comments blanked; every character keeps its place. */
export function withoutComments(text: string): string {
  return text.replace(LITERAL, (found) => (/^\/[/*]/.test(found) ? blank(found) : found));
}

/** The text with comments, strings and regular expressions blanked; what stands in `${}` is code and stays. */
export function codeOnly(text: string): string {
  return text.replace(LITERAL, (found) =>
    found.startsWith("`") ? blankTemplate(found) : blank(found),
  );
}

function blankTemplate(template: string): string {
  let rest = template;
  let result = "";
  for (let value = TEMPLATE_VALUE.exec(rest); value !== null; value = TEMPLATE_VALUE.exec(rest)) {
    result += blank(rest.slice(0, value.index)) + value[0];
    rest = rest.slice(value.index + value[0].length);
  }
  return result + blank(rest);
}

export const lineAt = (text: string, index: number): number =>
  text.slice(0, index).split("\n").length;

/** A fault wherever the pattern (with the flag `g`) is found in `text`, which has the lines of the file. */
export function faultsAt(
  file: SourceFile,
  text: string,
  pattern: RegExp,
  message: string,
): Fault[] {
  return Array.from(text.matchAll(pattern), ({ index }) => ({
    path: file.path,
    line: lineAt(text, index),
    message,
  }));
}

/** Whether the path is one of these files or stands in one of these folders (which end with a slash). */
export function isIn(path: string, places: readonly string[]): boolean {
  return places.some((place) => (place.endsWith("/") ? path.startsWith(place) : path === place));
}
