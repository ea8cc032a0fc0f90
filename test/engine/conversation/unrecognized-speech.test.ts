import assert from "node:assert/strict";
import { test } from "node:test";
import { PCM_16K } from "../../../engine/audio/audio-format.js";
import { VoiceActivityDetector } from "../../../engine/audio/vad.js";
import { onVoiceHeard, VoicePieces } from "../../../engine/conversation/idle.js";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";
import { FRAME_MS, LOUD, QUIET } from "../../doubles/voiced-frames.js";

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

test("keys that the caller presses behind a voice are the answer", () => {
  const call = liveCall();
  call.send(WORD);
  call.clock.advance(4_000);
  call.send({ type: "digit", digit: "1" });
  call.clock.advance(500);
  assert.equal(call.turn, undefined);
  assert.ok(!call.pendingDeadlines.includes("unrecognizedVoice"));
});
