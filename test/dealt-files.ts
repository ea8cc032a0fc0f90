/**
 * Files with a process for each folder. The vendors' SDKs use Node's own fetch, which a process that has loaded our undici no
 * longer has as it was. Those of `node-front` run other files' tests over another front: a process runs a file's tests
 * once, whoever loads it first, and keeps the front.
 */
const FOLDERS_APART = ["engine/sandbox/sdks/", "node-front/"];

/** Deals test files out to so many processes, like cards, so that neighbours, which take equally long, come apart. */
export function dealtFiles(
  names: readonly string[],
  processesMax: number,
): readonly (readonly string[])[] {
  const isApart = (name: string) => FOLDERS_APART.some((folder) => name.startsWith(folder));
  const shared = names.filter((name) => !isApart(name));
  const count = Math.min(processesMax, shared.length);
  const dealt = Array.from({ length: count }, (_, index) =>
    shared.filter((_name, place) => place % count === index),
  );
  const apart = FOLDERS_APART.map((folder) => names.filter((name) => name.startsWith(folder)));
  return [...apart, ...dealt].filter((group) => group.length > 0);
}
