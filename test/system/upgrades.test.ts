import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { checkDatabase } from "../../storage/sqlite/database-check.js";
import { SCHEMA_VERSION } from "../../storage/sqlite/sqlite-file.js";
import { makeOldDatabase } from "../storage/sqlite/old-database.js";
import { ended } from "./events.js";
import { type Customer, TestServer } from "./test-server.js";

const PERSONA = { greeting: "" };

let today: TestServer;
let customer: Customer;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-upgrades-"));
  today = await TestServer.start();
  customer = await today.customer();
  await today.agent(customer, { persona: PERSONA });
  const caller = await today.call(customer);
  await caller.say("say before");
  await caller.until(ended);
  await caller.hangUp();
  await today.endedCall(customer);
});
after(async () => {
  await today.stop();
  await rm(folder, { recursive: true });
});

for (let version = 1; version < SCHEMA_VERSION; version += 1) {
  test(`a server upgrades the database of a release with schema ${version} at its start, and works`, async () => {
    const dataDir = await mkdtemp(join(folder, "old-"));
    const filePath = join(dataDir, "parley.db");
    makeOldDatabase(join(today.dataDir, "parley.db"), filePath, version);
    const { sandbox } = today;
    const environment = { DATABASE_START: "restored" };
    const server = await TestServer.start({ dataDir, sandbox, environment });
    const caller = await server.call(customer);
    await caller.say("say after");
    await caller.until(ended);
    await caller.hangUp();
    await server.endedCalls(customer, 1);
    const calls = await server.calls(customer);
    assert.deepEqual(
      calls.map(({ status, transcript }) => [status, transcript.map(({ text }) => text)]),
      [
        ["completed", ["say before", "before"]],
        ["completed", ["say after", "after"]],
      ],
    );
    const headers = { "x-api-key": customer.apiKey };
    const audit = await fetch(`${server.url}/api/dashboard/audit`, { headers });
    assert.equal(audit.status, 200, await audit.text());
    await server.stop();
    assert.deepEqual(checkDatabase(filePath).findings, []);
  });
}
