import assert from "node:assert/strict";
import { test } from "node:test";
import { type CallerSpeech, decideBargeIn } from "../../../engine/conversation/barge-in.js";
import { AGENT_HUNG_UP, type Ending } from "../../../engine/conversation/call-end.js";
import {
  BARGE_INS_PER_TURN_MAX,
  type BargeInAction,
  type BargeInReason,
  withBargeIn,
} from "../../../engine/conversation/reasons.js";
import {
  type ConversationSettings,
  type ConversationState,
  type Turn,
  turnOf,
} from "../../../engine/conversation/state.js";
import { changed } from "../../doubles/changed-state.js";
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

/** The agent's reaction to these words: continues, pauses or stops. */
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

const QUESTION = "Do you want a room with a view of the lake?";
const AT_MS = 3_000;
const SUSPENDED: Ending = { reason: "suspended", status: "completed", message: "suspended" };

/** The agent has said three of the four seconds of this, on a paced line unless the settings say otherwise. */
function speaking(text = STATEMENT, settings: Partial<ConversationSettings> = {}): RecordedCall {
  const line = { isPaced: true, isStreamed: true };
  const call = asked({ ...line, ...settings });
  call.send({ type: "replyToken", turnId: 1, text });
  call.send({ type: "replyDone", turnId: 1, tokens: 5 });
  call.send({ type: "sentenceWhole", turnId: 1, index: 0, durationMs: 4_000, firstByteAtMs: 0 });
  call.clock.advance(AT_MS);
  return call;
}

/** The LLM request has started, and nothing of its reply has arrived. */
function asked(settings: Partial<ConversationSettings> = {}): RecordedCall {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, ...settings });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "what do you offer" });
  return call;
}

const stateOf = (call: RecordedCall): ConversationState =>
  changed(call.actor.state, { user: { endedAtMs: AT_MS } });

function withTurn(state: ConversationState, changes: Partial<Turn>): ConversationState {
  const turn = turnOf(state);
  assert.ok(turn);
  return changed(state, { turn: { ...turn, ...changes } });
}

function words(text: string, isSettled = false): CallerSpeech {
  return { type: "words", text, words: text.split(" ").length, isSettled };
}

const VOICE: CallerSpeech = { type: "voice" };
const PAUSED = { ...stateOf(speaking()), outputPausedAtMs: 2_800 };
const PRESSING_KEYS = withTurn(stateOf(asked()), { dtmfCallIds: ["a"], toolsWaiting: ["a"] });
const HARD = { sensitivity: "low" } as const;
const EASY = { sensitivity: "high" } as const;
const BROWSER = { isPaced: false };

/** What the caller does, in which state, and what is decided. */
const DECISIONS: readonly (readonly [
  BargeInAction,
  BargeInReason,
  ConversationState,
  CallerSpeech,
])[] = [
  ["interrupt", "words", stateOf(speaking()), words("stop it now")],
  ["interrupt", "words", stateOf(speaking(STATEMENT, HARD)), words("stop now")],
  ["interrupt", "words", withTurn(PAUSED, { ending: AGENT_HUNG_UP }), words("wait a moment")],
  ["interrupt", "dtmf", stateOf(speaking()), { type: "dtmf" }],
  ["interrupt", "message", stateOf(speaking()), { type: "message" }],
  ["interrupt", "turnContinued", stateOf(asked()), { type: "answerable", text: "and when" }],
  ["pause", "voice", stateOf(speaking()), VOICE],
  ["pause", "voice", stateOf(speaking(STATEMENT, { ...BROWSER, ...EASY })), VOICE],
  ["pause", "voice", PAUSED, VOICE],
  ["wait", "voice", stateOf(asked()), VOICE],
  ["wait", "voice", stateOf(asked()), { type: "voice", voiceAgoMs: 500 }],
  ["ignore", "voiceEnded", stateOf(asked()), { type: "voice", voiceAgoMs: 501 }],
  ["ignore", "falseInterruption", withTurn(stateOf(asked()), { hasWaitedForWords: true }), VOICE],
  ["ignore", "onlyWordsInterrupt", withTurn(stateOf(asked()), { kind: "apology" }), VOICE],
  ["ignore", "onlyWordsInterrupt", stateOf(speaking(STATEMENT, BROWSER)), VOICE],
  ["ignore", "nothingPlaying", changed(PAUSED, { turn: undefined }), VOICE],
  ["ignore", "nothingPlaying", changed(PAUSED, { turn: undefined }), words("stop it now")],
  ["wait", "sendingDtmf", PRESSING_KEYS, words("stop it now")],
  ["resume", "falseInterruption", PAUSED, { type: "noWords" }],
  ["ignore", "falseInterruption", { ...stateOf(speaking()), falseInterruptions: 3 }, VOICE],
  ["pause", "voice", { ...stateOf(speaking()), falseInterruptions: 2 }, VOICE],
  [
    "ignore",
    "falseInterruption",
    withTurn(stateOf(speaking()), { wasFalselyInterrupted: true }),
    VOICE,
  ],
  ["ignore", "echo", stateOf(speaking()), words("we have three rooms with a view", true)],
  ["resume", "echo", PAUSED, words("we have three rooms with a view", true)],
  ["resume", "echo", PAUSED, { type: "utterance", text: "a view", echo: "certain" }],
  ["wait", "possibleEcho", stateOf(speaking()), words("a view", true)],
  ["resume", "possibleEcho", PAUSED, { type: "utterance", text: "a view", echo: "possible" }],
  ["ignore", "backchannel", stateOf(speaking()), words("uh-huh")],
  ["resume", "backchannel", PAUSED, words("uh-huh")],
  ["pause", "backchannel", stateOf(speaking(STATEMENT, EASY)), words("uh-huh")],
  ["ignore", "backchannel", stateOf(speaking()), { type: "utterance", text: "ok", echo: "none" }],
  ["ignore", "questionNotOver", stateOf(speaking(QUESTION)), words("yes")],
  ["interrupt", "words", stateOf(speaking(QUESTION, EASY)), words("yes")],
  ["wait", "nextWordPending", stateOf(speaking("Rooms are free.")), words("of")],
  ["wait", "tooFewWords", stateOf(speaking(STATEMENT, HARD)), words("lunch")],
  ["interrupt", "interruptionPhrase", stateOf(speaking(STATEMENT, HARD)), words("stop")],
  ["wait", "answeredAfterSpeech", PAUSED, { type: "answerable", text: "and when" }],
  ["resume", "farewell", withTurn(PAUSED, { ending: AGENT_HUNG_UP }), words("thanks, bye")],
  ["ignore", "callIsEnding", withTurn(stateOf(speaking()), { ending: SUSPENDED }), words("wait")],
  [
    "ignore",
    "callIsEnding",
    withTurn(stateOf(speaking()), { ending: SUSPENDED }),
    { type: "dtmf" },
  ],
];

for (const [index, [action, reason, state, speech]] of DECISIONS.entries()) {
  test(`barge-in: ${action}, ${reason} (${index})`, () => {
    assert.deepEqual(decideBargeIn(state, speech, AT_MS), { action, reason });
  });
}

test("a decision changes nothing, and is the same each time", () => {
  for (const [, , state, speech] of DECISIONS) {
    const before = structuredClone(state);
    assert.deepEqual(decideBargeIn(state, speech, AT_MS), decideBargeIn(state, speech, AT_MS));
    assert.deepEqual(structuredClone(state), before);
  }
});

const GUESS = { isFinal: false, speechFinal: false, lastWordEndMs: undefined, endedAgoMs: 0 };

test("output that has resumed does not resume again for the same reason", () => {
  const resumed = [{ action: "resume", reason: "echo", atMs: 1 }] as const;
  assert.equal(withBargeIn(resumed, { action: "ignore", reason: "echo", atMs: 2 }), resumed);
  assert.equal(withBargeIn(resumed, { action: "wait", reason: "echo", atMs: 2 }).length, 2);
  assert.equal(withBargeIn(resumed, { action: "ignore", reason: "voice", atMs: 2 }).length, 2);
});

test("a turn keeps its first decisions and the newest, and reports no more but the interruption", () => {
  const call = speaking(STATEMENT, BROWSER);
  const alternating = ["uh-huh", "we have three rooms with a view"];
  for (let count = 0; count < BARGE_INS_PER_TURN_MAX + 4; count += 1) {
    const text = alternating[count % alternating.length] ?? "";
    call.send({ type: "transcript", text, ...GUESS });
  }
  const kept = call.turn?.bargeIns ?? [];
  assert.equal(kept.length, BARGE_INS_PER_TURN_MAX);
  call.clock.advance(50);
  call.send({ type: "transcript", text: "please stop that now", ...GUESS });
  const saved = call.effects.findLast((effect) => effect.type === "saveTurn")?.save.report;
  assert.equal(saved?.bargeIns?.length, BARGE_INS_PER_TURN_MAX);
  assert.deepEqual(saved?.bargeIns?.slice(0, -1), kept.slice(0, -1));
  assert.deepEqual(saved?.bargeIns?.at(-1), { action: "interrupt", reason: "words", atMs: 3_050 });
  const reported = call.effects.filter(({ type }) => type === "reportBargeIn");
  assert.equal(reported.length, BARGE_INS_PER_TURN_MAX + 1);
});

const ANSWER_MS = 3_000;

function openCall(): RecordedCall {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, isPaced: true, isStreamed: true });
  call.send({ type: "opened", resumed: true });
  return call;
}

/** The agent begins an answer of three seconds. */
function answer(call: RecordedCall): number {
  call.send({ type: "written", text: "what do you offer" });
  const turnId = call.turn?.id ?? 0;
  call.send({ type: "replyToken", turnId, text: "We have three rooms with a view." });
  call.send({ type: "replyDone", turnId, tokens: 5 });
  const firstByteAtMs = call.clock.monotonicMs();
  call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: ANSWER_MS, firstByteAtMs });
  return turnId;
}

const cough = (call: RecordedCall) => call.send({ type: "speechStarted", voiceAgoMs: undefined });

function count(call: RecordedCall, type: "pauseOutput" | "resumeAudio"): number {
  return call.effects.filter((effect) => effect.type === type).length;
}

test("audio pauses for 1,200 ms from the first voice on, however many follow", () => {
  const call = openCall();
  answer(call);
  call.clock.advance(1_000);
  cough(call);
  call.clock.advance(1_000);
  cough(call);
  assert.equal(count(call, "pauseOutput"), 1);
  call.clock.advance(199);
  assert.equal(count(call, "resumeAudio"), 0);
  call.clock.advance(1);
  assert.equal(count(call, "resumeAudio"), 1);
});

test("a voice pauses nothing once all has been heard, though the telephone has not reported it", () => {
  for (const [afterMs, held] of [
    [ANSWER_MS - 1, 1],
    [ANSWER_MS, 0],
    [ANSWER_MS + 100, 0],
  ] as const) {
    const call = openCall();
    answer(call);
    call.clock.advance(afterMs);
    cough(call);
    assert.equal(count(call, "pauseOutput"), held, `${afterMs} ms`);
  }
});

test("an answer is held for nothing once, and after three answers in a row only words stop the agent", () => {
  const call = openCall();
  const heldIn = [1, 2, 3, 4].map(() => {
    const turnId = answer(call);
    const before = count(call, "pauseOutput");
    call.clock.advance(500);
    cough(call);
    call.clock.advance(1_200);
    cough(call);
    call.clock.advance(500);
    call.send({ type: "sentencePlayed", turnId, index: 0 });
    return count(call, "pauseOutput") - before;
  });
  assert.deepEqual(heldIn, [1, 1, 1, 0]);
});

test("a caller whose words have stopped the agent stops it with a voice again", () => {
  const call = openCall();
  for (const _ of [1, 2, 3]) {
    const turnId = answer(call);
    call.clock.advance(500);
    cough(call);
    call.clock.advance(1_700);
    call.send({ type: "sentencePlayed", turnId, index: 0 });
  }
  assert.equal(call.actor.state.falseInterruptions, 3);
  answer(call);
  call.clock.advance(500);
  const heard = { isFinal: true, speechFinal: true, lastWordEndMs: undefined, endedAgoMs: 0 };
  call.send({ type: "transcript", text: "what about breakfast then", ...heard });
  assert.equal(call.actor.state.falseInterruptions, 0);
});

function delaysMs(call: RecordedCall): readonly number[] {
  return call.deadlinesSet.flatMap((deadline) => {
    const [name, delayMs] = deadline.split(" ");
    return name === "overlapBeforeReply" ? [Number(delayMs)] : [];
  });
}

test("a reply waits once for the words of a caller who makes a sound, however often they cough before it", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "what time is it" });
  call.send({ type: "speechStarted", voiceAgoMs: undefined });
  call.clock.advance(1_200);
  call.send({ type: "speechStarted", voiceAgoMs: undefined });
  assert.deepEqual(delaysMs(call), [1_200]);
  assert.equal(call.turn?.overlapAtMs, undefined);
});

test("a voice that was heard half a second ago may be going on, and is waited for three seconds at most", () => {
  const beganWith = (voiceAgoMs: number) => {
    const call = new RecordedCall(PLAIN_SETTINGS);
    call.send({ type: "opened", resumed: true });
    call.send({ type: "written", text: "what time is it" });
    call.send({ type: "speechStarted", voiceAgoMs });
    return call;
  };
  assert.deepEqual(delaysMs(beganWith(501)), []);
  const call = beganWith(500);
  call.hearVoice(true);
  call.clock.advance(10_000);
  // Looked at every 400 ms, until the first look after three seconds.
  assert.equal(delaysMs(call).length, 8);
  assert.ok(delaysMs(call).every((delayMs) => delayMs === 400));
  assert.equal(call.turn?.overlapAtMs, undefined);
});

test("a voice is waited for no longer when it has gone on for three seconds to the millisecond", () => {
  const isWaitedAt = (ms: number) => {
    const call = new RecordedCall(PLAIN_SETTINGS);
    call.send({ type: "opened", resumed: true });
    call.send({ type: "written", text: "what time is it" });
    call.send({ type: "speechStarted", voiceAgoMs: 0 });
    call.hearVoice(true);
    call.clock.advance(ms);
    call.reach("overlapBeforeReply", { voiceAgoMs: 0 });
    return call.turn?.overlapAtMs !== undefined;
  };
  assert.deepEqual([2_999, 3_000].map(isWaitedAt), [true, false]);
});
