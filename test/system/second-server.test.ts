import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DATABASE_FILE } from "../../config.js";
import { ended } from "./events.js";
import { newDataDir, TestServer } from "./test-server.js";

test("a second server on the same folder is refused, and the calls of the first continue", async () => {
  const server = await TestServer.start();
  const { dataDir, sandbox } = server;
  const customer = await server.customer();
  await server.agent(customer);
  const caller = await server.call(customer);
  await assert.rejects(TestServer.start({ dataDir, sandbox }), /another server runs on/);
  await caller.say("say ok");
  await caller.until(ended);
  await caller.hangUp();
  const call = await server.endedCall(customer);
  assert.equal(call.status, "completed");
  assert.deepEqual(
    call.transcript.map(({ text }) => text),
    ["say ok", "ok"],
  );
  await server.stop();
});

test("a second server that finds no lock file does not start, and leaves the calls of the first alone", async () => {
  const server = await TestServer.start();
  const { dataDir, sandbox } = server;
  const customer = await server.customer();
  await server.agent(customer);
  const caller = await server.call(customer);
  await rm(join(dataDir, `${DATABASE_FILE}.lock`));
  await assert.rejects(TestServer.start({ dataDir, sandbox }), /another server runs on/);
  await caller.say("say ok");
  await caller.until(ended);
  await caller.hangUp();
  const call = await server.endedCall(customer);
  assert.equal(call.status, "completed");
  await server.stop();
});

test("a server that cannot listen releases its database, and can be started again", async (context) => {
  const server = await TestServer.start();
  context.after(() => server.stop());
  const dataDir = await newDataDir();
  context.after(() => rm(dataDir, { recursive: true }));
  const { sandbox } = server;
  const environment = { PORT: String(server.parley.port) };
  await assert.rejects(TestServer.start({ dataDir, sandbox, environment }), /the port is in use/);
  const again = await TestServer.start({ dataDir, sandbox });
  await again.stop();
});
