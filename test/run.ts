import { readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

/**
 * Runs every *.test.js under this folder, or those whose path holds the words given as arguments. Those that need nginx,
 * ffmpeg, a browser or another program of Debian are in folders of their own, which run only when they are asked for, then
 * alone. What they wait for is mostly the next second of a broadcast, or another program, so more of them than there are cores.
 */
const DEBIAN_FOLDERS = new Map([
  ["--livestream", "livestream-system/"],
  ["--deploy", "deploy-system/"],
  ["--browser", "browser-system/"],
]);
const debianFolder = DEBIAN_FOLDERS.get(process.argv[2] ?? "");
const needsDebian = debianFolder !== undefined;
const debianFolders = [...DEBIAN_FOLDERS.values()];
const root = fileURLToPath(new URL("./", import.meta.url));
const filters = process.argv.slice(needsDebian ? 3 : 2);
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.js"))
  .filter((path) =>
    debianFolder === undefined
      ? !debianFolders.some((folder) => path.startsWith(folder))
      : path.startsWith(debianFolder),
  )
  .filter((path) => filters.length === 0 || filters.some((word) => path.includes(word)))
  .sort()
  .map((path) => join(root, path));

if (files.length === 0) {
  console.error(`no test file matches ${filters.join(" ")}`);
  process.exitCode = 1;
} else {
  // More files than cores: those that make calls mostly wait for what takes as long as it is spoken.
  const tests = run({ files, concurrency: 4, timeout: needsDebian ? 300_000 : 120_000 });
  tests.on("test:fail", (event) => {
    if (event.todo === undefined) process.exitCode = 1;
  });
  tests.compose(new spec()).pipe(process.stdout);
}
