import assert from "node:assert/strict";
import { test } from "node:test";
import { PlayoutDelay, SentenceDelivery } from "../../../engine/conversation/synthesis.js";
import { RecordingCaller } from "../../doubles/recording-caller.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { SeededRandom } from "../../simulation/seeded-random.js";

const CHUNK = new Uint8Array(800);
const CHUNK_MS = 100;

function trial({ isStreamed = true, playoutDelay = new PlayoutDelay() } = {}) {
  const clock = new VirtualClock(1_000);
  const caller = new RecordingCaller();
  const told: string[] = [];
  const words: number[] = [];
  const beganMs = clock.monotonicMs();
  const at = () => clock.monotonicMs() - beganMs;
  const delivery = new SentenceDelivery({
    id: { turnId: 1, index: 0 },
    caller,
    playoutDelay: isStreamed ? playoutDelay : undefined,
    expectedMs: 2_000,
    clock,
    report: ({ type, durationMs, firstByteAtMs, words: more }) => {
      const what = type === "sentenceGrew" ? "grew" : "whole";
      told.push(`${at()}: ${what} ${durationMs} of ${firstByteAtMs - beganMs}`);
      words.push(more.length);
    },
  });
  const sent = () =>
    caller.sounds.map(({ audio, isLast }) => `${audio.length}${isLast ? "!" : ""}`);
  return { clock, delivery, playoutDelay, told, words, sent };
}

test("the first audio is held back for the voice's delay, and what comes later passes at once", () => {
  const { clock, delivery, told, sent } = trial();
  delivery.firstByte();
  clock.advance(10);
  delivery.add(CHUNK, CHUNK_MS);
  clock.advance(25);
  delivery.add(CHUNK, CHUNK_MS);
  assert.deepEqual(told, []);
  clock.advance(15);
  assert.deepEqual(told, ["50: grew 200 of 0"]);
  assert.deepEqual(sent(), []);
  delivery.play();
  assert.deepEqual(sent(), ["800", "800"]);
  delivery.add(CHUNK, CHUNK_MS);
  delivery.finish();
  assert.deepEqual(sent(), ["800", "800", "800", "0!"]);
  assert.deepEqual(told, ["50: grew 200 of 0", "50: grew 300 of 0", "50: whole 300 of 0"]);
  assert.equal(clock.pendingTimerCount, 0);
});

test("words are reported once, with the next audio or the end, and at most 500 wait", () => {
  const { clock, delivery, words } = trial();
  const word = { text: "one", endMs: 100 };
  delivery.add(CHUNK, CHUNK_MS);
  clock.advance(50);
  delivery.timed([word]);
  delivery.add(CHUNK, CHUNK_MS);
  delivery.timed(Array.from({ length: 600 }, () => word));
  delivery.timed([word]);
  delivery.finish();
  delivery.timed([word]);
  assert.deepEqual(words, [0, 1, 500]);
});

test("no word is reported twice", () => {
  const { clock, delivery, words } = trial();
  delivery.timed([{ text: "one", endMs: 100 }]);
  delivery.add(CHUNK, CHUNK_MS);
  clock.advance(50);
  delivery.timed([{ text: "two", endMs: 200 }]);
  delivery.add(CHUNK, CHUNK_MS);
  delivery.finish();
  assert.deepEqual(words, [1, 1, 0]);
});

test("a single byte is audio, and none is not; an aborted sentence is not played", () => {
  for (const isDropped of [false, true]) {
    const { delivery, sent, told } = trial({ isStreamed: false });
    for (const size of [0, 1, 0, 2]) delivery.add(new Uint8Array(size), size);
    if (isDropped) delivery.drop();
    delivery.play();
    delivery.finish();
    assert.deepEqual(sent(), isDropped ? [] : ["1", "2", "0!"]);
    assert.deepEqual(told, isDropped ? [] : ["0: whole 3 of 0"]);
  }
});

test("a sentence that came at once says that the next may begin at once", () => {
  const playoutDelay = new PlayoutDelay();
  const { delivery } = trial({ playoutDelay });
  delivery.add(CHUNK, CHUNK_MS);
  delivery.finish();
  assert.equal(playoutDelay.of(2_000), 0);
  const next = trial({ playoutDelay });
  next.delivery.add(CHUNK, CHUNK_MS);
  assert.deepEqual(next.told, ["0: grew 100 of 0"]);
});

test("a voice that is slower than it is heard is missing the more, the longer a sentence is", () => {
  const { clock, delivery, playoutDelay } = trial();
  delivery.add(CHUNK, CHUNK_MS);
  clock.advance(300);
  delivery.add(CHUNK, CHUNK_MS);
  delivery.finish();
  assert.equal(playoutDelay.of(2_000), 2_020);
});

test("a sentence that is whole before its delay is over does not wait for it", () => {
  const { clock, delivery, told, sent } = trial();
  delivery.add(CHUNK, CHUNK_MS);
  delivery.finish();
  assert.deepEqual(told, ["0: whole 100 of 0"]);
  assert.equal(clock.pendingTimerCount, 0);
  delivery.play();
  assert.deepEqual(sent(), ["800!"]);
});

test("with whole sentences only, nothing is reported before the end", () => {
  const { clock, delivery, told } = trial({ isStreamed: false });
  delivery.add(CHUNK, CHUNK_MS);
  clock.advance(500);
  assert.deepEqual(told, []);
  delivery.finish();
  assert.deepEqual(told, ["500: whole 100 of 0"]);
});

test("the voice's delay is learnt from how late its audio would have been", () => {
  const { clock, delivery, playoutDelay } = trial();
  delivery.firstByte();
  clock.advance(70);
  delivery.add(CHUNK, CHUNK_MS);
  clock.advance(130);
  delivery.add(CHUNK, CHUNK_MS);
  clock.advance(20);
  delivery.add(CHUNK, CHUNK_MS);
  delivery.finish();
  assert.equal(playoutDelay.of(2_000), 50, "30 late, and a frame to spare");
});

/**
 * Three seconds at one and a half times real time, each piece up to 50 ms late, and this many of them later than
 * that: the longest gap, and the wait for the first audio.
 */
function hearUnevenVoice(
  clock: VirtualClock,
  playoutDelay: PlayoutDelay,
  random: SeededRandom,
  laterShare: number,
) {
  const dueMs = clock.monotonicMs();
  let firstAtMs: number | undefined;
  let endsAtMs: number | undefined;
  let waitMs = 0;
  let gapMs = 0;
  const delivery = new SentenceDelivery({
    id: { turnId: 1, index: 0 },
    caller: new RecordingCaller(),
    playoutDelay,
    expectedMs: 3_000,
    clock,
    report: ({ durationMs }) => {
      const nowMs = clock.monotonicMs();
      if (endsAtMs === undefined) waitMs = nowMs - (firstAtMs ?? nowMs);
      else gapMs = Math.max(gapMs, nowMs - endsAtMs);
      endsAtMs = endsAtMs === undefined ? nowMs + durationMs : Math.max(endsAtMs, nowMs) + CHUNK_MS;
    },
  });
  for (let piece = 0; piece < 30; piece += 1) {
    const laterMs = random.chance(laterShare) ? random.fraction() * 30 : 0;
    const lateMs = random.fraction() * 50 + laterMs;
    clock.advance(Math.max(0, dueMs + (piece * CHUNK_MS) / 1.5 + lateMs - clock.monotonicMs()));
    firstAtMs ??= clock.monotonicMs();
    delivery.add(CHUNK, CHUNK_MS);
  }
  delivery.finish();
  return { gapMs, waitMs };
}

test("a voice at one and a half times real time with 50 ms of jitter has no gap that is heard, from its first sentence on", () => {
  const waitsMs: number[] = [];
  for (let seed = 1; seed <= 60; seed += 1) {
    const clock = new VirtualClock(1_000);
    const playoutDelay = new PlayoutDelay();
    const random = new SeededRandom(seed);
    for (let sentence = 0; sentence < 40; sentence += 1) {
      const { gapMs, waitMs } = hearUnevenVoice(clock, playoutDelay, random, 0);
      assert.ok(gapMs < 20, `sentence ${sentence} of seed ${seed}: ${gapMs} ms`);
      waitsMs.push(waitMs);
    }
  }
  assert.ok(Math.max(...waitsMs) <= 40, "and nobody waits longer than for an unknown voice");
});

test("nor has one whose pieces are later than that now and then", () => {
  const clock = new VirtualClock(1_000);
  const playoutDelay = new PlayoutDelay();
  const random = new SeededRandom(3);
  const heard = Array.from({ length: 400 }, () =>
    hearUnevenVoice(clock, playoutDelay, random, 0.05),
  );
  assert.ok(Math.max(...heard.map(({ gapMs }) => gapMs)) < 20, "a frame is in the telephone");
  assert.ok(Math.max(...heard.map(({ waitMs }) => waitMs)) < 60, "and its wait stays short");
});

test("nothing of a sentence that was dropped or cut off leaves after it", () => {
  const dropped = trial();
  dropped.delivery.add(CHUNK, CHUNK_MS);
  dropped.delivery.play();
  dropped.delivery.drop();
  dropped.delivery.add(CHUNK, CHUNK_MS);
  dropped.delivery.finish();
  assert.deepEqual(dropped.sent(), ["800"]);
  const cut = trial();
  cut.delivery.add(CHUNK, CHUNK_MS);
  cut.delivery.play();
  cut.delivery.cut();
  cut.delivery.add(CHUNK, CHUNK_MS);
  cut.delivery.cut();
  assert.deepEqual(cut.sent(), ["800", "0!"]);
  assert.deepEqual(cut.told, []);
  assert.equal(cut.clock.pendingTimerCount, 0);
});

test("a voice that needs to be held back for one millisecond is", () => {
  const { clock, delivery, playoutDelay, told } = trial();
  playoutDelay.observe({ durationMs: 2_000, elapsedMs: 1_400, minMarginMs: 19 });
  delivery.add(CHUNK, CHUNK_MS);
  assert.deepEqual(told, []);
  clock.advance(1);
  assert.deepEqual(told, ["1: grew 100 of 0"]);
});
