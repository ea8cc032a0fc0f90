import assert from "node:assert/strict";
import { test } from "node:test";
import { MP3, MULAW_8K, PCM_24K } from "../../../engine/audio/audio-format.js";
import { OpenConversions } from "../../../engine/audio/conversion-batch.js";
import { ConversionQueue } from "../../../engine/audio/conversion-queue.js";
import { phoneAudio, WEB_AUDIO } from "../../../engine/conversation/leg-audio.js";
import { SpeechCache } from "../../../engine/conversation/speech-cache.js";
import { type AgentTts, speakSentence } from "../../../engine/conversation/synthesis.js";
import { speak } from "../../../engine/sandbox/sound/simulated-voice.js";
import {
  type TextToSpeech,
  VendorError,
  type VendorFault,
} from "../../../engine/vendors/contracts.js";
import { collectGarbage } from "../../doubles/garbage.js";
import { RecordingDelivery } from "../../doubles/recording-delivery.js";
import { ScriptedVoice } from "../../doubles/scripted-voice.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const VOICE_QUIET_MAX_MS = 4_000;

const MP3_SOUND = { codec: "mp3", sampleRateHz: 24_000 } as const;
const SENTENCE_BYTES_MAX = 960_000;

class Trial {
  readonly client = new ScriptedVoice();
  readonly cache = new SpeechCache(1_000_000);
  readonly clock = new VirtualClock(1_000);
  readonly abort = new AbortController();
  readonly tts: AgentTts = {
    vendor: "scripted",
    client: this.client,
    modelId: "aria",
    speed: 1.25,
    language: "en-US",
    format: WEB_AUDIO.sentenceFormat(this.client),
    cacheKey: "voice",
  };

  async say(text: string): Promise<RecordingDelivery> {
    const delivery = new RecordingDelivery(this.clock);
    await speakSentence(this.tts, text, this.cache, delivery, this.abort.signal, this.clock);
    return delivery;
  }

  /** Whatever failed does not count as said: the cache keeps what it is given twice. */
  assertNothingKept(): void {
    const spoken = { audio: new Uint8Array(1), durationMs: 1, words: [] };
    this.cache.keep(this.tts.cacheKey, "hello", spoken);
    assert.equal(this.cache.sizeBytes, 0);
  }

  get synthesis() {
    const synthesis = this.client.syntheses.at(-1);
    assert.ok(synthesis, "the voice was asked");
    return synthesis;
  }
}

function fault(expected: VendorFault) {
  return (error: unknown) => error instanceof VendorError && error.fault === expected;
}

test("a sentence is requested with the agent's settings, and joined from its pieces", async () => {
  const trial = new Trial();
  const mp3 = await speak("hello", MP3_SOUND);
  const spoken = trial.say("hello");
  const { onWords, onFormat, ...request } = trial.synthesis.request;
  assert.equal(onFormat?.(PCM_24K), false, "a browser takes nothing but MP3");
  assert.deepEqual(request, {
    text: "hello",
    modelId: "aria",
    speed: 1.25,
    language: "en-US",
    format: MP3,
  });
  trial.clock.advance(80);
  for (let at = 0; at < mp3.length; at += 100) trial.synthesis.give(mp3.subarray(at, at + 100));
  trial.clock.advance(20);
  const word = { text: "hello", startMs: 0, endMs: 300 };
  onWords?.([word]);
  trial.synthesis.finish();
  const { audio, durationMs, firstByteAtMs, words, isFinished } = await spoken;
  assert.deepEqual(words, [word]);
  assert.ok(isFinished);
  assert.ok(audio.length <= mp3.length && audio.length > mp3.length / 2);
  assert.ok(durationMs >= 280 && durationMs < 480, `${durationMs} ms`);
  assert.equal(firstByteAtMs, 1_080, "the first byte counts, not the last");
});

test("a sentence said twice is not requested again", async () => {
  const trial = new Trial();
  const mp3 = await speak("hello", MP3_SOUND);
  const word = { text: "hello", startMs: 0, endMs: 300 };
  const ask = () => {
    const spoken = trial.say("hello");
    trial.synthesis.give(mp3);
    trial.synthesis.request.onWords?.([word]);
    trial.synthesis.finish();
    return spoken;
  };
  await ask();
  const { audio } = await ask();
  assert.equal(trial.client.syntheses.length, 2);
  trial.clock.advance(500);
  const again = await trial.say("hello");
  assert.equal(trial.client.syntheses.length, 2);
  assert.equal(again.audio, audio);
  assert.equal(again.firstByteAtMs, 1_500);
  assert.deepEqual(again.words, [word], "what was heard of it is told by the same words");
});

test("an answer without sound is a bad answer, and not kept", async () => {
  for (const answer of [new Uint8Array(0), Buffer.from("no audio at all"), Buffer.alloc(5_000)]) {
    const trial = new Trial();
    const spoken = trial.say("hello");
    trial.synthesis.give(answer);
    trial.synthesis.finish();
    await assert.rejects(spoken, fault("badAnswer"));
    trial.assertNothingKept();
  }
});

test("an answer without an end is a bad answer, and is not held in memory", async () => {
  for (const [sizeBytes, isTooLong] of [
    [SENTENCE_BYTES_MAX, false],
    [SENTENCE_BYTES_MAX + 1, true],
  ] as const) {
    const trial = new Trial();
    const spoken = trial.say("hello");
    for (let left = sizeBytes; left > 0; left -= 60_000) {
      trial.synthesis.give(new Uint8Array(Math.min(left, 60_000)));
    }
    trial.synthesis.finish();
    const error: unknown = await spoken.catch((cause: unknown) => cause);
    assert.ok(error instanceof VendorError && error.fault === "badAnswer");
    assert.equal(/more than two minutes of audio/.test(error.message), isTooLong);
  }
});

test("what the vendor says of its failure is passed on, and nothing is kept", async () => {
  const trial = new Trial();
  const spoken = trial.say("hello");
  trial.synthesis.give(await speak("hello", MP3_SOUND));
  trial.synthesis.fail(new VendorError("scripted", "rateLimited", "slow down"));
  await assert.rejects(spoken, fault("rateLimited"));
  trial.assertNothingKept();
});

test("an aborted sentence is aborted at the vendor", async () => {
  const trial = new Trial();
  const spoken = trial.say("hello");
  trial.abort.abort();
  await assert.rejects(spoken, fault("aborted"));
});

test("nothing more is converted of a voice that fails in mid-sentence", async () => {
  const trial = new Trial();
  const signals: AbortSignal[] = [];
  const format: AgentTts["format"] = {
    name: "mulaw",
    request: MP3,
    isStreamed: true,
    open: (_listener, signal) => {
      signals.push(signal);
      return { takeAs: () => false, write: () => undefined, end: () => Promise.resolve() };
    },
  };
  const delivery = new RecordingDelivery(trial.clock);
  const { tts, cache, abort, clock } = trial;
  const spoken = speakSentence({ ...tts, format }, "hello", cache, delivery, abort.signal, clock);
  trial.synthesis.give(new Uint8Array(100));
  assert.equal(signals[0]?.aborted, false);
  trial.synthesis.fail(new VendorError("scripted", "disconnected", "gone"));
  await assert.rejects(spoken, fault("disconnected"));
  assert.equal(signals[0]?.aborted, true);
  assert.equal(abort.signal.aborted, false);
});

test("a voice that gives nothing for four seconds has failed, before its first byte and in the middle", async () => {
  for (const given of [0, 1]) {
    const trial = new Trial();
    const spoken = trial.say("hello");
    const rejected = assert.rejects(spoken, fault("timeout"));
    const mp3 = await speak("hello", MP3_SOUND);
    trial.clock.advance(VOICE_QUIET_MAX_MS - 500);
    if (given === 1) {
      trial.synthesis.give(mp3.subarray(0, 300));
      trial.clock.advance(VOICE_QUIET_MAX_MS - 1);
    }
    assert.ok(!trial.synthesis.signal.aborted);
    trial.clock.advance(500);
    await rejected;
    assert.ok(trial.synthesis.signal.aborted);
    assert.equal(trial.clock.pendingTimerCount, 0);
  }
});

test("a sentence that is aborted when its last audio arrives is neither played nor cached", async () => {
  const trial = new Trial();
  const spoken = trial.say("hello");
  trial.synthesis.give(await speak("hello", MP3_SOUND));
  trial.synthesis.finish();
  trial.abort.abort();
  await assert.rejects(spoken, fault("aborted"));
  trial.assertNothingKept();
});

const PCM_VOICE: TextToSpeech = {
  formats: [PCM_24K],
  synthesize: (_request, onChunk) => Promise.resolve(onChunk(new Uint8Array(4_800))),
  warm: () => undefined,
};

/** The result of a sentence and its clock, both held weakly. */
async function convertedSentence(signal: AbortSignal): Promise<readonly WeakRef<object>[]> {
  const clock = new VirtualClock(1_000);
  const thread = new OpenConversions();
  const queue = new ConversionQueue((batch) => thread.convert(batch), clock, assert.ifError);
  const format = phoneAudio(MULAW_8K, () => queue).sentenceFormat(PCM_VOICE);
  const tts = { ...new Trial().tts, client: PCM_VOICE, format };
  const delivery = new RecordingDelivery(clock);
  await speakSentence(tts, "hello", new SpeechCache(0), delivery, signal, clock);
  assert.equal(delivery.audio.length, 800);
  return [new WeakRef(delivery), new WeakRef(clock)];
}

test("a sentence that was said in full leaves nothing in memory while its call continues", async () => {
  const call = new AbortController();
  const held = await convertedSentence(call.signal);
  await collectGarbage();
  assert.deepEqual(
    held.map((one) => one.deref()),
    [undefined, undefined],
  );
  assert.equal(call.signal.aborted, false);
});
