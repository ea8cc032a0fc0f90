import assert from "node:assert/strict";
import { test } from "node:test";
import { AnsweredCall } from "./answered-call.js";

const STREAMED = { isStreamed: true };
test("a sentence that still grows is one of the two that are made", () => {
  const call = new AnsweredCall(STREAMED).ask().reply("One is here. Two is there. Three is gone.");
  call.takeLines();
  call.grew(0, 300);
  assert.deepEqual(call.linesOf("synthesize"), []);
  call.whole(0, 900);
  assert.deepEqual(call.linesOf("synthesize"), ['synthesize #1.2 "Three is gone."']);
});

test("no sentence is requested while the caller has ten seconds to hear, and it is a moment later", () => {
  const reply = "One is here. Two is there. Three is gone.";
  const call = new AnsweredCall().ask().reply(reply);
  call.takeLines();
  call.whole(0, 12_000);
  assert.deepEqual(call.linesOf("synthesize"), []);
  call.wait(2_000);
  assert.deepEqual(call.linesOf("synthesize"), []);
  call.wait(1);
  assert.deepEqual(call.linesOf("synthesize"), ['synthesize #1.2 "Three is gone."']);
  for (const [durationMs, count] of [
    [9_999, 1],
    [10_000, 0],
  ] as const) {
    const other = new AnsweredCall().ask().reply(reply);
    other.takeLines();
    other.whole(0, durationMs);
    assert.equal(other.linesOf("synthesize").length, count);
  }
});

test("a voice that falls silent early in a sentence is retried after 1,200 ms, a later one 400 ms before its end is heard", () => {
  // Forty characters, which take this voice four seconds.
  const text = "It is the one that is over there by now.";
  const againAtMs = (durationMs: number, ...more: readonly (readonly [number, number])[]) => {
    const call = new AnsweredCall(STREAMED).ask().reply(text);
    call.grew(0, durationMs);
    for (const [waitMs, grownMs] of more) call.wait(waitMs).grew(0, grownMs);
    call.takeLines();
    for (let waited = 0; waited < 10_000; waited += 1) {
      call.wait(1);
      if (call.linesOf("synthesize").length > 0) return call.clock.monotonicMs();
    }
    return undefined;
  };
  assert.equal(text.length, 40);
  assert.equal(againAtMs(1_000), 1_200);
  assert.equal(againAtMs(1_500), 1_200);
  assert.equal(againAtMs(3_000), 2_600);
  assert.equal(againAtMs(3_200), 2_800);
  assert.equal(againAtMs(3_201), 3_551, "it may have been all");
  assert.equal(againAtMs(500), 850, "the caller has heard all for 350 ms");
  assert.equal(againAtMs(1_000, [900, 2_000]), 2_100, "the silence began anew");
});

test("the second try of a sentence is waited for two seconds, and no silence in it is longer than two", () => {
  const text = "It is the one that is over there by now.";
  const givenUpAtMs = (grownMs: number, muteAtMs: number) => {
    const call = new AnsweredCall(STREAMED).ask().reply(text).grew(0, grownMs);
    call.wait(muteAtMs).mute(0).takeLines();
    for (let waited = 0; waited < 10_000; waited += 1) {
      call.wait(1);
      if (call.linesOf("cut").length > 0) return call.clock.monotonicMs();
    }
    return undefined;
  };
  assert.equal(givenUpAtMs(3_000, 500), 3_600, "600 ms after all that came was heard");
  assert.equal(givenUpAtMs(3_000, 2_500), 4_500, "two seconds after it was asked for");
  assert.equal(givenUpAtMs(1_000, 1_100), 3_000, "two seconds of silence");
});

test("a second sentence that cannot be spoken takes with it what follows, and not the first, which is still on its way", () => {
  const call = new AnsweredCall().ask().reply("One is here. Two is there. Three is gone.");
  call.mute(1).mute(1).takeLines();
  call.whole(0, 900);
  assert.deepEqual(call.linesOf("play"), ["play #1.0"]);
  assert.deepEqual(
    call.activeTurn.sentences.map(({ text }) => text),
    ["One is here."],
  );
  assert.equal(call.activeTurn.requestedCount, 1);
});

test("no more than sixty-four sentences of a reply are kept, and the model is stopped there", () => {
  const call = new AnsweredCall().ask();
  while (call.activeTurn.sentences.length < 63) call.token("So it is. ");
  assert.deepEqual(call.linesOf("stop model"), []);
  call.token("So it is. So it is. So it is. ");
  assert.deepEqual(call.linesOf("stop model"), ["stop model #1"]);
  assert.equal(call.activeTurn.sentences.length, 64);
  call.token("So it is. ").done();
  assert.equal(call.activeTurn.sentences.length, 64);
});
