import assert from "node:assert/strict";
import { test } from "node:test";
import { commitTurn } from "../../../engine/conversation/commit-turn.js";
import { EMPTY_LEDGER, recordSent } from "../../../engine/conversation/playback-ledger.js";
import { newSentence } from "../../../engine/conversation/playout.js";
import { splitToken } from "../../../engine/conversation/sentences.js";
import {
  type AgentTurn,
  asSent,
  newConversation,
  newTurn,
  placeOf,
  reportOf,
  SILENT,
  setAgentTurn,
  splitterFor,
  type Turn,
} from "../../../engine/conversation/state.js";
import { changed } from "../../doubles/changed-state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const MOMENTS = { callerEndedAtMs: 100, decidedAtMs: 300.04 };

function turnOf(given: Partial<Turn> = {}): Turn {
  const turn = newTurn({ id: 7, kind: "reply", userText: "Go on.", attempt: 1, ...MOMENTS });
  return { ...turn, ...given };
}

test("the report of a turn says what there was, in tenths of a millisecond, and leaves out what there was not", () => {
  const bare = { turn: 7, kind: "reply", outcome: "played", sttMs: 200 };
  assert.deepEqual(reportOf(turnOf(), "played"), bare);
  const counts = { underruns: 1, fillerCount: 1, wastedTokens: 1, preemptiveMs: 0.26 };
  const told = { underruns: 1, fillerCount: 1, wastedTokens: 1, preemptiveMs: 0.3 };
  assert.deepEqual(reportOf(turnOf(counts), "failed"), { ...bare, outcome: "failed", ...told });
  const greeting = reportOf(turnOf({ kind: "greeting" }), "played");
  assert.deepEqual(greeting, { turn: 7, kind: "greeting", outcome: "played" });
});

test("sentences are found by their numbers, whatever was said between them", () => {
  const answers = ["One.", "Two."].map((text, slot) => newSentence(text, slot));
  const plain = turnOf({ sentences: answers });
  assert.deepEqual(
    [0, 1, 2, 1_000].map((slot) => placeOf(plain, slot)),
    [0, 1, -1, -1],
  );
  const sentences = answers.toSpliced(1, 0, newSentence("One moment.", 1_000));
  const told = turnOf({ sentences, fillerCount: 1 });
  assert.deepEqual(
    [0, 1, 2, 1_000].map((slot) => placeOf(told, slot)),
    [0, 2, -1, 1],
  );
});

test("the expected length of a sentence is its received audio, plus the voice's pace for the rest", () => {
  const sentence = newSentence("0123456789", 0);
  const expectedMs = (given: Partial<typeof sentence>) =>
    asSent({ ...sentence, ...given }, 100).expectedMs;
  assert.equal(expectedMs({}), 1_000);
  assert.equal(asSent(sentence, 100).durationMs, 0);
  assert.equal(expectedMs({ durationMs: 400 }), 1_000);
  assert.equal(expectedMs({ durationMs: 1_400 }), 1_400);
  assert.equal(expectedMs({ durationMs: 400, isWhole: true }), 400);
  const firstTry = { text: "0123", durationMs: 700, atMs: 0 };
  assert.equal(
    expectedMs({ durationMs: 700, firstTry }),
    1_300,
    "six characters are still to come",
  );
});

test("a line in stream mode gets longer pieces than one with whole sentences", () => {
  const reply = `The garden has roses, ${"which nobody has seen for years, ".repeat(12)}`;
  const [streamed, whole] = [true, false].map(
    (isStreamed) => splitToken(splitterFor({ isStreamed }), reply).sentences,
  );
  assert.ok(streamed !== undefined && streamed.length > 1);
  assert.notDeepEqual(streamed, whole);
});

const times = { callerEndedAtMs: 0, decidedAtMs: 0, attempt: 1 };
const turn = newTurn({ id: 1, kind: "reply", userText: "Hello?", ...times });
const words = { userText: "Hello?", words: "Hello?" };
const received = { passagesChars: 0, text: "", done: undefined };
const reply = { turnId: 1, ...words, requestedAtMs: 0, ...received };
const STATES: readonly AgentTurn[] = [
  SILENT,
  { state: "speculating", reply },
  { state: "replying", turn },
  { state: "saying", turn },
];
/** All that may follow one another; the rest ends the call. */
const LEGAL = new Set([
  "silent speculating",
  "silent replying",
  "silent saying",
  "speculating silent",
  "speculating replying",
  "replying replying",
  "replying silent",
  "saying silent",
]);

for (const from of STATES) {
  for (const to of STATES) {
    const isLegal = LEGAL.has(`${from.state} ${to.state}`);
    test(`the agent's turn ${isLegal ? "can" : "cannot"} go from ${from.state} to ${to.state}`, () => {
      const state = { ...newConversation(PLAIN_SETTINGS, []), agent: from };
      if (isLegal) {
        setAgentTurn(state, to);
        assert.equal(state.agent, to);
        return;
      }
      assert.throws(() => setAgentTurn(state, to), {
        message: `the agent's turn cannot go from ${from.state} to ${to.state}`,
      });
      assert.equal(state.agent, from);
    });
  }
}

test("a turn that cannot follow ends its call with the reason", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.actor.state.agent = { state: "saying", turn };
  call.send({ type: "transferRefused", turnId: 1 });
  assert.deepEqual(call.crashes, []);
  call.actor.state.transfer = {
    turnId: 1,
    ending: { reason: "transferred", status: "completed", message: "handed on" },
    pendingEnd: undefined,
  };
  call.actor.state.phase = "transferring";
  call.actor.state.agent = { state: "speculating", reply };
  call.send({ type: "transferRefused", turnId: 1 });
  assert.deepEqual(
    call.crashes,
    [],
    "a preemptive reply is dropped before the agent says something",
  );
  assert.equal(call.turn?.kind, "transferRefused");
});

const SENTENCE = { text: "One moment.", durationMs: 900, expectedMs: 900, isWhole: true };

test("a turn that nothing was sent of leaves what was spoken before it, whose echo may still come", () => {
  const ledger = recordSent(EMPTY_LEDGER, SENTENCE, 0);
  const spokenBefore = { ledger, untilMs: 900, turnBeforeAtMs: undefined };
  const times = { callerEndedAtMs: 1_000, decidedAtMs: 1_200, attempt: 0 };
  const turn = newTurn({ id: 2, kind: "reply", userText: "Hello?", ...times });
  const state = changed(newConversation(PLAIN_SETTINGS, []), { echo: { spokenBefore }, turn });
  commitTurn(state, turn, "interrupted", 1_500, []);
  assert.equal(state.echo.spokenBefore, spokenBefore);

  const later = recordSent(EMPTY_LEDGER, SENTENCE, 1_300);
  const sent = { ...turn, ledger: later, sentCount: 1 };
  setAgentTurn(state, { state: "replying", turn: sent });
  commitTurn(state, sent, "interrupted", 1_500, []);
  assert.deepEqual(state.echo.spokenBefore, {
    ledger: later,
    untilMs: 1_500,
    turnBeforeAtMs: undefined,
  });
});

test("a wait without an answer counts for the same question, and not for the next one after a failed reply", () => {
  const times = { callerEndedAtMs: 1_000, decidedAtMs: 1_200, attempt: 0 };
  const turn = newTurn({ id: 2, kind: "reply", userText: "Hello?", ...times });
  const state = changed(newConversation(PLAIN_SETTINGS, []), { turn });
  const waited = { waitedMs: 8_800, untilMs: 10_000 };
  commitTurn(state, turn, "superseded", 10_000, []);
  assert.deepEqual(state.carriedOverWait, waited);
  setAgentTurn(state, { state: "replying", turn });
  commitTurn(state, turn, "failed", 10_000, []);
  assert.equal(state.carriedOverWait, undefined);
});

const HISTORY_MESSAGES_MAX = 20;

/** A call of this many questions and answers after the greeting, and the LLM's messages at each. */
function windowsOf(turns: number): readonly (readonly { role: string; content: string }[])[] {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: false });
  const speak = (index: number) => {
    const turnId = call.turn?.id ?? 0;
    const audio = { turnId, index, durationMs: 500, firstByteAtMs: call.clock.monotonicMs() };
    call.send({ type: "sentenceWhole", ...audio });
  };
  speak(0);
  speak(1);
  call.clock.advance(2_000);
  for (let turn = 1; turn <= turns; turn += 1) {
    const heard = { isFinal: true, speechFinal: true, lastWordEndMs: undefined, endedAgoMs: 0 };
    call.send({ type: "transcript", text: `question ${turn}`, ...heard });
    const turnId = call.turn?.id ?? 0;
    call.send({ type: "replyToken", turnId, text: `Answer ${turn}.` });
    call.send({ type: "replyDone", turnId, tokens: 1 });
    speak(0);
    call.clock.advance(2_000);
  }
  return call.effects.flatMap((effect) => (effect.type === "requestReply" ? [effect.history] : []));
}

test("of a long conversation the end is passed, from a caller's message on", () => {
  for (const window of windowsOf(30).slice(10)) {
    assert.ok(window.length <= HISTORY_MESSAGES_MAX);
    assert.ok(window.length >= HISTORY_MESSAGES_MAX - 1, "no more is left out than one answer");
    assert.equal(window[0]?.role, "user");
    assert.equal(window.at(-1)?.content, `question ${window.at(-1)?.content.split(" ")[1]}`);
  }
});
