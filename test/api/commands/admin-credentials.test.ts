import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { adminCommand } from "../../../api/commands/admin-command.js";
import { type CommandSettings, databaseFileOf } from "../../../api/commands/data-folder.js";
import { CredentialCipher } from "../../../engine/security/credential-cipher.js";
import { developmentKeys } from "../../../engine/security/development-keys.js";
import { openDatabase } from "../../../storage/database.js";
import { providerRecord } from "../../storage/sample-records.js";
import { ran } from "./recording-terminal.js";

const OLD_KEY = "0f".repeat(32);
const NEW_KEY = "f0".repeat(32);

async function dataFolder(context: TestContext): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-credentials-"));
  context.after(() => rm(dataDir, { recursive: true }));
  return dataDir;
}

/** Creates global providers, each with credentials encrypted under this key. */
async function sealUnder(dataDir: string, keyHex: string, ...ids: readonly string[]) {
  const database = await openDatabase({ filePath: databaseFileOf(dataDir) });
  const sealedCredentials = new CredentialCipher(keyHex).seal({ apiKey: "sk-hidden" });
  for (const id of ids) {
    const provider = providerRecord({ id, name: `Name of ${id}`, sealedCredentials });
    await database.providers.insertGlobalIfAbsent(provider);
  }
  await database.close();
}

function credentials(settings: Omit<CommandSettings, "port">, ...args: readonly string[]) {
  return ran(
    adminCommand(() => ({ port: 0, ...settings })),
    "credentials",
    ...args,
  );
}

test("credentials that no key decrypts are listed by their providers' ids, and the others are re-encrypted", async (t) => {
  const dataDir = await dataFolder(t);
  await sealUnder(dataDir, OLD_KEY, "a", "b");
  const lost = Array.from({ length: 22 }, (_, index) => `lost-${index}`);
  await sealUnder(dataDir, "77".repeat(32), ...lost);
  const settings = { dataDir, encryptionKey: NEW_KEY, encryptionKeysOld: [OLD_KEY] };
  const audit = await credentials(settings, "audit");
  assert.equal(audit.exitCode, 1);
  assert.match(audit.output, /^opened by +credentials\ncurrent key +0\nold key 1 +2\nnone/);
  assert.match(
    audit.errors,
    /decrypts the credentials of provider lost-0, .*lost-19 and 2 more\n$/,
  );
  const reseal = await credentials(settings, "reseal");
  assert.equal(reseal.exitCode, 1);
  assert.equal(reseal.output, "Moved to the current key: 2 (already current: 0).\n");
  assert.match(reseal.errors, /provider lost-0, /);
  for (const { output, errors } of [audit, reseal]) {
    assert.doesNotMatch(output + errors, /hidden|Name of|[0-9a-f]{24}/);
  }
});

test("a development folder is audited with the key that was generated for it", async (t) => {
  const dataDir = await dataFolder(t);
  const { encryptionKey } = await developmentKeys(dataDir);
  await sealUnder(dataDir, encryptionKey, "a");
  const { exitCode, output } = await credentials({ dataDir }, "audit");
  assert.equal(exitCode, 0);
  assert.match(output, /^current key +1\nnone of the keys +0$/m);
});

test("without the server's keys the command fails and changes nothing", async (t) => {
  const dataDir = await dataFolder(t);
  await sealUnder(dataDir, OLD_KEY, "a");
  const settings: readonly Omit<CommandSettings, "port">[] = [
    { dataDir },
    { dataDir, isProduction: true },
    { dataDir, encryptionKeysOld: [OLD_KEY] },
  ];
  for (const [index, each] of settings.entries()) {
    // From the second case on there is a generated key, which must not be used.
    if (index === 1) await developmentKeys(dataDir);
    const { exitCode, output, errors } = await credentials(each, "reseal");
    assert.deepEqual([exitCode, output], [1, ""]);
    assert.match(errors, /^ENCRYPTION_KEY is not set: /);
  }
  const left = await credentials({ dataDir, encryptionKey: OLD_KEY }, "audit");
  assert.match(left.output, /^current key +1$/m);
});

test("an invalid command line changes nothing", async () => {
  for (const args of [[], ["fly"], ["reseal", "now"], ["audit", "--all"]]) {
    assert.equal((await credentials({ dataDir: "nowhere" }, ...args)).exitCode, 2, args.join(" "));
  }
});
