import assert from "node:assert/strict";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { backupCommand } from "../../api/commands/backup-command.js";
import { ran } from "../api/commands/recording-terminal.js";
import { callListEntry, callListRecord, callListRow } from "../storage/calls/sample-call-list.js";
import { ended } from "./events.js";
import { TestServer } from "./test-server.js";

test("a backup of a running server works in a new folder, for calls of the same customers", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "parley-restores-"));
  t.after(() => rm(folder, { recursive: true }));
  const server = await TestServer.start();
  t.after(() => server.sandbox.close());
  const customer = await server.customer();
  await server.agent(customer);
  const { id: orgId } = customer.tenant.organization;
  const list = callListRecord({ orgId, state: "running" });
  const entry = { ...callListEntry("create"), orgId };
  await server.database.callLists.insertWithin(list, [callListRow(1)], 9, entry);
  const during = await server.call(customer);
  await during.say("say before");
  await during.until(ended);

  const file = join(folder, "copy.db");
  const { dataDir } = server;
  const copied = await ran(
    backupCommand(() => ({ dataDir, port: 0 })),
    file,
  );
  assert.equal(copied.exitCode, 0, copied.errors);
  await during.hangUp();
  await server.endedCall(customer);
  await server.parley.stop(0);
  await rm(dataDir, { recursive: true });

  const restoredDir = await mkdtemp(join(folder, "restored-"));
  await copyFile(file, join(restoredDir, "parley.db"));
  const restored = await TestServer.start({
    dataDir: restoredDir,
    sandbox: server.sandbox,
    environment: { DATABASE_START: "restored" },
  });
  const caller = await restored.call(customer);
  await caller.say("say after");
  await caller.until(ended);
  await caller.hangUp();
  const [interrupted, latest] = await restored.endedCalls(customer, 1);
  assert.deepEqual(
    [interrupted?.status, interrupted?.transcript.map(({ text }) => text)],
    ["failed", ["say before", "before"]],
    "calls that were in progress during the backup are closed, with their transcripts up to then",
  );
  assert.deepEqual(
    [latest?.status, latest?.transcript.map(({ text }) => text)],
    ["completed", ["say after", "after"]],
  );
  const paused = await restored.database.callLists.find(orgId, list.id);
  assert.deepEqual([paused?.state, paused?.holdCode], ["paused", "conflict"]);
  await restored.stop();
});
