import assert from "node:assert/strict";
import fileSystem, { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname } from "node:path";
import { test } from "node:test";
import { FileIdentity } from "../../../storage/sqlite/file-identity.js";
import { temporaryFile } from "../temporary-file.js";

function newFile(): string {
  const path = temporaryFile();
  mkdirSync(dirname(path));
  writeFileSync(path, "");
  return path;
}

test("a file that was moved and returned is the same one, and another one in its place is not", () => {
  const path = newFile();
  const identity = new FileIdentity(path);
  assert.equal(identity.fault(), undefined);
  renameSync(path, `${path}.away`);
  const other = (code: string, message: string) => ({ kind: "other", code, message });
  assert.deepEqual(identity.fault(), other("FILE_GONE", `${path} was deleted or moved away`));
  writeFileSync(path, "");
  assert.deepEqual(
    identity.fault(),
    other("FILE_REPLACED", `${path} was replaced by another file`),
  );
  renameSync(`${path}.away`, path);
  assert.equal(identity.fault(), undefined);
  const below = new FileIdentity(`${path}/below`);
  assert.equal(below.fault(), undefined, "it was never seen");
});

test("a file that appears later is identified from then on", () => {
  const path = newFile();
  rmSync(path);
  const identity = new FileIdentity(path);
  assert.equal(identity.fault(), undefined);
  writeFileSync(path, "");
  assert.equal(identity.fault(), undefined);
  rmSync(path);
  assert.equal(identity.fault()?.kind, "other");
});

test("a file that can no longer be read is reported with the system's message", () => {
  const path = newFile();
  const identity = new FileIdentity(path);
  rmSync(dirname(path), { recursive: true });
  writeFileSync(dirname(path), "a file in the folder's place");
  const fault = identity.fault();
  assert.equal(fault?.kind === "other" && fault.code, "FILE_GONE");
  assert.match(fault?.kind === "other" ? fault.message : "", /cannot be looked at: ENOTDIR/);
});

test("files are distinguished by numbers that are too large for a JavaScript number", (context) => {
  const { statSync } = fileSystem;
  let ino = 2n ** 60n;
  const numbered = (_path: unknown, options?: { readonly bigint?: boolean }) =>
    options?.bigint === true ? { dev: 1n, ino } : { dev: 1, ino: Number(ino) };
  Object.assign(fileSystem, { statSync: numbered });
  syncBuiltinESMExports();
  context.after(() => {
    Object.assign(fileSystem, { statSync });
    syncBuiltinESMExports();
  });
  const identity = new FileIdentity("parley.db");
  ino += 1n;
  assert.equal(identity.fault()?.kind, "other");
});
