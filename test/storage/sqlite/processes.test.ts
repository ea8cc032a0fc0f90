import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import {
  callRecord,
  insertOrganizations,
  METRICS,
  NOON_MS,
  organizationRecord,
} from "../sample-records.js";
import { temporaryDatabase, temporaryFile } from "../temporary-file.js";
import { otherProcess, saidBy } from "./other-process.js";

test("an administrator's process changes the database while the server writes to it", async (context) => {
  const filePath = temporaryFile();
  const database = await temporaryDatabase(context, filePath);
  await insertOrganizations(database);
  const admin = otherProcess(
    filePath,
    `const organization = await database.organizations.findByOwnerEmail("owner@bakery.test");
     for (let count = 0; count < 50; count += 1)
       await database.organizations.setStatus(organization.id, "active", ${NOON_MS + 1});
     await database.close();
     say("done");`,
  );
  const work = { isOver: false };
  const exit = once(admin, "exit").finally(() => {
    work.isOver = true;
  });
  let atMs = 0;
  while (!work.isOver) {
    atMs += 1;
    await database.calls.heartbeat("run", atMs);
  }
  assert.deepEqual(await exit, [0, null]);
  assert.deepEqual(
    await database.organizations.findById("org"),
    organizationRecord({ status: "active", updatedAtMs: NOON_MS + 1 }),
  );
});

test("acknowledged writes survive a kill of the process, and its calls are closed at the next start", async (context) => {
  const filePath = temporaryFile();
  const setup = await temporaryDatabase(context, filePath);
  await insertOrganizations(setup);
  await setup.close();
  const server = otherProcess(
    filePath,
    `await database.calls.start(${JSON.stringify(callRecord())}, "killed run");
     await database.calls.saveTurn("call", {
       messages: [{ role: "user", text: "Hello", timestamp: ${NOON_MS} }],
       metrics: ${JSON.stringify(METRICS)}, turn: { index: 0 }, atMs: ${NOON_MS + 5000} });
     say("saved");
     for (let atMs = 0; ; atMs += 1) await database.calls.heartbeat("other", atMs);`,
  );
  const exit = once(server, "exit");
  assert.equal(await saidBy(server), "saved");
  server.kill("SIGKILL");
  await exit;
  const { calls } = await temporaryDatabase(context, filePath);
  const call = await calls.findById("org", "call");
  assert.equal(call?.status, "active");
  assert.equal(call?.transcript[0]?.text, "Hello");
  assert.equal(await calls.closeAbandoned("next run", NOON_MS + 60_000), 1);
  assert.equal((await calls.findById("org", "call"))?.endedAtMs, NOON_MS + 5000);
});
