import assert from "node:assert/strict";
import { test } from "node:test";
import { WEB_AUDIO } from "../../../engine/conversation/leg-audio.js";
import { PhraseKeeper } from "../../../engine/conversation/prepared-phrases.js";
import { CallPhrases } from "../../../engine/conversation/runner.js";
import { SpeechCache } from "../../../engine/conversation/speech-cache.js";
import { speak } from "../../../engine/sandbox/sound/simulated-voice.js";
import { RecordingCaller } from "../../doubles/recording-caller.js";
import { ScriptedVoice } from "../../doubles/scripted-voice.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const MP3 = { codec: "mp3", sampleRateHz: 24_000 } as const;

/** Calls of one voice, with what each of them was told is ready. */
class Voice {
  readonly clock = new VirtualClock(0);
  readonly client = new ScriptedVoice();
  readonly #keeper = new PhraseKeeper(this.clock);

  call() {
    const { client, clock } = this;
    const format = WEB_AUDIO.sentenceFormat(client);
    const spoken = { vendor: "scripted", client, modelId: "aria", speed: 1, language: "en" };
    const tts = { ...spoken, format, cacheKey: "voice" };
    const caller = new RecordingCaller();
    const deps = { caller, phrases: this.#keeper, tts, cache: new SpeechCache(0), clock };
    const ready: string[] = [];
    const phrases = new CallPhrases(deps, (text) => ready.push(text));
    return { phrases, ready, caller };
  }

  get asked(): readonly string[] {
    return this.client.syntheses.map(({ request }) => request.text);
  }

  async say(synthesis: number): Promise<void> {
    this.client.syntheses[synthesis]?.give(await speak("ok", MP3));
    this.client.syntheses[synthesis]?.finish();
    await new Promise(setImmediate);
  }
}

test("the greeting goes to the voice first: phrases are said 300 ms later, one after the other", async () => {
  const voice = new Voice();
  const { phrases, ready } = voice.call();
  phrases.prepare(["one", "two"]);
  voice.clock.advance(299);
  assert.deepEqual(voice.asked, []);
  voice.clock.advance(1);
  assert.deepEqual(voice.asked, ["one"]);
  await voice.say(0);
  assert.deepEqual(ready, ["one"]);
  assert.deepEqual(voice.asked, ["one", "two"]);
  await voice.say(1);
  assert.deepEqual(ready, ["one", "two"]);
});

test("what the voice has said in another call is ready at once, and only the rest is asked for", async () => {
  const voice = new Voice();
  voice.call().phrases.prepare(["one"]);
  voice.clock.advance(300);
  await voice.say(0);
  const second = voice.call();
  second.phrases.prepare(["one", "two"]);
  assert.deepEqual(second.ready, ["one"]);
  voice.clock.advance(300);
  assert.deepEqual(voice.asked, ["one", "two"]);
  assert.ok((second.phrases.get("one")?.audio.byteLength ?? 0) > 0);
  assert.equal(second.phrases.get("two"), undefined);
});

test("a call that has all its phrases waits for nothing", async () => {
  const voice = new Voice();
  voice.call().phrases.prepare(["one"]);
  voice.clock.advance(300);
  await voice.say(0);
  voice.call().phrases.prepare(["one"]);
  assert.equal(voice.clock.pendingTimerCount, 0);
});

test("a voice that fails is asked for no more phrases in this call", async () => {
  const voice = new Voice();
  const { phrases, ready } = voice.call();
  phrases.prepare(["one", "two"]);
  voice.clock.advance(300);
  voice.client.syntheses[0]?.fail(new Error("oops"));
  await new Promise(setImmediate);
  assert.deepEqual(voice.asked, ["one"]);
  assert.deepEqual(ready, []);
});

test("a call that is over asks for no phrase, and is told of none that was asked for before", async () => {
  const voice = new Voice();
  const early = voice.call();
  early.phrases.prepare(["one"]);
  early.phrases.close();
  assert.equal(voice.clock.pendingTimerCount, 0);
  const late = voice.call();
  late.phrases.prepare(["one", "two"]);
  voice.clock.advance(300);
  late.phrases.close();
  await voice.say(0);
  assert.deepEqual(voice.asked, ["one"]);
  assert.deepEqual(late.ready, []);
});

test("a phrase is sent whole where it is ready, and it is a fault to play it before", async () => {
  const voice = new Voice();
  const { phrases, caller } = voice.call();
  phrases.prepare(["one"]);
  const sentence = { turnId: 4, index: 1_000 };
  assert.throws(() => phrases.play("one", sentence), /not ready/);
  voice.clock.advance(300);
  await voice.say(0);
  phrases.play("one", sentence);
  const audio = phrases.get("one")?.audio;
  assert.deepEqual(caller.sounds, [{ ...sentence, audio, isLast: true }]);
});
