import { rm } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundlePrograms } from "../../../../deploy/server/program-bundle.js";

const DIST = fileURLToPath(new URL("../../../../", import.meta.url));
/** Where coverage is collected, what is run has to be what was compiled. */
const IS_MEASURED = process.env["NODE_V8_COVERAGE"] !== undefined;

export interface LoadedAtOnce {
  readonly url: string;
  remove(): Promise<void>;
}

let madeCount = 0;

/**
 * The module with all that it imports in a few files, for processes that are started again and again: loading hundreds of
 * modules is most of what each of them does.
 */
export async function loadedAtOnce(moduleUrl: string): Promise<LoadedAtOnce> {
  if (IS_MEASURED) return { url: moduleUrl, remove: async () => undefined };
  madeCount += 1;
  // A bundle finds what lies beside its modules from one folder below the build.
  const folder = `loaded-at-once-${process.pid}-${madeCount}`;
  const program = relative(DIST, fileURLToPath(moduleUrl)).split(sep).join("/");
  await bundlePrograms(DIST, folder, [program]);
  const path = join(DIST, folder, program.replaceAll("/", "-"));
  return {
    url: pathToFileURL(path).href,
    remove: () => rm(join(DIST, folder), { recursive: true }),
  };
}
