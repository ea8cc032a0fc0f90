import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";
import { debianProgram } from "../../bench/stand/debian-program.js";

const ROOT = packageRoot();
const PRUNE = join(ROOT, "deploy/prune-binaries.sh");

test("shellcheck finds nothing in any script", () => {
  const paths = [".ci", "deploy"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
  );
  const scripts = paths.filter((path) =>
    /^#!.*\b(?:ba)?sh\b/.test(readFileSync(join(ROOT, path), "utf8")),
  );
  assert.ok(scripts.includes("deploy/prune-binaries.sh"));
  assert.ok(scripts.includes(".ci/run"));
  const args = ["--external-sources", "--source-path=SCRIPTDIR", ...scripts];
  const told = spawnSync(debianProgram("shellcheck"), args, { cwd: ROOT, encoding: "utf8" });
  assert.equal(told.stdout, "");
  assert.equal(told.status, 0);
});

test("prune-binaries.sh refuses a folder whose SQLite has no binary, and takes nothing of SQLite away", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-prune-"));
  context.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "uWebSockets.js/dist/bin"), { recursive: true });
  for (const sqlite of ["better-sqlite3", "better-sqlite3-node20"]) {
    mkdirSync(join(folder, sqlite, "src"), { recursive: true });
  }
  writeFileSync(join(folder, "uWebSockets.js/dist/bin/uws_none_none_1.node"), "");
  const told = spawnSync(PRUNE, [folder], { encoding: "utf8" });
  assert.equal(told.status, 1);
  assert.match(told.stderr, /has no uws_.*nothing of it is kept[^]*install\.mjs makes it/);
  assert.deepEqual(readdirSync(join(folder, "better-sqlite3")), ["src"]);
  assert.deepEqual(readdirSync(join(folder, "better-sqlite3-node20")), ["src"]);
});
