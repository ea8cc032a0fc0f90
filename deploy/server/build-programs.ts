import { resolve } from "node:path";
import { bundlePrograms, PROGRAMS, replacePrograms } from "./program-bundle.js";

/**
 * `node build-programs.js DIST` runs once after the compiler: Node takes half a millisecond to load each module of a
 * program, and a server has more than a thousand. The other modules stay as compiled, for the tests that load them one
 * by one.
 */
const FOLDER = "bundle";

const [, , folder] = process.argv;
if (folder === undefined) {
  console.error("usage: build-programs.js DIST");
  process.exit(64);
}
const dist = resolve(folder);
await bundlePrograms(dist, FOLDER, PROGRAMS);
await replacePrograms(dist, FOLDER, PROGRAMS);
