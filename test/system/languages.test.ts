import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { CallRecord } from "../../storage/records.js";
import { ended, repliesOf } from "./events.js";
import { HeldService } from "./held-service.js";
import { TestServer } from "./test-server.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start({ environment: { ALLOW_PRIVATE_PROVIDERS: "true" } });
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

test("a tool that is called as the caller changes to German says its sentences in German, by the German voice", async (context) => {
  const service = await HeldService.for(context);
  const customer = await server.customer();
  const edge = await server.providerId("tts", "edge");
  const german = { language: "de-DE", providerId: edge, modelId: GERMAN_VOICE, voice: null };
  const sentences = { onStart: "Ich buche den Tisch.", onDelay: "Es dauert noch ein wenig." };
  const parameters = {
    type: "object",
    properties: { guests: { type: "integer" } },
    required: ["guests"],
  };
  await server.agent(customer, {
    sttModelId: "nova-3",
    persona: {
      languages: ["de-DE"],
      languageTexts: [
        {
          language: "de-DE",
          greeting: null,
          stockPhrases: {},
          toolSentences: { book_table: sentences },
        },
      ],
    },
    ttsConfig: { languageVoices: [german] },
    tools: [
      {
        type: "http",
        name: "book_table",
        description: "Books a table.",
        parameters,
        url: service.url,
        method: "POST",
        timeoutMs: 10_000,
        speak: true,
        onStart: "I am booking the table.",
        onDelay: "It takes a little longer.",
        onDelayMs: 500,
      },
    ],
  });
  const { changes, sandbox } = server;
  const caller = await server.call(customer);
  const saysInTurn = async (words: string, said: RegExp) => {
    await caller.say(words);
    await caller.until((event) => event.type === "transcript" && said.test(event.payload.text));
    service.release();
    await caller.until(ended);
  };
  await saysInTurn("please book table for 4 in the garden", /It takes a little longer/);
  await saysInTurn("ich möchte bitte book table für 5 im Garten", /Es dauert noch ein wenig/);
  await caller.hangUp();
  const call = await server.endedCall(customer);
  assert.deepEqual(
    spokenTurns(call).map(({ language, switchedFrom }) => [language, switchedFrom]),
    [
      ["en-US", undefined],
      ["de-DE", "en-US"],
    ],
  );
  assert.deepEqual(repliesOf(caller), [
    "I am booking the table. It takes a little longer. Your table is booked.",
    "Ich buche den Tisch. Es dauert noch ein wenig. Your table is booked.",
  ]);
  const spokenBy = (text: string) =>
    changes.until(`the voice that says "${text}"`, () => {
      const isOf = (entry: (typeof sandbox.journal)[number]) =>
        entry.kind === "request" && entry.text === text;
      const vendors = sandbox.journal.filter(isOf).map(({ vendor }) => vendor);
      return vendors.length > 0 && [...new Set(vendors)].join();
    });
  for (const text of Object.values(sentences)) assert.equal(await spokenBy(text), "edge", text);
  assert.notEqual(await spokenBy("I am booking the table."), "edge");
});
