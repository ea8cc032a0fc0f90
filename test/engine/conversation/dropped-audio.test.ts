import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConversationEffect } from "../../../engine/conversation/effects.js";
import { speak } from "../../../engine/sandbox/sound/simulated-voice.js";
import { EffectTrial } from "./effect-trial.js";

const MP3 = { codec: "mp3", sampleRateHz: 24_000 } as const;

function synthesize(index: number, text = `sentence ${index}`): ConversationEffect {
  return { type: "synthesize", turnId: 1, index, text };
}

const dropFrom = (index: number): ConversationEffect => ({ type: "dropAudio", turnId: 1, index });
const play = (index: number): ConversationEffect => ({ type: "play", turnId: 1, index });

/** The voice has said all of this synthesis. */
async function speakWhole(trial: EffectTrial, synthesis: number): Promise<void> {
  const spoken = trial.next();
  trial.client.syntheses[synthesis]?.give(await speak("ok", MP3));
  trial.client.syntheses[synthesis]?.finish();
  assert.equal((await spoken).type, "sentenceWhole");
}

test("a turn that is stopped in a sentence stops TTS for it and all later ones, and no sooner", () => {
  const trial = new EffectTrial();
  trial.perform(synthesize(0), synthesize(1), synthesize(2), dropFrom(1));
  assert.deepEqual(
    trial.client.syntheses.map(({ signal }) => signal.aborted),
    [false, true, true],
  );
});

test("dropped audio is not played any more, earlier audio is, and both can be requested again", async () => {
  const trial = new EffectTrial();
  trial.perform(synthesize(0), synthesize(1));
  await speakWhole(trial, 0);
  await speakWhole(trial, 1);
  trial.perform(dropFrom(1));
  assert.throws(() => trial.perform(play(1)), /sentence 1 of turn 1 has no audio/);
  trial.perform(play(0));
  trial.perform(synthesize(1));
  await speakWhole(trial, 2);
  trial.perform(play(1));
  assert.deepEqual(
    trial.caller.sounds.map(({ index }) => index),
    [0, 1],
  );
});

test("nothing of a voice that was dropped comes back, and its failure is none", async () => {
  const trial = new EffectTrial();
  trial.perform(synthesize(0), dropFrom(0));
  trial.client.syntheses[0]?.give(await speak("ok", MP3));
  trial.client.syntheses[0]?.finish();
  await new Promise(setImmediate);
  assert.deepEqual(trial.events, []);
  assert.deepEqual(trial.failures, []);
});

test("a turn without audio, or one that is over, has nothing to drop; audio that was never requested cannot be played", () => {
  const trial = new EffectTrial();
  trial.perform(dropFrom(0));
  assert.deepEqual(trial.events, []);
  assert.throws(() => trial.perform(play(0)), /sentence 0 of turn 1 has no audio/);
});

test("a cut sentence ends with the received audio, and its TTS is stopped", async () => {
  const trial = new EffectTrial();
  trial.perform(synthesize(0), synthesize(1), { type: "cutSentence", turnId: 1, index: 0 });
  assert.deepEqual(
    trial.client.syntheses.map(({ signal }) => signal.aborted),
    [true, false],
  );
  await new Promise(setImmediate);
  assert.deepEqual(trial.failures, []);
});

test("a ready phrase is sent whole under its turn; one that is not ready cannot be sent, and requests no TTS", async () => {
  const trial = new EffectTrial();
  const playPhrase: ConversationEffect = {
    type: "playPhrase",
    turnId: 3,
    index: 1_000,
    text: "ok",
  };
  assert.throws(() => trial.perform(playPhrase), /before it was ready/);
  trial.perform({ type: "preparePhrases", texts: ["ok"] });
  trial.clock.advance(300);
  const ready = trial.next();
  trial.client.syntheses[0]?.give(await speak("ok", MP3));
  trial.client.syntheses[0]?.finish();
  await ready;
  trial.perform(playPhrase);
  const [sound] = trial.caller.sounds;
  assert.deepEqual(
    { turnId: sound?.turnId, index: sound?.index, isLast: sound?.isLast },
    { turnId: 3, index: 1_000, isLast: true },
  );
  assert.ok((sound?.audio.byteLength ?? 0) > 0);
  assert.equal(trial.client.syntheses.length, 1);
});
