import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { CallRecord } from "../../storage/records.js";
import { ended, repliesOf } from "./events.js";
import { TestServer } from "./test-server.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

const ENGLISH_VOICE = "en-US-AriaNeural";
const GERMAN_VOICE = "de-DE-KatjaNeural";

/** What the record keeps of each of the caller's turns, and which voice answered. */
function spokenTurns({ metadata: { turns } }: CallRecord) {
  assert.ok(Array.isArray(turns));
  return turns.map(({ endOfTurn: { language, switchedFrom }, tts }) => {
    return { language, switchedFrom, voice: tts.model };
  });
}

for (const sttModelId of ["nova-3", "flux-general-multi"]) {
  test(`a caller who changes to German is answered in German, by the German voice: ${sttModelId}`, async () => {
    const customer = await server.customer();
    const edge = await server.providerId("tts", "edge");
    const german = { language: "de-DE", providerId: edge, modelId: GERMAN_VOICE, voice: null };
    await server.agent(
      customer,
      {
        sttModelId,
        persona: { languages: ["de-DE"] },
        ttsConfig: { languageVoices: [german] },
      },
      { tts: "edge" },
    );
    const caller = await server.call(customer);
    for (const words of ["say hello.", "Guten Morgen, wie geht es Ihnen?", "say goodbye to me."]) {
      await caller.say(words);
      await caller.until(ended);
    }
    await caller.hangUp();
    const call = await server.endedCall(customer);
    assert.equal(call.metadata["language"], "en-US");
    assert.deepEqual(repliesOf(caller), [
      "hello.",
      "Sie sagten: Guten Morgen, wie geht es Ihnen. Das war Nachricht 2.",
      "goodbye to me.",
    ]);
    assert.deepEqual(spokenTurns(call), [
      { language: "en-US", switchedFrom: undefined, voice: ENGLISH_VOICE },
      { language: "de-DE", switchedFrom: "en-US", voice: GERMAN_VOICE },
      { language: "en-US", switchedFrom: "de-DE", voice: ENGLISH_VOICE },
    ]);
  });
}

test("a call that has changed its language says the author's phrases of that language", async () => {
  const customer = await server.customer();
  const languageTexts = [
    {
      language: "de-DE",
      greeting: "Guten Tag.",
      stockPhrases: { callEndedByOrganization: "Tschüss zusammen." },
    },
  ];
  const stockPhrases = { callEndedByOrganization: "So long." };
  const persona = { greeting: "Good day.", languages: ["de-DE"], languageTexts, stockPhrases };
  await server.agent(customer, { sttModelId: "nova-3", persona });
  const caller = await server.call(customer);
  await caller.until(ended);
  await caller.say("Guten Morgen, wie geht es Ihnen?");
  await caller.until(ended);
  const [live] = await server.calls(customer);
  const url = `${server.url}/api/dashboard/calls/${live?.id}/end`;
  const headers = { "x-api-key": customer.apiKey };
  assert.equal((await fetch(url, { method: "POST", headers })).status, 200);
  await caller.until(({ type }) => type === "closed");
  const { transcript } = await server.endedCall(customer);
  const said = transcript.flatMap(({ role, text }) => (role === "assistant" ? [text] : []));
  assert.deepEqual([said[0], said.at(-1)], ["Good day.", "Tschüss zusammen."]);
});

test("a caller who returns is still answered in the language that the conversation had come to", async () => {
  const customer = await server.customer();
  const edge = await server.providerId("tts", "edge");
  const german = { language: "de-DE", providerId: edge, modelId: GERMAN_VOICE, voice: null };
  const persona = { languages: ["de-DE"] };
  const ttsConfig = { languageVoices: [german] };
  await server.agent(customer, { sttModelId: "nova-3", persona, ttsConfig }, { tts: "edge" });
  const caller = await server.call(customer);
  await caller.say("Guten Morgen, wie geht es Ihnen?");
  await caller.until(ended);
  await caller.hangUp();
  await server.endedCall(customer);
  const { historyKey: sessionId = "" } = caller;
  const again = await server.call(customer, { sessionId });
  await again.say("Danke.");
  await again.until(ended);
  await again.hangUp();
  const [, second] = await server.endedCalls(customer, 2);
  assert.ok(second);
  assert.deepEqual(spokenTurns(second), [
    { language: "de-DE", switchedFrom: undefined, voice: GERMAN_VOICE },
  ]);
  assert.match(repliesOf(again).join(), /^Sie sagten: Danke/);
  assert.equal(second.metadata["language"], "de-DE");
});
