import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { heard, ring } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";
import { gapsToldOf } from "./told-gaps.js";
import { withUnendedVoice } from "./unended-voice.js";

const SENTENCE =
  "This is one long sentence that goes on and on until everybody knows how it is going to end.";
/** Each voice has its own format: µ-law, MP3 and PCM at 24 kHz. */
const VOICES = [
  { tts: "elevenlabs", knob: "elevenlabs" },
  { tts: "edge", knob: "edge" },
  { tts: "openai", knob: "openaiSpeech" },
] as const;

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

async function greetedBy(tts: (typeof VOICES)[number]["tts"]): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: SENTENCE } }, { tts });
  return customer;
}

for (const { tts, knob } of VOICES) {
  test(`on the telephone a sentence of ${tts} is played before TTS has sent its end, and is heard completely`, async () => {
    const first = await greetedBy(tts);
    await withUnendedVoice(server, knob, async () => {
      const caller = await ring(server, first);
      await caller.until(({ type }) => type === "audio");
      await caller.hangUp();
      await server.endedCall(first);
    });
    const customer = await greetedBy(tts);
    const caller = await ring(server, customer);
    await heard(caller, SENTENCE);
    assert.equal(caller.playedText(), SENTENCE, "no word was lost, and none said twice");
    await caller.hangUp();
    const call = await server.endedCall(customer);
    assert.deepEqual(
      call.transcript.map(({ text }) => text),
      [SENTENCE],
    );
  });
}

test("gaps that a caller heard, because TTS was slower than real time, are in record and metrics", async () => {
  const customer = await greetedBy("elevenlabs");
  server.sandbox.faults.elevenlabs = { realTimeFactor: 0.5, chunkMs: 200 };
  const gaps = await gapsToldOf(server, customer, async () => {
    const caller = await ring(server, customer);
    const isWhole = ({ type }: { readonly type: string }) => type === "markEchoed";
    if (!caller.events.some(isWhole)) await caller.until(isWhole);
    await caller.hangUp();
  });
  assert.ok(gaps > 0);
});
