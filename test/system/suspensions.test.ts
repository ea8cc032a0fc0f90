import assert from "node:assert/strict";
import { test } from "node:test";
import { closeOf, ended } from "./events.js";
import { closeOfPhone, ring } from "./telephone-stand.js";
import { TestServer } from "./test-server.js";

test("suspending an organization ends its calls with a spoken reason, and no others", async () => {
  const server = await TestServer.start();
  const [suspended, other] = [await server.customer(), await server.customer()];
  for (const customer of [suspended, other]) await server.agent(customer);
  const caller = await server.call(suspended);
  const phone = await ring(server, suspended);
  const bystander = await server.call(other);
  await caller.say("count to 9");
  await server.tenancy.organizations.suspend(suspended.email);
  const goodbye = /this service has been suspended/;
  assert.equal((await closeOfPhone(phone)).code, 4001);
  assert.match(phone.said(), goodbye);
  assert.equal((await closeOf(caller)).code, 4001);
  const words = (await caller.playedReplies()).map(({ text }) => text).join(" ");
  assert.match(words, goodbye);
  const calls = await server.endedCalls(suspended, 2);
  assert.deepEqual(
    calls.map(({ status, metadata }) => [status, metadata["endReason"]]),
    [
      ["completed", "suspended"],
      ["completed", "suspended"],
    ],
  );
  assert.equal((await closeOf(server.dial(suspended))).code, 4001);
  await bystander.say("say ok");
  await bystander.until(ended);
  await bystander.hangUp();
  await server.close();
});
