import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { keepPinnedBinaries } from "./front-end-binaries.mjs";

/**
 * `install.mjs [FOLDER] [--omit=dev]` installs the packages of a folder (by default this one) from the folder's own
 * lockfile and links them into the root's `node_modules`. Install scripts of other projects never run: npm 10 and 11.6
 * ignore an allow-list of them, and SQLite's script would load a binary that no lockfile pins. Only Node 20 needs a
 * compiled package: SQLite, from the sources in its package; the package for Node 22 and later contains its binaries.
 * uWebSockets.js's binaries are checked against their pinned hashes.
 *
 * `npm ci` runs this before the build (`prepare` in package.json). With `--omit=dev` it installs only what a server
 * needs. `npm run sdks` installs the vendors' SDKs that test the sandbox.
 */
const own = dirname(fileURLToPath(import.meta.url));
const root = join(own, "../..");
const folder = resolve(process.argv.slice(2).find((word) => !word.startsWith("--")) ?? own);
const modules = join(folder, "node_modules");
const FIRST_NODE_WITH_BINARY = 22;
const SQLITE_OF_NODE_20 = "better-sqlite3-node20";
const withoutDevelopment =
  process.argv.includes("--omit=dev") ||
  (process.env.npm_config_omit ?? "").split(/\s+/).includes("dev");

if (folder === own) keepPinnedBinaries(join(root, "node_modules/uWebSockets.js/dist/bin"));
installFromLockfile();
const isOldNode = Number.parseInt(process.versions.node, 10) < FIRST_NODE_WITH_BINARY;
if (isOldNode && folder === own) compileSqlite();
linkPackages();

/** Does nothing if the folder already matches the lockfile. */
function installFromLockfile() {
  const installedPath = join(modules, ".installed-lockfile");
  const lockfile = readFileSync(join(folder, "package-lock.json"), "utf8");
  const wanted = `${withoutDevelopment ? "without" : "with"} development\n${lockfile}`;
  if (existsSync(installedPath) && readFileSync(installedPath, "utf8") === wanted) return;
  npm("ci", "--ignore-scripts", "--loglevel=error", ...(withoutDevelopment ? ["--omit=dev"] : []));
  writeFileSync(installedPath, wanted);
}

/**
 * Compiles SQLite for Node 20 unless there is a binary that this Node can load. Without a C++ compiler the package's
 * own script downloads a binary, which no lockfile pins; a message says so.
 */
function compileSqlite() {
  const probe = `new (require(${JSON.stringify(join(modules, SQLITE_OF_NODE_20))}))(":memory:")`;
  if (spawnSync(process.execPath, ["-e", probe]).status === 0) return;
  const hasCompiler = [process.env.CXX ?? "c++", "make", "python3"].every(
    (tool) => spawnSync(tool, ["--version"], { stdio: "ignore" }).status === 0,
  );
  if (hasCompiler) {
    console.error(
      "Compiling SQLite for Node 20, about a minute; Node 22 and 24 need no compiling.",
    );
    npm(
      "rebuild",
      SQLITE_OF_NODE_20,
      "--ignore-scripts=false",
      "--build-from-source",
      "--loglevel=error",
    );
    return;
  }
  console.error(
    "c++, make or python3 is missing, so SQLite's install script downloads a binary that no lockfile pins. " +
      "Node 22 or 24 needs neither.",
  );
  npm("rebuild", SQLITE_OF_NODE_20, "--ignore-scripts=false", "--loglevel=error");
}

function linkPackages() {
  const { dependencies, devDependencies = {} } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const names = Object.keys(
    withoutDevelopment ? dependencies : { ...dependencies, ...devDependencies },
  );
  for (const name of names) {
    const link = join(root, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    // A plain folder at this place is from an installation of an earlier version.
    if (lstatSync(link, { throwIfNoEntry: false })) rmSync(link, { recursive: true });
    symlinkSync(relative(dirname(link), join(modules, name)), link, "dir");
  }
}

function npm(...args) {
  // The compiler uses every core.
  const environment = { JOBS: "max", ...process.env };
  // npm's own settings of the outer command, such as a workspace or a prefix, must not apply here.
  for (const name of ["npm_config_local_prefix", "npm_config_prefix", "npm_config_omit"]) {
    delete environment[name];
  }
  execFileSync("npm", args, {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
    env: environment,
  });
}
