import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { backupCommand } from "../../../api/commands/backup-command.js";
import { readCommandSettings } from "../../../api/commands/data-folder.js";
import { openDatabase } from "../../../storage/database.js";
import { TestServer } from "../../system/test-server.js";
import { ran } from "./recording-terminal.js";

let server: TestServer;
let folder: string;
before(async () => {
  server = await TestServer.start();
  folder = await mkdtemp(join(tmpdir(), "parley-backup-"));
});
after(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const backup = (...args: readonly string[]) =>
  ran(
    backupCommand(() => ({ dataDir: server.dataDir, port: 0 })),
    ...args,
  );

test("the database of a running server is copied, checked and measured", async () => {
  const { email } = await server.customer();
  const file = join(folder, "copy.db");
  const copying = backup(file);
  const later = server.customer();
  const { exitCode, output, errors } = await copying;
  await later;
  assert.equal(errors, "");
  assert.equal(exitCode, 0);
  assert.match(output, /^Copied .*parley\.db to .*copy\.db: \d+ kB in \d+(?:\.\d)? m?s\.$/m);
  assert.match(output, /ENCRYPTION_KEY is not in it/);

  const copy = await openDatabase({ filePath: file });
  const owners = (await copy.organizations.list()).map(({ organization }) => organization);
  await copy.close();
  assert.ok(owners.some(({ ownerEmail }) => ownerEmail === email));
  assert.deepEqual(await readdir(folder), ["copy.db"], "nothing else is left behind");
});

test("an existing file is not changed", async () => {
  const file = join(folder, "precious.txt");
  await writeFile(file, "precious");
  const { exitCode, output, errors } = await backup(file);
  assert.equal(exitCode, 1);
  assert.equal(output, "");
  assert.match(errors, /precious\.txt already exists and is not overwritten$/m);
});

test("a missing folder or database is named", async () => {
  const nowhere = await backup(join(folder, "none", "copy.db"));
  assert.equal(nowhere.exitCode, 1);
  assert.match(nowhere.errors, /^there is no folder .*none$/m);

  const empty = backupCommand(() => ({ dataDir: folder, port: 0 }));
  const nothing = await ran(empty, join(folder, "other.db"));
  assert.equal(nothing.exitCode, 1);
  assert.match(nothing.errors, /^there is no database .*parley\.db/);
});

test("exactly one file is required", async () => {
  for (const args of [[], ["one", "two"], ["--fast", "one"]]) {
    const { exitCode, errors } = await backup(...args);
    assert.equal(exitCode, 2);
    assert.match(errors, /See --help/);
  }
});

test("commands require none of the secrets that a production server requires", () => {
  const { NODE_ENV, DATA_DIR } = process.env;
  process.env["NODE_ENV"] = "production";
  process.env["DATA_DIR"] = folder;
  try {
    assert.equal(readCommandSettings().dataDir, folder);
  } finally {
    restore("NODE_ENV", NODE_ENV);
    restore("DATA_DIR", DATA_DIR);
  }
});

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
