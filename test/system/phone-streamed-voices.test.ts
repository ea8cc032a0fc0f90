import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { heard, ring } from "./telephone-stand.js";
import { TestServer } from "./test-server.js";

const SENTENCE =
  "This is one long sentence that goes on and on until everybody knows how it is going to end.";
/** Each in its own format: µ-law, MP3 and PCM at 24 kHz. */
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

for (const { tts, knob } of VOICES) {
  test(`on the telephone a sentence of ${tts} sounds before its voice has said its end`, async () => {
    const customer = await server.customer();
    await server.agent(customer, { persona: { greeting: SENTENCE } }, { tts });
    const caller = await ring(server, customer);
    const began = await caller.until(({ type }) => type === "audio");
    await heard(caller, SENTENCE);
    const ended = server.sandbox.journal.findLast(
      ({ vendor, kind }) => vendor === knob && kind === "lastByte",
    );
    assert.ok(ended);
    assert.ok(began.atNs < BigInt(ended.atNs), "it waited for the whole sentence");
    assert.equal(caller.heard(), SENTENCE, "no word was lost, and none said twice");
    await caller.hangUp();
    const call = await server.endedCall(customer);
    assert.deepEqual(
      call.transcript.map(({ text }) => text),
      [SENTENCE],
    );
  });
}
