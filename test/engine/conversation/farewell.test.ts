import assert from "node:assert/strict";
import { test } from "node:test";
import { ORGANIZATION_ENDED } from "../../../engine/conversation/call-end.js";
import { stockPhrases } from "../../../engine/conversation/lexicon.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

/** When a call that may last so long is told that its time is up; undefined for never. */
function timeUpAfterMs(durationMaxMs: number): number | undefined {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, durationMaxMs });
  call.send({ type: "opened", resumed: true });
  return call.actor.state.deadlines.timeUp;
}

test("who hears a goodbye already is not told that the time is up", () => {
  const phrases = stockPhrases("en");
  const settings = { ...PLAIN_SETTINGS, phrases, durationMaxMs: 60_000 };
  const call = new RecordedCall(settings);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
  const goodbye = structuredClone(call.turn);
  assert.deepEqual(goodbye?.ending, ORGANIZATION_ENDED);
  call.reach("timeUp");
  assert.deepEqual(call.turn, goodbye);
});

test("a call that may last half a minute or longer is told six seconds before its end", () => {
  assert.equal(timeUpAfterMs(29_999), undefined);
  assert.equal(timeUpAfterMs(30_000), 24_000);
  assert.equal(timeUpAfterMs(1_800_000), 1_794_000);
});

test("a client is told to be silent for the last words where it was sent something, and not else", () => {
  for (const isSpeaking of [true, false]) {
    const call = new RecordedCall(PLAIN_SETTINGS);
    call.send({ type: "opened", resumed: true });
    call.send({ type: "written", text: "what time is it" });
    call.send({ type: "replyToken", turnId: 1, text: "It is ten." });
    call.send({ type: "replyDone", turnId: 1, tokens: 5 });
    if (isSpeaking) {
      const audio = { turnId: 1, index: 0, durationMs: 900, firstByteAtMs: 0 };
      call.send({ type: "sentenceWhole", ...audio });
    }
    call.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
    const lines = call.takeLines();
    assert.equal(lines.includes("send audioStop"), isSpeaking);
  }
});

const HANGUP = { kind: "hangup", name: "hangup" } as const;
const TRANSFER = { kind: "transfer", name: "transfer", to: "+15550001111" } as const;

/** The agent is saying its goodbye, with which it hangs up or hands the call on. */
function callInGoodbye(name: "hangup" | "transfer"): RecordedCall {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools: [HANGUP, TRANSFER] });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "that is all" });
  call.send({ type: "replyToken", turnId: 1, text: "Goodbye then." });
  const toolCalls = [{ id: "a", name, argumentsJson: "{}" }];
  call.send({ type: "replyDone", turnId: 1, tokens: 5, toolCalls });
  call.send({ type: "sentenceWhole", turnId: 1, index: 0, durationMs: 2_000, firstByteAtMs: 0 });
  call.clock.advance(500);
  return call;
}

test("a call whose recognizer fails in the agent's goodbye is completed, or handed on as it was to be", () => {
  const hungUp = callInGoodbye("hangup");
  hungUp.send({ type: "sttFailed" });
  const { reason, status, transferTo } = hungUp.turn?.ending ?? {};
  assert.deepEqual(
    { reason, status, transferTo },
    {
      reason: "sttFailed",
      status: "completed",
      transferTo: undefined,
    },
  );
  const handedOn = callInGoodbye("transfer");
  handedOn.send({ type: "sttFailed" });
  const ending = handedOn.turn?.ending;
  assert.deepEqual(
    [ending?.reason, ending?.status, ending?.transferTo],
    ["sttFailed", "failed", "+15550001111"],
  );
});

test("a caller who never heard the agent is told that it cannot hear; one who has, and whose agent has no words for it, is not", () => {
  const before = new RecordedCall(PLAIN_SETTINGS);
  before.send({ type: "opened", resumed: true });
  before.send({ type: "sttFailed" });
  assert.deepEqual(
    before.turn?.sentences.map(({ text }) => text),
    [PLAIN_SETTINGS.apology],
  );
  const after = new RecordedCall(PLAIN_SETTINGS);
  after.send({ type: "opened", resumed: false });
  after.send({ type: "sttFailed" });
  assert.equal(after.actor.state.phase, "ended");
});

test("nobody is told anything before the call has begun", () => {
  const deaf = new RecordedCall(PLAIN_SETTINGS);
  deaf.send({ type: "sttFailed" });
  const ended = new RecordedCall(PLAIN_SETTINGS);
  ended.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
  for (const call of [deaf, ended]) {
    assert.equal(call.actor.state.phase, "ended");
    assert.ok(!call.effects.some(({ type }) => type === "synthesize"));
  }
});

test("last words that somebody had to have said stand, whatever else ends the call meanwhile", () => {
  const settings = { ...PLAIN_SETTINGS, phrases: stockPhrases("en"), durationMaxMs: 60_000 };
  const call = new RecordedCall(settings);
  call.send({ type: "opened", resumed: true });
  call.clock.advance(54_000);
  const turn = structuredClone(call.turn);
  assert.equal(turn?.ending?.reason, "durationLimit");
  call.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
  call.send({ type: "sttFailed" });
  assert.deepEqual(call.turn, turn);
});
