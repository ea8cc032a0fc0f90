import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { MP3, PCM_24K } from "../../../engine/audio/audio-format.js";
import { AudioPool } from "../../../engine/audio/audio-pool.js";
import { CheckedVoice, SILENT_MP3_MAX_BYTES } from "../../../engine/calls/checked-voice.js";
import { corruptedAudio, speak } from "../../../engine/sandbox/sound/simulated-voice.js";
import { SpeechDurations } from "../../../engine/vendors/chain/speech-durations.js";
import type { SpeechRequest, SpokenWord } from "../../../engine/vendors/contracts.js";
import { ScriptedVoice } from "../../doubles/scripted-voice.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const TEXT = "Your table for four is booked for Friday at seven.";
const REQUEST = { text: TEXT, modelId: "m", speed: 1, language: "en", format: MP3 };
type Conversions = Pick<AudioPool, "open">;
/** Audio of which nothing is known for as long as the test lasts. */
const UNDECIDED = { write: () => undefined, end: () => undefined, drop: () => undefined };
const FORMAT = { codec: "mp3", sampleRateHz: 24_000 } as const;

let pool: AudioPool;
before(async () => {
  pool = new AudioPool({ clock: new VirtualClock(), onFault: assert.ifError });
  await pool.ready;
});
after(() => pool.close());

/** A voice whose vendor returns what the test configures; `passed` is what its user gets, in order. */
function speaking(changes: Partial<SpeechRequest> = {}, conversions: Conversions = pool) {
  const client = new ScriptedVoice();
  const durations = new SpeechDurations();
  const deps = {
    vendor: "acme",
    orgId: "org",
    voice: "voice",
    durations,
    pool: () => conversions,
  };
  const caller = new AbortController();
  const passed: Buffer[] = [];
  const order: string[] = [];
  const onWords = (words: readonly SpokenWord[]) =>
    void order.push(...words.map(({ text }) => text));
  const take = (audio: Uint8Array) => {
    passed.push(Buffer.from(audio));
    order.push("audio");
  };
  const voice = new CheckedVoice(client, deps);
  const spoken = voice.synthesize({ ...REQUEST, onWords, ...changes }, take, caller.signal);
  spoken.catch(() => undefined);
  const [synthesis] = client.syntheses;
  assert.ok(synthesis);
  const give = (audio: Uint8Array, pieceBytes = 999) => {
    for (let at = 0; at < audio.byteLength; at += pieceBytes) {
      synthesis.give(audio.subarray(at, at + pieceBytes));
    }
  };
  return { synthesis, give, caller, passed, order, spoken };
}

const mp3Of = async (text: string) => Buffer.from(await speak(text, FORMAT));
const silenceOf = async (text: string) =>
  Buffer.from(await corruptedAudio(await mp3Of(text), FORMAT, "silentAudio"));

test("MP3 that decodes to silence is the vendor's failure, and nothing of it is passed on", async () => {
  const { synthesis, give, passed, spoken } = speaking();
  give(await silenceOf(TEXT));
  synthesis.finish();
  await assert.rejects(spoken, { vendor: "acme", fault: "badAnswer", retryable: true });
  assert.deepEqual(passed, []);
});

test("audible MP3 is passed on completely, with its initial silence and its word times after it", async () => {
  const { synthesis, give, passed, order, spoken } = speaking();
  const mp3 = Buffer.concat([await silenceOf("so long"), await mp3Of(TEXT)]);
  give(mp3.subarray(0, 999));
  synthesis.request.onWords?.([{ text: "Your", startMs: 0, endMs: 100 }]);
  give(mp3.subarray(999));
  synthesis.finish();
  await spoken;
  assert.deepEqual(Buffer.concat(passed), mp3);
  assert.ok(order.indexOf("Your") > 0);
});

test("a text of a word or two is passed on as it arrives, since it allows no estimate", async () => {
  const { synthesis, give, passed, spoken } = speaking({ text: "Hm." });
  const silence = await silenceOf("Hm.");
  give(silence);
  assert.deepEqual(Buffer.concat(passed), silence);
  synthesis.finish();
  await spoken;
});

test("MP3 in place of samples is looked at, too, and samples are not decoded", async () => {
  const samples = speaking({ format: PCM_24K, onFormat: () => true });
  samples.give(Buffer.alloc(2_000));
  assert.equal(Buffer.concat(samples.passed).byteLength, 2_000);
  const other = speaking({ format: PCM_24K, onFormat: () => true });
  assert.equal(other.synthesis.request.onFormat?.(MP3), true);
  other.give(await silenceOf(TEXT));
  other.synthesis.finish();
  await assert.rejects(other.spoken, { fault: "badAnswer" });
});

test("what the audio pool cannot look at is passed on", async () => {
  const closed = new AudioPool({ clock: new VirtualClock(), onFault: () => undefined });
  closed.close();
  const { synthesis, give, passed, spoken } = speaking({}, closed);
  const silence = await silenceOf(TEXT);
  give(silence);
  synthesis.finish();
  await spoken;
  assert.deepEqual(Buffer.concat(passed), silence);
});

test("so is silence beyond what is kept back", async () => {
  const { give, passed } = speaking({}, { open: () => UNDECIDED });
  give(Buffer.alloc(SILENT_MP3_MAX_BYTES), 1_000);
  assert.deepEqual(passed, []);
  give(Buffer.alloc(1));
  assert.equal(Buffer.concat(passed).byteLength, SILENT_MP3_MAX_BYTES + 1);
});

test("nothing is passed on after an abort", async () => {
  const { synthesis, give, passed, caller, spoken } = speaking();
  give(await mp3Of(TEXT));
  caller.abort();
  synthesis.finish();
  await assert.rejects(spoken, { fault: "aborted" });
  assert.deepEqual(passed, []);
});
