import { rm } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundlePrograms } from "../../../../deploy/server/program-bundle.js";

const DIST = fileURLToPath(new URL("../../../../", import.meta.url));
/** When coverage is collected, the compiled modules themselves have to run. */
const IS_MEASURED = process.env["NODE_V8_COVERAGE"] !== undefined;

export interface LoadedAtOnce {
  readonly url: string;
  remove(): Promise<void>;
}

let madeCount = 0;

/**
 * The module with all of its imports in a few files, for processes that are started repeatedly: loading hundreds of
 * modules is most of their work.
 */
export async function loadedAtOnce(moduleUrl: string): Promise<LoadedAtOnce> {
  if (IS_MEASURED) return { url: moduleUrl, remove: async () => undefined };
  madeCount += 1;
  // A bundle finds the files beside its modules only from a folder directly below the build.
  const folder = `loaded-at-once-${process.pid}-${madeCount}`;
  const program = relative(DIST, fileURLToPath(moduleUrl)).split(sep).join("/");
  await bundlePrograms(DIST, folder, [program]);
  const path = join(DIST, folder, program.replaceAll("/", "-"));
  return {
    url: pathToFileURL(path).href,
    remove: () => rm(join(DIST, folder), { recursive: true }),
  };
}
