import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { EdgeFault, SpeechFault } from "../../engine/sandbox/faults.js";
import { ring } from "./telephone-stand.js";
import { TestServer } from "./test-server.js";

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

interface Told {
  /** The words decoded from the tones on the caller's line. */
  readonly heard: string;
  readonly recorded: string;
}

/** Makes the agent greet a telephone caller, and decodes the caller's audio to its last sample. */
async function greeted(
  { tts, knob }: (typeof VOICES)[number],
  fault: SpeechFault & EdgeFault,
  times?: number,
): Promise<Told> {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: SENTENCE } }, { tts });
  server.sandbox.faults[knob] = times === undefined ? { fault } : { fault, times };
  const caller = await ring(server, customer);
  const isOver = ({ type }: { readonly type: string }) => type === "quiet";
  if (!caller.events.some(isOver)) await caller.until(isOver);
  await caller.hangUp();
  const call = await server.endedCall(customer);
  server.sandbox.faults[knob] = {};
  return {
    heard: caller.playedText(),
    recorded: call.transcript.map(({ text }) => text).join(" "),
  };
}

/** Where a retry of a sentence takes over, one word may be cut and one may be said twice. */
const SEAM_WORDS_MAX = 2;

/** Every word of the record must be heard, in order, with no more extra words than the retries can add. */
function assertRecorded({ heard, recorded }: Told, seams: number): void {
  const [sound, words] = [heard.split(" "), recorded.split(" ")];
  let at = 0;
  for (const word of words) {
    at = sound.indexOf(word, at) + 1;
    assert.ok(at > 0, `"${word}" is in the record, but not in "${heard}"`);
  }
  const others = sound.length - words.length;
  assert.ok(others <= seams * SEAM_WORDS_MAX, `${others} extra words in "${heard}"`);
}

describe("the words on the telephone and in the record match", {
  concurrency: VOICES.length,
}, () => {
  for (const voice of VOICES) {
    test(`of ${voice.tts}, where it gives silence, breaks off or ends too early`, async () => {
      for (const fault of ["silentAudio", "disconnectMidStream"] as const) {
        const told = await greeted(voice, fault, 1);
        assert.deepEqual(told, { heard: SENTENCE, recorded: SENTENCE }, fault);
      }
      const half = await greeted(voice, "halfAudio", 1);
      assert.equal(half.recorded, SENTENCE, "a retry says the rest");
      assertRecorded(half, 1);
      const halves = await greeted(voice, "halfAudio");
      assert.notEqual(halves.recorded, SENTENCE, "not recorded as heard in full");
      assertRecorded(halves, 2);
    });
  }
});
