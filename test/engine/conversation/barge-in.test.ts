import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConversationSettings } from "../../../engine/conversation/state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const STATEMENT = "We have three rooms with a view of the lake.";
/** Without the word that may become agreement, so that this is no echo. */
const OTHER_STATEMENT = "Each room has a bath, a desk and a large bed.";
/** The agent says this on the telephone for four seconds; two of them are over. */
function speakingCall(text: string, settings: Partial<ConversationSettings>): RecordedCall {
  const line = { isPaced: true, isStreamed: true };
  const call = new RecordedCall({ ...PLAIN_SETTINGS, ...line, ...settings });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "what do you offer" });
  call.send({ type: "replyToken", turnId: 1, text });
  call.send({ type: "replyDone", turnId: 1, tokens: 5 });
  call.send({ type: "sentenceWhole", turnId: 1, index: 0, durationMs: 4_000, firstByteAtMs: 0 });
  call.clock.advance(3_000);
  return call;
}

function hear(call: RecordedCall, text: string, isFinal = false, speechFinal = false): void {
  const times = { lastWordEndMs: undefined, endedAgoMs: 0 };
  call.send({ type: "transcript", text, isFinal, speechFinal, ...times });
}

/** What the agent does at these words: goes on, stands still or stops. */
function doing(call: RecordedCall): string {
  const { turn } = call;
  const { outputPausedAtMs } = call.actor.state;
  if (turn?.id !== 1) return "stops";
  return outputPausedAtMs === undefined ? "speaks" : "stands still";
}

function doingAt(
  text: string,
  words: string,
  sensitivity: ConversationSettings["sensitivity"],
  isFinal = false,
) {
  const call = speakingCall(text, { sensitivity });
  hear(call, words, isFinal);
  return doing(call);
}

test("a word that may become backchannel is waited for until it is settled, except by an agent that any voice stops", () => {
  assert.equal(doingAt(OTHER_STATEMENT, "of", "medium"), "speaks");
  assert.equal(doingAt(OTHER_STATEMENT, "of", "medium", true), "stops");
  assert.equal(doingAt(OTHER_STATEMENT, "of", "high"), "stops");
  assert.equal(doingAt(OTHER_STATEMENT, "what", "medium"), "stops");
});

test("keys in the middle of words do not settle the words", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  hear(call, "my number is");
  call.send({ type: "digit", digit: "#" });
  assert.ok(call.pendingDeadlines.includes("endpointing"));
  hear(call, "my number is five", true);
  call.send({ type: "written", text: "five" });
  assert.ok(call.pendingDeadlines.includes("endpointing"));
});

/** Words that may be the agent's own wait until it has spoken; it is speaking. */
function doubtfulCall(): RecordedCall {
  const call = speakingCall(STATEMENT, { sensitivity: "low" });
  hear(call, "rooms with a", true, true);
  assert.equal(call.actor.state.echo.suspected?.text, "rooms with a");
  return call;
}

const isAnswered = (call: RecordedCall) =>
  call.effects.some((effect) => effect.type === "requestReply" && effect.turnId > 1);

test("words that may be the agent's own are answered when it has spoken, unless more of them come", () => {
  const call = doubtfulCall();
  call.clock.advance(1_000);
  call.send({ type: "sentencePlayed", turnId: 1, index: 0 });
  assert.equal(isAnswered(call), true);
});

test("words that may be the agent's own wait for those that are still guessed at, and are answered when these are taken back", () => {
  const call = doubtfulCall();
  hear(call, "view of");
  call.clock.advance(1_000);
  call.send({ type: "sentencePlayed", turnId: 1, index: 0 });
  assert.equal(isAnswered(call), false);
  hear(call, "");
  assert.equal(isAnswered(call), false);
  hear(call, "", true);
  assert.equal(isAnswered(call), true);
});
