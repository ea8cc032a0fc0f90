import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { CredentialCipher } from "../../../engine/security/credential-cipher.js";
import {
  developmentKeys,
  storedDevelopmentKeys,
} from "../../../engine/security/development-keys.js";

async function dataFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-keys-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test("keys are generated once for a data folder, and are valid for tokens and credentials", async (t) => {
  const folder = await dataFolder(t);
  const made = await developmentKeys(folder);
  assert.equal(made.isNew, true);
  assert.match(made.jwtSecret, /^[0-9a-f]{64}$/);
  assert.ok(new CredentialCipher(made.encryptionKey));
  assert.deepEqual(await developmentKeys(folder), { ...made, isNew: false });
  const { isNew: _isNew, ...keys } = made;
  const text = await readFile(join(folder, "keys.json"), "utf8");
  assert.equal(text, `${JSON.stringify(keys, undefined, 2)}\n`);
});

test("only the owner can read the stored keys", async (t) => {
  const folder = await dataFolder(t);
  await developmentKeys(folder);
  const { mode } = await stat(join(folder, "keys.json"));
  assert.equal(mode & 0o777, 0o600);
});

test("a damaged file of keys is an error and is never replaced, since credentials are sealed under it", async (t) => {
  const folder = await dataFolder(t);
  for (const damaged of ["", "{}", '{"jwtSecret":"short","encryptionKey":"00"}']) {
    await writeFile(join(folder, "keys.json"), damaged);
    await assert.rejects(developmentKeys(folder));
  }
});

test("keys that cannot be read are an error and do not count as missing", async (t) => {
  const folder = await dataFolder(t);
  assert.equal(await storedDevelopmentKeys(folder), undefined);
  await mkdir(join(folder, "keys.json"));
  await assert.rejects(storedDevelopmentKeys(folder), { code: "EISDIR" });
});

test("a secret of 32 characters is accepted, and one of 31 is not", async (t) => {
  const folder = await dataFolder(t);
  const keys = { jwtSecret: "s".repeat(32), encryptionKey: "5a".repeat(32) };
  await writeFile(join(folder, "keys.json"), JSON.stringify(keys));
  assert.deepEqual(await storedDevelopmentKeys(folder), keys);
  await writeFile(
    join(folder, "keys.json"),
    JSON.stringify({ ...keys, jwtSecret: "s".repeat(31) }),
  );
  await assert.rejects(storedDevelopmentKeys(folder));
});
