import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CallListener } from "./call-listener.js";
import { ended } from "./events.js";
import { TestServer } from "./test-server.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

/** The text that STT returns for a caller with a rare name, and the agent's pronunciation of it. */
async function conversation(keyterms: readonly string[]) {
  const customer = await server.customer();
  await server.agent(customer, {
    persona: {
      greeting: "Good day.",
      keyterms,
      pronunciations: [{ word: "Siobhan", say: "shivawn" }],
    },
  });
  const caller = await server.call(customer);
  await caller.until(ended);
  const [call] = await server.calls(customer);
  assert.ok(call);
  const headers = { "x-api-key": customer.apiKey };
  const listener = await CallListener.open({ url: server.url, callId: call.id, headers });
  await listener.changes.until("the first sound", () => listener.rateHz || undefined);
  await caller.say("say I am Siobhan");
  await caller.until(ended);
  await caller.hangUp();
  await listener.changes.until("the end", () => listener.closed);
  const { transcript } = await server.endedCall(customer);
  return { words: transcript.map(({ text }) => text), voice: listener.rightWords };
}

test("a rare name is recognized because of its keyterm, and spoken by its pronunciation", async () => {
  server.sandbox.faults.deepgram = { rareWord: "Siobhan" };
  const without = await conversation([]);
  assert.ok(without.words.includes("say I am murmur"), without.words.join("\n"));
  const { words, voice } = await conversation(["{{name|Siobhan}}", "Aoife"]);
  assert.ok(words.includes("say I am Siobhan"), words.join("\n"));
  assert.equal(words.at(-1), "I am Siobhan", "the transcript keeps the written word");
  assert.match(voice, /I am shivawn/);
});
