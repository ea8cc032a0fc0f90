import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const GOODBYE = "Goodbye then, and see you soon.";

/** A call whose agent says goodbye from 0 on; so much of its sound has come. */
function callInGoodbye(
  sound: "sentenceGrew" | "sentenceWhole",
  durationMs: number,
  isPaced: boolean,
) {
  const tools = [{ kind: "hangup", name: "hangup" }] as const;
  const call = new RecordedCall({ ...PLAIN_SETTINGS, isPaced, isStreamed: true, tools });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "that is all" });
  const turnId = call.turn?.id ?? 0;
  call.send({ type: "replyToken", turnId, text: GOODBYE });
  const toolCalls = [{ id: "a", name: "hangup", argumentsJson: "{}" }];
  call.send({ type: "replyDone", turnId, tokens: 5, toolCalls });
  call.send({ type: sound, turnId, index: 0, durationMs, firstByteAtMs: 0 });
  return { call, turnId };
}

function thank(call: RecordedCall): void {
  const heard = { isFinal: true, speechFinal: true, lastWordEndMs: undefined, endedAgoMs: 100 };
  call.send({ type: "transcript", text: "thank you", ...heard });
}

const isOver = (call: RecordedCall) => call.actor.state.phase === "ended";

test("thanks into a hole in the goodbye do not end it in the middle", () => {
  const { call, turnId } = callInGoodbye("sentenceGrew", 500, false);
  call.clock.advance(600);
  thank(call);
  assert.equal(isOver(call), false);
  call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: 2_000, firstByteAtMs: 0 });
  call.clock.advance(10_000);
  assert.equal(isOver(call), true);
  assert.ok(call.takeLines().includes(`send assistant final "${GOODBYE}"`));
});

test("thanks at the very end of the goodbye end the call, and a moment earlier do not", () => {
  for (const [atMs, isEnd] of [
    [999, false],
    [1_000, true],
  ] as const) {
    const { call } = callInGoodbye("sentenceWhole", 1_000, false);
    call.clock.advance(900);
    call.send({ type: "speechStarted", voiceAgoMs: undefined });
    call.clock.advance(atMs - 900);
    thank(call);
    assert.equal(isOver(call), isEnd, `at ${atMs} ms`);
  }
});

test("a telephone call waits for the telephone's word that the goodbye was heard", () => {
  const { call, turnId } = callInGoodbye("sentenceWhole", 1_000, true);
  call.clock.advance(1_100);
  thank(call);
  assert.equal(isOver(call), false);
  call.send({ type: "sentencePlayed", turnId, index: 0 });
  assert.equal(isOver(call), true);
});
