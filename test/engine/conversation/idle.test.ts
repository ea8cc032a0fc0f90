import assert from "node:assert/strict";
import { test } from "node:test";
import { PCM_16K } from "../../../engine/audio/audio-format.js";
import { VoiceActivityDetector } from "../../../engine/audio/vad.js";
import { onVoiceHeard, VoicePieces } from "../../../engine/conversation/idle.js";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import type { ConversationSettings } from "../../../engine/conversation/state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";
import { FRAME_MS, LOUD, QUIET } from "../../doubles/voiced-frames.js";

const SETTINGS: ConversationSettings = {
  ...PLAIN_SETTINGS,
  phrases: stockPhrases("en"),
  idleTimeoutMs: 8_000,
};

function quietCall(settings = SETTINGS): RecordedCall {
  const call = new RecordedCall(settings);
  call.send({ type: "opened", resumed: true });
  return call;
}

const saying = (call: RecordedCall) => call.turn?.kind;

/** The idle timer fires; the caller's voice was heard this long ago. */
function fire(call: RecordedCall, voiceAgoMs?: number): readonly string[] {
  call.takeLines();
  call.reach("idle", { voiceAgoMs });
  return call.takeLines();
}

test("an agent without phrases, or without an idle timeout, sends no reminders", () => {
  for (const settings of [
    { ...SETTINGS, phrases: undefined },
    { ...SETTINGS, idleTimeoutMs: 0 },
  ]) {
    assert.ok(!quietCall(settings).pendingDeadlines.includes("idle"));
  }
});

test("a voice of a moment ago is waited for, until it is as long ago as any silence may be", () => {
  assert.deepEqual(fire(quietCall(), 7_999), ["deadline idle in 1"]);
  assert.deepEqual(fire(quietCall(), 500), ["deadline idle in 7500"]);
  const call = quietCall();
  fire(call, 8_000);
  assert.equal(saying(call), "reminder");
});

const GUESSED = { isFinal: false, speechFinal: false, lastWordEndMs: undefined, endedAgoMs: 0 };

test("a caller who is speaking, sending DTMF or waiting for an answer is there", () => {
  const speaking = quietCall();
  speaking.send({ type: "transcript", text: "my name is", ...GUESSED });
  const pressing = quietCall();
  pressing.send({ type: "digit", digit: "1" });
  for (const call of [speaking, pressing]) {
    for (const voiceAgoMs of [undefined, 100, 9_000]) {
      assert.deepEqual(fire(call, voiceAgoMs), ["deadline idle in 8000"]);
    }
    assert.equal(saying(call), undefined);
  }
});

test("a question that waits for the caller's next words prevents a reminder", () => {
  const call = quietCall();
  call.send({ type: "written", text: "what time is it" });
  call.send({ type: "transcript", text: "and", ...GUESSED });
  call.send({ type: "transcript", text: "", ...GUESSED, isFinal: true });
  assert.equal(call.actor.state.user.unanswered, "what time is it");
  assert.deepEqual(fire(call), ["deadline idle in 8000"]);
});

test("a caller who got two reminders and then speaks gets two more", () => {
  const call = quietCall();
  for (const _ of [1, 2]) {
    call.clock.advance(8_000);
    const turnId = call.turn?.id ?? 0;
    const firstByteAtMs = call.clock.monotonicMs();
    call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: 900, firstByteAtMs });
    call.clock.advance(900);
  }
  assert.equal(call.actor.state.user.reminders, 2);
  call.send({ type: "written", text: "hello" });
  assert.equal(call.actor.state.user.reminders, 0);
});

/** Pieces of a voice in a microphone's audio, each with the moment at which it is complete. */
class Microphone {
  readonly #meter = new VoiceActivityDetector(PCM_16K);
  readonly #pieces = new VoicePieces();
  readonly found: string[] = [];
  #atMs = 0;

  constructor() {
    this.hear(QUIET, 400);
  }

  hear(frame: Uint8Array, durationMs: number): this {
    for (let leftMs = durationMs; leftMs > 0; leftMs -= FRAME_MS) {
      this.#meter.hear(frame);
      this.#atMs += FRAME_MS;
      const piece = this.#pieces.hear(this.#meter.syllablesMs, FRAME_MS);
      if (piece === undefined) continue;
      this.found.push(`${this.#atMs}: ${piece.beganAgoMs}, ${piece.voiceBeganAgoMs}`);
    }
    return this;
  }
}

test("a voice is reported once it is as long as a short word, and again for each such piece", () => {
  const microphone = new Microphone().hear(LOUD, 420);
  assert.deepEqual(microphone.found, []);
  microphone.hear(LOUD, 20);
  assert.deepEqual(microphone.found, ["840: 400, 400"]);
  microphone.hear(LOUD, 480).hear(QUIET, 2_000);
  assert.deepEqual(microphone.found, ["840: 400, 400", "1240: 400, 800"]);
});

test("a pause within words belongs to the voice; what follows a longer one is another", () => {
  const microphone = new Microphone().hear(LOUD, 300).hear(QUIET, 800).hear(LOUD, 300);
  assert.deepEqual(microphone.found, ["1680: 1240, 1240"]);
  const apart = new Microphone();
  for (let n = 0; n < 10; n += 1) apart.hear(LOUD, 300).hear(QUIET, 1_100);
  assert.deepEqual(apart.found, []);
});

const REQUEST = stockPhrases("en").notRecognized;

function liveCall(): RecordedCall {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, repeatRequest: REQUEST });
  call.send({ type: "opened", resumed: true });
  call.clock.advance(1_000);
  return call;
}

const WORD = { type: "voiceHeard", beganAgoMs: 400, voiceBeganAgoMs: 400 } as const;

test("an STT that was slow in this call has longer to return words, and never longer than 8 s", () => {
  for (const [sttDelayMs, delayMs] of [
    [100, 4_500],
    [5_000, 6_000],
    [30_000, 8_000],
  ] as const) {
    const { state } = liveCall().actor;
    state.user.sttDelayMs = sttDelayMs;
    onVoiceHeard(state, { ...WORD, atMs: 3_000 });
    assert.equal(state.deadlines.unrecognizedVoice, 3_000 + delayMs);
  }
});

test("DTMF after a voice is the answer", () => {
  const call = liveCall();
  call.send(WORD);
  call.clock.advance(4_000);
  call.send({ type: "digit", digit: "1" });
  call.clock.advance(500);
  assert.equal(call.turn, undefined);
  assert.ok(!call.pendingDeadlines.includes("unrecognizedVoice"));
});
