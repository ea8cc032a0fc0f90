import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConversationSettings } from "../../../engine/conversation/state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const STATEMENT = "We have three rooms with a view of the lake.";
/** Without the word that may become agreement, so that this is no echo. */
const OTHER_STATEMENT = "Each room has a bath, a desk and a large bed.";
const QUESTION = "Do you want a room with a view of the lake?";

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

test("a word of backchannel makes only an agent stand still that any voice stops, and it goes on with the next", () => {
  assert.equal(doingAt(STATEMENT, "uh-huh", "low"), "speaks");
  assert.equal(doingAt(STATEMENT, "uh-huh", "medium"), "speaks");
  assert.equal(doingAt(STATEMENT, "uh-huh", "high"), "stands still");
  const call = speakingCall(STATEMENT, { sensitivity: "high" });
  hear(call, "uh-huh");
  hear(call, "uh-huh yes");
  assert.equal(doing(call), "speaks");
});

test("a word of backchannel lets audio go on that stands still for the voice that said it", () => {
  const call = speakingCall(STATEMENT, { sensitivity: "medium" });
  call.send({ type: "speechStarted", voiceAgoMs: undefined });
  assert.equal(doing(call), "stands still");
  hear(call, "uh-huh");
  assert.equal(doing(call), "speaks");
});

test("yes to a question that is nearly over waits for its end, and stops at once an agent that any voice stops", () => {
  assert.equal(doingAt(QUESTION, "yes", "medium"), "speaks");
  assert.equal(doingAt(QUESTION, "yes", "high"), "stops");
});

test("a word that may become backchannel is waited for until it is settled, except by an agent that any voice stops", () => {
  assert.equal(doingAt(OTHER_STATEMENT, "of", "medium"), "speaks");
  assert.equal(doingAt(OTHER_STATEMENT, "of", "medium", true), "stops");
  assert.equal(doingAt(OTHER_STATEMENT, "of", "high"), "stops");
  assert.equal(doingAt(OTHER_STATEMENT, "what", "medium"), "stops");
});

test("one word does not stop an agent that is hard to interrupt, two do", () => {
  assert.equal(doingAt(STATEMENT, "what", "low"), "speaks");
  assert.equal(doingAt(STATEMENT, "what then", "low"), "stops");
});

test("the agent's own words let its audio go on that stood still for them, and words that only may be its own do not", () => {
  for (const [words, after] of [
    ["three rooms with a view of", "speaks"],
    ["rooms with a", "stands still"],
  ] as const) {
    const call = speakingCall(STATEMENT, {});
    call.send({ type: "speechStarted", voiceAgoMs: undefined });
    hear(call, words);
    assert.equal(doing(call), after, words);
  }
});

test("a word that does not interrupt a reply that was not heard yet is answered with it, and only the old reply is stopped", () => {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, sensitivity: "low" });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "what do you offer" });
  call.takeLines();
  hear(call, "today", true, true);
  assert.deepEqual(
    call.takeLines().filter((line) => /abort|playback|ask model/.test(line)),
    ["abort turn #1", 'ask model #2: user "what do you offer today"'],
  );
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

test("words that prove to be the agent's own with those that follow are dropped, whenever they began", () => {
  const call = doubtfulCall();
  call.clock.advance(1_000);
  hear(call, "view of the lake", true, true);
  call.send({ type: "sentencePlayed", turnId: 1, index: 0 });
  assert.equal(call.actor.state.echo.suspected, undefined);
  assert.equal(isAnswered(call), false);
});
