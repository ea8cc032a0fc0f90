import assert from "node:assert/strict";
import { statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeDataFolder } from "../../storage/data-folder.js";

test("a data folder is created with its parents, and an existing one is not changed", async (context) => {
  const root = await mkdtemp(join(tmpdir(), "parley-folder-"));
  context.after(() => rm(root, { recursive: true }));
  const path = join(root, "one", "two", "three");
  for (let time = 0; time < 2; time += 1) {
    makeDataFolder(path);
    assert.ok(statSync(path).isDirectory());
  }
});

test("a folder that cannot be created is refused with the system's message", async (context) => {
  const root = await mkdtemp(join(tmpdir(), "parley-folder-"));
  context.after(() => rm(root, { recursive: true }));
  const file = join(root, "file");
  writeFileSync(file, "");
  assert.throws(() => makeDataFolder(file), { code: "EEXIST" });
  assert.throws(() => makeDataFolder(join(file, "below")), /EEXIST|ENOTDIR/);
  assert.throws(() => makeDataFolder("/proc/parley/data"), { code: "ENOENT" });
});
