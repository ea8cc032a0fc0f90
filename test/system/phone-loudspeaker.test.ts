import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { COUNT, cleared, closeServer, heard, PacerWatch, ring } from "./telephone-stand.js";
import { TestServer } from "./test-server.js";

const COUNT_TO_SEVEN = COUNT.slice(0, COUNT.indexOf(" Number 8."));
const clock = new PacerWatch();
let server: TestServer;
before(async () => {
  server = await TestServer.start({ clock });
});
after(() => closeServer(server, clock));

test("an agent that hears itself continues even if STT mishears it, and stops for the caller", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  const caller = await ring(server, customer);
  await caller.say("count to 9");
  caller.speakerPhone.isOn = true;
  await heard(caller, COUNT);
  await caller.until(({ type }) => type === "quiet");

  await caller.say("count to 9");
  await caller.until(({ type }) => type === "audio");
  server.sandbox.faults.deepgram = { misheardEvery: 4 };
  await heard(caller, `${COUNT} ${COUNT_TO_SEVEN}`);
  // On a busy machine, the server may take a late, misheard last word for a turn instead of an echo.
  server.sandbox.faults.deepgram = {};
  await heard(caller, `${COUNT} ${COUNT}`);
  await caller.until(({ type }) => type === "quiet");
  assert.equal(caller.events.filter(cleared).length, 0);

  await caller.say("count to 9");
  await heard(caller, `${COUNT} ${COUNT} Number 1.`);
  const clear = caller.until(cleared);
  await caller.say("say bye");
  await clear;
  await caller.until(({ type }) => type === "audio");
  await caller.hangUp();
  const call = await server.endedCall(customer);
  assert.equal(call.metrics.interruptions, 1);
  const said = call.transcript.filter(({ role }) => role === "user").map(({ text }) => text);
  assert.deepEqual(said.slice(0, 3), ["count to 9", "count to 9", "count to 9"]);
  assert.equal(said.length, 4);
  assert.match(said[3] ?? "", /say bye/);
});
