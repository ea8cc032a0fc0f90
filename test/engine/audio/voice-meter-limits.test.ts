import assert from "node:assert/strict";
import { test } from "node:test";
import { MULAW_8K, PCM_8K } from "../../../engine/audio/audio-format.js";
import { encodeMulaw } from "../../../engine/audio/mulaw.js";
import { VoiceActivityDetector } from "../../../engine/audio/vad.js";

const PIECE_MS = 20;
const PIECE_SAMPLES = 160;

function piece(level: number): Uint8Array {
  const pcm = Int16Array.from({ length: PIECE_SAMPLES }, (_, at) =>
    at % 2 === 0 ? level : -level,
  );
  return new Uint8Array(pcm.buffer);
}

/** How much of a voice is heard in sound of one level. */
function heardMs(meter: VoiceActivityDetector, level: number, durationMs: number): number {
  let voicedMs = 0;
  for (let ms = 0; ms < durationMs; ms += PIECE_MS) voicedMs += meter.hear(piece(level));
  return voicedMs;
}

/** On a line that is known to be silent. */
function quietLine(): VoiceActivityDetector {
  const meter = new VoiceActivityDetector(PCM_8K);
  assert.equal(heardMs(meter, 0, 400), 0);
  return meter;
}

test("on a silent line a voice is louder than 160, from its third piece on", () => {
  assert.equal(heardMs(quietLine(), 160, 200), 0);
  assert.equal(heardMs(quietLine(), 161, 200), 160);
  const mulaw = new VoiceActivityDetector(MULAW_8K);
  const sound = (level: number) => encodeMulaw(new Int16Array(PIECE_SAMPLES).fill(level));
  for (let n = 0; n < 20; n += 1) mulaw.hear(sound(0));
  const heard = [1, 2, 3].map(() => mulaw.hear(sound(-3_000)));
  assert.deepEqual(heard, [0, 0, PIECE_MS]);
});

test("three loud pieces of five are a voice, two are a click", () => {
  const heard = (pattern: string) => {
    const meter = quietLine();
    return Array.from(pattern, (each) => meter.hear(piece(each === "x" ? 3_000 : 0))).at(-1);
  };
  for (const pattern of ["xxx", "xx..x", "x.x.x", "x..xx"]) {
    assert.equal(heard(pattern), PIECE_MS, pattern);
  }
  for (const pattern of ["xx", "x...x", "xx...x", "xxx."]) assert.equal(heard(pattern), 0, pattern);
});

test("a line that begins loud is learnt for 300 ms, and only what is 3.5 times as loud as 400 is a voice", () => {
  assert.equal(heardMs(new VoiceActivityDetector(PCM_8K), 1_400, 2_000), 0);
  assert.equal(heardMs(new VoiceActivityDetector(PCM_8K), 1_401, 2_000), 280);
});

test("sound without pauses is a voice for a few seconds, depending on its loudness, and above 14,000 forever", () => {
  const steady = (level: number) => heardMs(quietLine(), level, 30_000);
  assert.deepEqual([161, 300, 3_000, 14_000].map(steady), [4_400, 6_220, 12_920, 17_400]);
  assert.equal(steady(14_001), 29_960);
});

test("when a noise ends, a low voice is heard a quarter of a second later", () => {
  const after = (quietMs: number) => {
    const meter = quietLine();
    heardMs(meter, 30_000, 30_000);
    heardMs(meter, 0, quietMs);
    return heardMs(meter, 161, 100);
  };
  assert.equal(after(240), 0);
  assert.equal(after(260), 60);
});

test("a part of a piece counts for as long as it is", () => {
  const meter = quietLine();
  heardMs(meter, 3_000, 100);
  assert.equal(meter.hear(piece(3_000).subarray(0, PIECE_SAMPLES)), PIECE_MS / 2);
  assert.equal(meter.hear(Buffer.concat([piece(3_000), piece(3_000)])), 2 * PIECE_MS);
});
