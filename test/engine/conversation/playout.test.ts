import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";
import { AnsweredCall } from "./answered-call.js";

const STREAMED = { isStreamed: true };
const PACED = { isStreamed: true, isPaced: true };

test("two sentences are made at a time, and the next is asked for when one of them is with the caller", () => {
  const call = new AnsweredCall()
    .ask()
    .reply("One is here. Two is there. Three is gone. Four is new.");
  assert.deepEqual(call.linesOf("synthesize"), [
    'synthesize #1.0 "One is here."',
    'synthesize #1.1 "Two is there."',
  ]);
  call.whole(0, 900);
  assert.deepEqual(call.linesOf("synthesize"), ['synthesize #1.2 "Three is gone."']);
});

test("a sentence that still grows is one of the two that are made", () => {
  const call = new AnsweredCall(STREAMED).ask().reply("One is here. Two is there. Three is gone.");
  call.takeLines();
  call.grew(0, 300);
  assert.deepEqual(call.linesOf("synthesize"), []);
  call.whole(0, 900);
  assert.deepEqual(call.linesOf("synthesize"), ['synthesize #1.2 "Three is gone."']);
});

test("no sentence is asked for while the caller has ten seconds to hear, and it is a moment later", () => {
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

test("a voice that falls silent early in a sentence is asked again after 1,200 ms, a later one 400 ms before its end is heard", () => {
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

test("a telephone's mark is waited for 1,500 ms beyond the end of its sound, a browser's is not there", () => {
  for (const [settings, delayMs] of [
    [PACED, 2_400],
    [STREAMED, 900],
  ] as const) {
    const call = new AnsweredCall(settings).ask().reply("One is here.");
    call.takeLines();
    call.whole(0, 900);
    assert.deepEqual(call.linesOf("deadline playbackEnd in"), [
      `deadline playbackEnd in ${delayMs}`,
    ]);
  }
});

test("of a turn of which nothing could be sent no mark is waited for", () => {
  const call = new AnsweredCall(PACED).ask().reply("One is here.").mute(0);
  call.takeLines();
  call.mute(0);
  assert.deepEqual(call.linesOf("deadline playbackEnd in"), ["deadline playbackEnd in 0"]);
});

test("a sentence is tried twice", () => {
  const call = new AnsweredCall().ask().reply("One is here.");
  call.takeLines();
  assert.equal(call.mute(0).linesOf("synthesize").length, 1);
  assert.equal(call.mute(0).linesOf("synthesize").length, 0);
  assert.equal(call.activeTurn.faulty, true);
});

test("a greeting that is not spoken for seven seconds is given up", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: false });
  call.clock.advance(6_999);
  call.takeLines();
  assert.deepEqual(call.takeLines(), []);
  call.clock.advance(1);
  assert.ok(call.takeLines().includes("abort turn #1"));
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

test("where the model breaks off, all that it had said by then is still spoken", () => {
  const call = new AnsweredCall()
    .ask()
    .token("One is here. Two is there. Three is gone. Four is new. ");
  call.whole(0, 900).fail().takeLines();
  call.whole(1, 900);
  assert.deepEqual(call.linesOf("synthesize"), ['synthesize #1.3 "Four is new."']);
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

test("every character that a voice is asked for is counted, also where it is only one", () => {
  const call = new AnsweredCall().ask().reply("7");
  assert.equal(call.actor.state.record.metrics.ttsChars, 1);
});

test("a sentence that begins while the sound stands still is looked after at once, not in the past", () => {
  const call = new AnsweredCall(PACED)
    .ask()
    .reply("One is here and stays. Two is there and goes on.");
  call.whole(0, 1_500).wait(1_000);
  call.send({ type: "speechStarted" });
  assert.equal(call.actor.state.outputPausedAtMs, 1_000);
  call.wait(1_100).takeLines();
  call.grew(1, 100);
  assert.deepEqual(call.linesOf("deadline underrun in"), ["deadline underrun in 0"]);
});
