/**
 * Files with a process for each folder. Those of `node-front` run other files' tests over another front: a process runs a file's tests
 * once, whoever loads it first, and keeps the front.
 */
const FOLDERS_APART = ["node-front/"];
/** Their calls take as long as they are spoken: what is begun first is not waited for at the end. */
const BEGUN_FIRST = "system/";

export interface DealtFiles {
  /** Lists that have a process each. */
  readonly apart: readonly (readonly string[])[];
  /** The list that all other processes take their files from, in this order. */
  readonly shared: readonly string[];
}

/** Deals test files out to processes. */
export function dealtFiles(names: readonly string[]): DealtFiles {
  const isApart = (name: string) => FOLDERS_APART.some((folder) => name.startsWith(folder));
  const apart = FOLDERS_APART.map((folder) => names.filter((name) => name.startsWith(folder)));
  const others = names.filter((name) => !isApart(name));
  const first = others.filter((name) => name.startsWith(BEGUN_FIRST));
  const rest = others.filter((name) => !name.startsWith(BEGUN_FIRST));
  return { apart: apart.filter((files) => files.length > 0), shared: [...first, ...rest] };
}
