import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";
import { debianProgram } from "../../bench/stand/debian-program.js";

const ROOT = packageRoot();
const PRUNE = join(ROOT, "deploy/prune-binaries.sh");

test("shellcheck reports nothing for any script", () => {
  const paths = [".ci", "deploy"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
      // Scripts of other projects.
      .filter((path) => !path.includes("node_modules/")),
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

test("prune-binaries.sh refuses a folder whose SQLite has no binary, and removes nothing of SQLite", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-prune-"));
  context.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "uWebSockets.js/dist/bin"), { recursive: true });
  for (const sqlite of ["better-sqlite3", "better-sqlite3-node20"]) {
    mkdirSync(join(folder, sqlite, "src"), { recursive: true });
  }
  writeFileSync(join(folder, "uWebSockets.js/dist/bin/uws_none_none_1.node"), "");
  const told = spawnSync(PRUNE, [folder], { encoding: "utf8" });
  assert.equal(told.status, 1);
  assert.match(
    told.stderr,
    /has no uws_.*nothing of it is kept[^]*create it with node deploy\/packages\/install\.mjs/,
  );
  assert.deepEqual(readdirSync(join(folder, "better-sqlite3")), ["src"]);
  assert.deepEqual(readdirSync(join(folder, "better-sqlite3-node20")), ["src"]);
});

test("prune-binaries.sh keeps SQLite's binary for this Node, and the modules that load it", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-prune-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const [modules, packages] = [join(folder, "node_modules"), join(folder, "packages")];
  const put = (path: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, path);
  };
  const { platform, arch, versions } = process;
  put(join(modules, `uWebSockets.js/dist/bin/uws_${platform}_${arch}_${versions.modules}.node`));
  put(join(modules, "uWebSockets.js/dist/bin/uws_none_none_1.node"));
  const builds = [
    "lib/index.js",
    "deps/sqlite3.c",
    "src/addon.cpp",
    "build/Release/better_sqlite3.node",
    "build/Release/obj/addon.o",
    "prebuilds/none-none.node",
    `prebuilds/${platform}-${arch}.node`,
    `prebuilds/${platform}musl-${arch}.node`,
  ];
  for (const sqlite of ["better-sqlite3", "better-sqlite3-node20"]) {
    for (const path of builds) put(join(packages, sqlite, path));
    symlinkSync(join("../packages", sqlite), join(modules, sqlite), "dir");
  }
  for (const path of ["bindings/bindings.js", "file-uri-to-path/index.js", "tar-fs/index.js"]) {
    put(join(packages, path));
  }
  const told = spawnSync(PRUNE, [modules], { encoding: "utf8" });
  assert.deepEqual([told.status, told.stderr], [0, ""]);
  const isOld = Number.parseInt(versions.node, 10) < 22;
  const kept = isOld ? "better-sqlite3-node20" : "better-sqlite3";
  const left = readdirSync(packages, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(packages, join(entry.parentPath, entry.name)));
  const library = left.filter((path) => path.startsWith(kept));
  assert.equal(library.filter((path) => path.endsWith(".node")).length, 1);
  assert.deepEqual(
    left.filter((path) => !path.endsWith(".node")).toSorted(),
    [`${kept}/lib/index.js`, "bindings/bindings.js", "file-uri-to-path/index.js"].toSorted(),
  );
  assert.deepEqual(readdirSync(modules).toSorted(), [kept, "uWebSockets.js"].toSorted());
  assert.equal(readdirSync(join(modules, "uWebSockets.js/dist/bin")).length, 1);
});

test("only the pinned uWebSockets.js binaries for this system are kept, and a changed one is refused", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-front-end-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const own = `uws_${process.platform}_${process.arch}_115.node`;
  const unknown = `uws_${process.platform}_${process.arch}_999.node`;
  for (const name of [own, unknown, "uws_plan9_x64_115.node"]) {
    writeFileSync(join(folder, name), "binary");
  }
  const check = (pin: string) => {
    const module = join(ROOT, "deploy/packages/front-end-binaries.mjs");
    const call = `keepPinnedBinaries(${JSON.stringify(folder)}, ${JSON.stringify({ [own]: pin })})`;
    const script = `import { keepPinnedBinaries } from ${JSON.stringify(module)}; ${call};`;
    const args = ["--input-type=module", "--eval", script];
    return spawnSync(process.execPath, args, { encoding: "utf8" });
  };
  const sha256 = createHash("sha256").update("binary").digest("hex");
  assert.deepEqual([check(sha256).status, readdirSync(folder)], [0, [own]]);
  const refused = check("0".repeat(64));
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /115\.node has the SHA-256 [0-9a-f]{64}, but 0{64} is pinned/);
  assert.deepEqual(readdirSync(folder), [own]);
});

test("the uWebSockets.js binaries of this installation are the pinned ones", () => {
  const folder = join(ROOT, "node_modules/uWebSockets.js/dist/bin");
  const names = readdirSync(folder);
  const system = `uws_${process.platform}_${process.arch}_`;
  assert.ok(
    names.every((name) => name.startsWith(system)),
    names.join(", "),
  );
  assert.ok(names.length <= 2);
});
