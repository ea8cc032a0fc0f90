import assert from "node:assert/strict";
import { test } from "node:test";
import { AGENT_HUNG_UP } from "../../../engine/conversation/call-end.js";
import type { ConversationEffect, TurnReport } from "../../../engine/conversation/effects.js";
import { onPlaybackEnd } from "../../../engine/conversation/playback-end.js";
import { EMPTY_LEDGER, recordSent } from "../../../engine/conversation/playback-ledger.js";
import { newSentence } from "../../../engine/conversation/playout.js";
import {
  type ConversationState,
  newConversation,
  newTurn,
  type Turn,
  turnOf,
  WAITING_SLOT_FIRST,
} from "../../../engine/conversation/state.js";
import { changed, type StateChanges } from "../../doubles/changed-state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const { apology } = PLAIN_SETTINGS;
const ENDS_AT_MS = 1_000;

/** A turn all of which was sent at 0, one sentence after the other, a second long together. */
function heardTurn(
  given: Partial<Turn>,
  texts = ["It is ten."],
  waiting: readonly string[] = [],
): Turn {
  const moments = { callerEndedAtMs: 0, decidedAtMs: 0 };
  const all = [...texts, ...waiting];
  const durationMs = ENDS_AT_MS / Math.max(1, all.length);
  const ledger = all.reduce((before, text) => {
    const sent = { text, durationMs, expectedMs: durationMs, isWhole: true };
    const isFiller = waiting.includes(text);
    return recordSent(before, { ...sent, ...(isFiller && { isFiller }) }, 0);
  }, EMPTY_LEDGER);
  const sentences = all.map((text, at) => {
    const slot = at < texts.length ? at : WAITING_SLOT_FIRST + at - texts.length;
    return { ...newSentence(text, slot), durationMs, isWhole: true };
  });
  const counts = { requestedCount: all.length, sentCount: all.length, fillerCount: waiting.length };
  const turn = newTurn({ id: 1, kind: "reply", userText: "Go on.", attempt: 1, ...moments });
  return { ...turn, generating: false, ledger, sentences, ...counts, ...given };
}

function stateWith(turn: Turn, given: StateChanges = {}): ConversationState {
  const readyPhrases = [{ text: apology, durationMs: 900, marks: [] }];
  const begun = { phase: "live", readyPhrases, lastTurnId: 1, turn } as const;
  return changed(newConversation(PLAIN_SETTINGS, []), { ...begun, ...given });
}

function endOf(turn: Turn, given: StateChanges = {}, atMs = ENDS_AT_MS) {
  const out: ConversationEffect[] = [];
  const state = stateWith(structuredClone(turn), given);
  onPlaybackEnd(state, atMs, out);
  return { state, out };
}

const GOODBYE = { ending: AGENT_HUNG_UP };

/** When the goodbye of an agent that hangs up is over, if a voice is heard, or was heard until `voiceUntilMs`. */
function hungUpAtMs(given: StateChanges, voiceUntilMs?: number): number {
  const state = stateWith(heardTurn(GOODBYE), given);
  let atMs = ENDS_AT_MS;
  for (let looks = 0; looks < 20; looks += 1) {
    const out: ConversationEffect[] = [];
    const voiceAgoMs = voiceUntilMs === undefined ? undefined : Math.max(0, atMs - voiceUntilMs);
    onPlaybackEnd(state, atMs, out, voiceAgoMs);
    if (state.phase === "ended") return atMs;
    assert.deepEqual(out, []);
    const { playbackEnd } = state.deadlines;
    assert.ok(playbackEnd !== undefined);
    atMs = playbackEnd;
  }
  return Number.POSITIVE_INFINITY;
}

test("a call is closed at the end of the goodbye, or so much later that a voice that began by then may become words", () => {
  assert.equal(hungUpAtMs({}), 1_000, "nobody speaks");
  assert.equal(hungUpAtMs({}, Number.POSITIVE_INFINITY), 1_000, "nobody is known to speak");
  assert.equal(hungUpAtMs({ user: { voicedAtMs: 900 } }), 2_000, "a second");
  assert.equal(hungUpAtMs({ user: { voicedAtMs: 900 } }, 0), 2_000, "the voice is over");
  assert.equal(hungUpAtMs({ user: { voicedAtMs: 900 } }, 3_000), 4_500, "1,500 ms after the voice");
  assert.equal(
    hungUpAtMs({ user: { voicedAtMs: 900 } }, Number.POSITIVE_INFINITY),
    7_000,
    "a street",
  );
  const hearing = { ...newConversation(PLAIN_SETTINGS, []).user.hearing, interim: "wait" };
  assert.equal(hungUpAtMs({ user: { hearing } }), 2_000, "words that are still to be settled");
});

test("a voice that began ten seconds ago, and became no words, keeps no call open", () => {
  assert.equal(hungUpAtMs({ user: { voicedAtMs: -9_000 } }), 1_000);
  assert.equal(hungUpAtMs({ user: { voicedAtMs: -8_999 } }), 2_000);
});

test("the last millisecond of that wait is waited for, too", () => {
  const out: ConversationEffect[] = [];
  const state = stateWith(heardTurn(GOODBYE), { user: { voicedAtMs: 900 } });
  onPlaybackEnd(state, 1_999, out);
  assert.deepEqual(out, []);
  assert.equal(state.deadlines.playbackEnd, 2_000);
});

test("a timer that goes off early, or late, finds all heard that it was set for", () => {
  for (const atMs of [999, 1_000, 1_500]) {
    const { state, out } = endOf(heardTurn({}), {}, atMs);
    const [told] = out;
    assert.ok(told?.type === "send" && told.message.type === "transcript");
    assert.equal(told.message.text, "It is ten.");
    assert.equal(state.echo.spokenBefore.untilMs, Math.max(1_000, atMs));
    assert.ok(out.some((effect) => effect.type === "send" && effect.message.type === "audioEnd"));
  }
});

test("a reply that was heard resets the count of failed turns, and what the agent says on its own does not", () => {
  for (const kind of ["reply", "greeting", "apology", "reminder", "resumed"] as const) {
    const { state } = endOf(heardTurn({ kind }), { failedTurns: 2 });
    assert.equal(state.failedTurns, kind === "reply" ? 0 : 2);
  }
});

test("a failed reply is counted and reported to the client, and the third in a row ends the call with a prepared phrase", () => {
  for (const [turn, message] of [
    [heardTurn({ faulty: true }), "the reply was cut short"],
    [heardTurn({ faulty: true }, []), "the reply could not be spoken"],
    [heardTurn({ faulty: true }, [], ["One moment."]), "the reply could not be spoken"],
  ] as const) {
    const { state, out } = endOf(turn);
    assert.equal(state.failedTurns, 1);
    const errors = out.flatMap((effect) =>
      effect.type === "send" && effect.message.type === "error" ? [effect.message.message] : [],
    );
    assert.deepEqual(errors, [message]);
    const third = endOf(turn, { failedTurns: 2 }).state;
    assert.equal(turnOf(third)?.kind, "apology");
    assert.equal(turnOf(third)?.ending?.reason, "speechFailed");
    assert.equal(endOf(turn, { failedTurns: 2, readyPhrases: [] }).state.phase, "ended");
  }
  assert.equal(
    turnOf(endOf(heardTurn({ faulty: true, hopeless: true })).state)?.ending?.status,
    "failed",
  );
});

test("the apology is owed for a reply that has no end: nothing of it was heard, more was promised, or tools were at work", () => {
  const isOwed = (turn: Turn, given?: StateChanges) =>
    turnOf(endOf(turn, given).state)?.kind === "apology";
  const faulty = { faulty: true };
  assert.equal(isOwed(heardTurn(faulty, [])), true);
  assert.equal(isOwed(heardTurn(faulty, [], ["One moment."])), true);
  assert.equal(isOwed(heardTurn(faulty, ["It is ten."], ["One moment."])), true);
  assert.equal(isOwed(heardTurn({ ...faulty, toolsWaiting: ["weather"] })), true);
  assert.equal(isOwed(heardTurn(faulty)), false, "it ends with a sentence");
  assert.equal(isOwed(heardTurn(faulty, ["It is ten.", "So it is."])), false);
  assert.equal(isOwed(heardTurn(faulty, ["It is ten."], [apology])), false, "it was said");
  assert.equal(isOwed(heardTurn({}, [])), false, "nothing has failed");
  assert.equal(isOwed(heardTurn({ toolsWaiting: ["weather"] })), false);
  assert.equal(isOwed(heardTurn({ ...faulty, kind: "greeting" }, [])), false);
  assert.equal(isOwed(heardTurn(faulty, []), { readyPhrases: [] }), false, "it would fail as well");
  const asked = endOf(heardTurn(faulty, []), { user: { unanswered: "and tomorrow?" } }).state;
  assert.equal(turnOf(asked)?.kind, "reply", "the caller has asked for something else");
});

const PARTS = ["sttMs", "llmFirstTokenMs", "llmSentenceMs", "ttsFirstByteMs", "ttsRestMs"] as const;

function reportsOf({ effects }: RecordedCall): readonly TurnReport[] {
  return effects.flatMap((effect) =>
    effect.type === "saveTurn" && effect.save.report !== undefined ? [effect.save.report] : [],
  );
}

function answer(call: RecordedCall, turnId: number): void {
  call.send({ type: "replyToken", turnId, text: "The table is yours." });
  call.send({ type: "replyDone", turnId, tokens: 9 });
  const firstByteAtMs = call.clock.monotonicMs();
  call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: 3_000, firstByteAtMs });
}

function totalOf(report: TurnReport | undefined): number | undefined {
  const sum = PARTS.reduce((sumMs, part) => sumMs + (report?.[part] ?? 0), 0);
  assert.equal(sum, report?.totalMs, "the parts are what was waited");
  return report?.totalMs;
}

test("the wait of a turn after an interruption begins with the end of the voice, not of the words", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "book a table" });
  answer(call, 1);
  call.clock.advance(1_000);
  call.hearVoice(true);
  const words = { text: "no wait please", isFinal: true, speechFinal: false };
  const voice = { lastWordEndMs: undefined, endedAgoMs: 0, voiceAgoMs: 0 };
  call.send({ type: "transcript", ...words, ...voice });
  call.clock.advance(1_400);
  call.hearVoice(false);
  call.clock.advance(600);
  if (call.turn === undefined) call.send({ type: "callerTurnEnded" });
  call.reach("endpointing", { voiceAgoMs: call.voiceAgoMs });
  const { turn } = call;
  assert.equal(turn?.kind, "reply");
  assert.equal(turn?.callerEndedAtMs, 2_400);
  call.clock.advance(400);
  answer(call, turn?.id ?? 0);
  call.clock.advance(3_000);
  assert.equal(totalOf(reportsOf(call).at(-1)), call.clock.monotonicMs() - 3_000 - 2_400);
});

test("so does the end of a reply that waited for a voice that continued", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "book a table" });
  call.clock.advance(100);
  call.hearVoice(true);
  call.send({ type: "speechStarted", voiceAgoMs: 0 });
  answer(call, 1);
  call.clock.advance(1_000);
  call.hearVoice(false);
  call.clock.advance(5_000);
  const [report] = reportsOf(call);
  const waitedMs = totalOf(report) ?? Number.POSITIVE_INFINITY;
  assert.ok(waitedMs >= 0 && waitedMs <= 1_000, `${waitedMs} ms`);
});
