import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type DealtFiles, dealtFiles } from "./dealt-files.js";
import { costTable, readCosts } from "./file-costs.js";

/**
 * Runs every *.test.js under this folder, or those whose path holds the words given as arguments. Those that need nginx,
 * ffmpeg, PostgreSQL, a browser, curl, another program of Debian, or the vendors' SDKs are in folders of their own, which run only when
 * an option names them, then alone. `--costs` says at the end which files took most CPU.
 */
const DEBIAN_FOLDERS = new Map([
  ["--livestream", "livestream-system/"],
  ["--deploy", "deploy-system/"],
  ["--browser", "browser-system/"],
  ["--docs", "docs-system/"],
  ["--postgres", "postgres-system/"],
  ["--sdks", "sdks/"],
]);
const debianFolder = DEBIAN_FOLDERS.get(process.argv[2] ?? "");
const needsDebian = debianFolder !== undefined;
const debianFolders = [...DEBIAN_FOLDERS.values()];
/** More for each core than one, since those that make calls mostly wait for what takes as long as it is spoken. */
const PROCESSES_PER_CORE = 4;
const PROCESSES_MAX = 16;
/** One of them has a third of a gigabyte in the end, the largest twice as much. */
const PROCESS_BYTES = 400 * 1024 ** 2;
const PROCESSES_AT_ONCE = Math.max(
  1,
  Math.min(
    PROCESSES_PER_CORE * Math.max(2, availableParallelism()),
    PROCESSES_MAX,
    Math.floor(process.availableMemory() / PROCESS_BYTES),
  ),
);
/** Several times what the longest takes on a machine with other work. */
const FILE_TIMEOUT_MS = 300_000;
/** One of them has six tests, each of which took a minute on a machine with ten times more to do than it has cores. */
const DEBIAN_FILE_TIMEOUT_MS = 900_000;
const PROCESS_TIMEOUT_MS = 1_800_000;
const root = fileURLToPath(new URL("./", import.meta.url));
const COSTS_OPTION = "--costs";
const COSTS_ROWS_MAX = 60;
const costsPath = process.argv.includes(COSTS_OPTION) ? join(root, "costs.jsonl") : undefined;
const filters = process.argv.slice(needsDebian ? 3 : 2).filter((word) => word !== COSTS_OPTION);
const names = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.js"))
  .filter((path) =>
    debianFolder === undefined
      ? !debianFolders.some((folder) => path.startsWith(folder))
      : path.startsWith(debianFolder),
  )
  .filter((path) => filters.length === 0 || filters.some((word) => path.includes(word)))
  .sort();

/** Programs that run the files, each of them once, in so many processes beside those that have files of their own. */
function processesOf({ apart, shared }: DealtFiles, processCount: number): readonly string[] {
  const folder = join(root, "processes");
  const claims = join(folder, "claims");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(claims, { recursive: true });
  const meter =
    costsPath === undefined ? "" : `, watcher: new CostMeter(${JSON.stringify(costsPath)})`;
  const program = (names: readonly string[], claiming: string) => {
    const files = names.map((name) => ({ name, url: pathToFileURL(join(root, name)).href }));
    return [
      'import "../late-optimization.js";',
      'import "../sequential-tests.js";',
      'const { CostMeter, FileClaims, runFiles } = await import("../shared-process.js");',
      `await runFiles(${JSON.stringify(files)}, { timeoutMs: ${FILE_TIMEOUT_MS}${claiming}${meter} });`,
    ].join("\n");
  };
  const claiming = `, claims: new FileClaims(${JSON.stringify(claims)})`;
  const sharing = Array.from({ length: Math.min(processCount, shared.length) }, () =>
    program(shared, claiming),
  );
  return [...apart.map((names) => program(names, "")), ...sharing].map((text, index) => {
    const path = join(folder, `${index + 1}.js`);
    writeFileSync(path, `${text}\n`);
    return path;
  });
}

/** Why SQLite does not load, such as a binary of another version of Node. Test processes would wait for its thread for ever. */
async function sqliteFault(): Promise<string | undefined> {
  try {
    const { Sqlite } = await import("../storage/sqlite/sqlite-library.js");
    new Sqlite(":memory:").close();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const sqliteFaultMessage = await sqliteFault();
if (sqliteFaultMessage !== undefined) {
  console.error(`SQLite does not load with Node ${process.version}: ${sqliteFaultMessage}`);
  console.error("Run npm ci with this version of Node.");
  process.exitCode = 1;
} else if (names.length === 0) {
  console.error(`no test file matches ${filters.join(" ")}`);
  process.exitCode = 1;
} else {
  // They wait for the next second of a broadcast, or for another program; but each browser keeps a core busy, and its sound breaks
  // off where it gets none, and the pages' calls are made beside other tests in CI.
  const concurrency = ["--browser", "--docs"].includes(process.argv[2] ?? "") ? 2 : 4;
  const tests = needsDebian
    ? run({
        files: names.map((name) => join(root, name)),
        concurrency,
        timeout: DEBIAN_FILE_TIMEOUT_MS,
      })
    : run({
        files: [...processesOf(dealtFiles(names), PROCESSES_AT_ONCE)],
        concurrency: PROCESSES_AT_ONCE,
        timeout: PROCESS_TIMEOUT_MS,
      });
  tests.on("test:fail", (event) => {
    if (event.todo === undefined) process.exitCode = 1;
  });
  if (costsPath !== undefined) {
    rmSync(costsPath, { force: true });
    process.once("exit", () => console.log(costTable(readCosts(costsPath), COSTS_ROWS_MAX)));
  }
  tests.compose(new spec()).pipe(process.stdout);
}
