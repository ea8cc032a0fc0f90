import assert from "node:assert/strict";
import { test } from "node:test";
import { CallPhrases } from "../../../engine/conversation/effect-runner.js";
import type { ConversationEffect } from "../../../engine/conversation/effects.js";
import { onFillerDeadline } from "../../../engine/conversation/filler.js";
import { WEB_AUDIO } from "../../../engine/conversation/leg-audio.js";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import { PreparedPhrases } from "../../../engine/conversation/prepared-phrases.js";
import { SpeechCache } from "../../../engine/conversation/speech-cache.js";
import { speak } from "../../../engine/sandbox/sound/simulated-voice.js";
import { changed } from "../../doubles/changed-state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";
import { RecordingCaller } from "../../doubles/recording-caller.js";
import { ScriptedVoice } from "../../doubles/scripted-voice.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

test("while no words are ready, or the caller speaks, the agent looks again every half second, and then says them", () => {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, fillerAfterMs: 1_500 });
  const delaysMs = () =>
    call.deadlinesSet.flatMap((deadline) => {
      const [name, delayMs] = deadline.split(" ");
      return name === "filler" ? [Number(delayMs)] : [];
    });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "what is my balance" });
  call.clock.advance(2_000);
  assert.deepEqual(delaysMs(), [1_500, 500, 500]);
  const [text = ""] = phrases?.waiting ?? [];
  call.send({ type: "phraseReady", text, durationMs: 800 });
  call.hearVoice(true);
  call.clock.advance(500);
  assert.deepEqual(delaysMs(), [1_500, 500, 500, 500]);
  call.hearVoice(false);
  call.clock.advance(500);
  assert.ok(call.effects.some((effect) => effect.type === "playPhrase" && effect.text === text));
});

test("the agent does not say that it is at work over words of the caller that may be going on", () => {
  const phrases = stockPhrases("en");
  const settings = {
    ...PLAIN_SETTINGS,
    phrases,
    fillerAfterMs: 1_500,
    sensitivity: "low",
  } as const;
  const call = new RecordedCall(settings);
  const isSaid = () => call.effects.some(({ type }) => type === "playPhrase");
  call.send({ type: "opened", resumed: true });
  const [text = ""] = phrases?.waiting ?? [];
  call.send({ type: "phraseReady", text, durationMs: 800 });
  call.send({ type: "written", text: "what is my balance" });
  call.clock.advance(1_000);
  const heard = { text: "please", isFinal: false, speechFinal: false, lastWordEndMs: undefined };
  call.send({ type: "transcript", ...heard, endedAgoMs: 0 });
  call.clock.advance(600);
  assert.equal(isSaid(), false);
});

/** Whether a word that is ready is said to a caller whose voice, if it was heard at all, was heard last at `voiceAtMs`. */
function isSaidAt(atMs: number, voiceAtMs?: number): boolean {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, fillerAfterMs: 1_500 });
  call.send({ type: "opened", resumed: true });
  const [text = ""] = phrases?.waiting ?? [];
  call.send({ type: "phraseReady", text, durationMs: 800 });
  call.send({ type: "written", text: "what is my balance" });
  if (voiceAtMs !== undefined) {
    call.clock.advance(voiceAtMs);
    call.hearVoice(true);
    call.hearVoice(false);
  }
  call.clock.advance(atMs - (voiceAtMs ?? 0));
  call.reach("filler", { voiceAgoMs: call.voiceAgoMs });
  return call.effects.some(({ type }) => type === "playPhrase");
}

test("no word is said a millisecond too soon, nor within 300 ms of the caller's voice", () => {
  assert.deepEqual([isSaidAt(1_499), isSaidAt(1_500)], [false, true]);
  assert.deepEqual([isSaidAt(1_500, 1_201), isSaidAt(1_500, 1_200)], [false, true]);
});

test("the agent says six times that it is at work, and no seventh time", () => {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, fillerAfterMs: 1_500 });
  call.send({ type: "opened", resumed: true });
  const [text = ""] = phrases?.waiting ?? [];
  call.send({ type: "phraseReady", text, durationMs: 800 });
  call.send({ type: "written", text: "what is my balance" });
  const { state } = call.actor;
  const { turn } = call;
  assert.ok(turn !== undefined);
  const lines = [5, 6, 7].map((fillerCount) => {
    const event = { type: "deadlineReached", atMs: 60_000 } as const;
    const out: ConversationEffect[] = [];
    onFillerDeadline(changed(state, { turn: { ...turn, fillerCount } }), event, out);
    return out.map(({ type }) => type);
  });
  assert.deepEqual(lines, [["playPhrase", "send"], [], []]);
});

const SENTENCE = "Your table for four is booked for Friday at seven.";

/**
 * A call that waits for TTS, which got a whole sentence of 50 letters after 600 ms, when the filler is due after
 * 1.5 s.
 */
function waitingForTts(): RecordedCall {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, fillerAfterMs: 1_500 });
  call.send({ type: "opened", resumed: true });
  const [text = ""] = phrases?.waiting ?? [];
  call.send({ type: "phraseReady", text, durationMs: 715 });
  call.send({ type: "written", text: "book a table" });
  call.clock.advance(600);
  call.send({ type: "replyToken", turnId: 1, text: SENTENCE });
  call.send({ type: "replyDone", turnId: 1, tokens: 12 });
  return call;
}

const fillersOf = ({ effects }: RecordedCall): number =>
  effects.filter(({ type }) => type === "playPhrase").length;

test("a filler is played where TTS gives nothing, or nothing more, for longer than a sentence takes it", () => {
  const silent = waitingForTts();
  silent.clock.advance(1_700);
  assert.equal(fillersOf(silent), 0);
  silent.clock.advance(200);
  assert.equal(fillersOf(silent), 1);
  const atWork = (ttsAudioAgoMs: number): number => {
    const call = waitingForTts();
    call.clock.advance(1_750);
    call.reach("filler", { ttsAudioAgoMs });
    return fillersOf(call);
  };
  assert.deepEqual([atWork(700), atWork(800)], [0, 1]);
});

test("a TTS that is always slow holds the filler back for 2.5 s at most", () => {
  const call = waitingForTts();
  const fire = () => call.reach("filler", { ttsAudioAgoMs: 100 });
  call.clock.advance(1_000);
  for (let waitedMs = 1_600; waitedMs < 3_900; waitedMs += 100) {
    fire();
    call.clock.advance(100);
  }
  assert.equal(fillersOf(call), 0);
  call.clock.advance(200);
  fire();
  assert.equal(fillersOf(call), 1);
});

const MP3 = { codec: "mp3", sampleRateHz: 24_000 } as const;

/** Calls of one voice, with the phrases reported as ready to each. */
class Voice {
  readonly clock = new VirtualClock(0);
  readonly client = new ScriptedVoice();
  readonly #keeper = new PreparedPhrases(this.clock);

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

test("phrases that the voice has said in another call are ready immediately, and only the rest is requested", async () => {
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

test("a voice that fails gets no more phrase requests in this call", async () => {
  const voice = new Voice();
  const { phrases, ready } = voice.call();
  phrases.prepare(["one", "two"]);
  voice.clock.advance(300);
  voice.client.syntheses[0]?.fail(new Error("oops"));
  await new Promise(setImmediate);
  assert.deepEqual(voice.asked, ["one"]);
  assert.deepEqual(ready, []);
});

test("an ended call requests no phrase, and gets none that was requested before", async () => {
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
  assert.throws(() => phrases.play("one", sentence), /before it was ready/);
  voice.clock.advance(300);
  await voice.say(0);
  phrases.play("one", sentence);
  const audio = phrases.get("one")?.audio;
  assert.deepEqual(caller.sounds, [{ ...sentence, audio, isLast: true }]);
});

const MP3_SOUND = { codec: "mp3", sampleRateHz: 24_000 } as const;
const UNDERWAY_MAX = 64;

test("the number of concurrent phrase requests is limited, further ones wait for another call, and equal ones are shared", async () => {
  const client = new ScriptedVoice();
  const format = WEB_AUDIO.sentenceFormat(client);
  const tts = { vendor: "scripted", client, modelId: "aria", speed: 1, language: "en", format };
  const keeper = new PreparedPhrases(new VirtualClock());
  const cache = new SpeechCache(0);
  const prepare = (n: number) =>
    keeper.prepare({ ...tts, cacheKey: "voice" }, `phrase ${n}`, cache);
  const asked = Array.from({ length: UNDERWAY_MAX }, (_, n) => prepare(n));
  assert.equal(prepare(0), asked[0]);
  assert.equal(client.syntheses.length, UNDERWAY_MAX);
  assert.equal(await prepare(UNDERWAY_MAX), undefined);
  assert.equal(client.syntheses.length, UNDERWAY_MAX);
  client.syntheses[0]?.give(await speak("phrase", MP3_SOUND));
  client.syntheses[0]?.finish();
  const spoken = await asked[0];
  assert.ok(spoken !== undefined && spoken.durationMs > 0);
  assert.equal(await prepare(0), spoken);
  void prepare(UNDERWAY_MAX);
  assert.equal(client.syntheses.length, UNDERWAY_MAX + 1, "there is room again");
});
