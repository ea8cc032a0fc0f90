import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Sandbox, startSandbox } from "../../engine/sandbox/sandbox.js";
import { closeOf, ended } from "./events.js";
import { TestServer } from "./test-server.js";

const RESTARTING = "the server is restarting";

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());

/** The server is stopped in its own process; stops.test.ts has the same tests for processes that receive signals. */
async function serverInACall() {
  const server = await TestServer.start({ sandbox });
  const customer = await server.customer();
  await server.agent(customer);
  return { server, customer, caller: await server.call(customer) };
}

test("a stopping server lets the call in progress finish, and accepts no other", async () => {
  const { server, customer, caller } = await serverInACall();
  const stopped = server.stop(60_000);
  const { code, error } = await closeOf(server.dial(customer));
  assert.deepEqual({ code, error }, { code: 1012, error: RESTARTING });
  await caller.say("say ok");
  await caller.until(ended);
  await caller.hangUp();
  await stopped;
  await assert.rejects(fetch(`${server.url}/api/health`), "nothing listens any more");
});

test("a stopping server ends a call that does not finish in time, with the reason", async () => {
  const { server, caller } = await serverInACall();
  const stopped = server.stop(1);
  assert.deepEqual(await closeOf(caller), { code: 1012, reason: RESTARTING, error: RESTARTING });
  await stopped;
  await assert.rejects(fetch(`${server.url}/api/health`), "nothing listens any more");
});
