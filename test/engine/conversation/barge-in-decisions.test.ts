import assert from "node:assert/strict";
import { test } from "node:test";
import { type CallerSpeech, decideBargeIn } from "../../../engine/conversation/barge-in.js";
import { AGENT_HUNG_UP, type Ending } from "../../../engine/conversation/call-end.js";
import {
  BARGE_IN_ACTIONS,
  BARGE_IN_REASONS,
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

/** The LLM is asked, and nothing of its reply has come. */
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

test("every action and every reason is decided in one of these cases", () => {
  const reasons = new Set(DECISIONS.map(([, reason]) => reason));
  assert.deepEqual([...reasons].sort(), [...BARGE_IN_REASONS].sort());
  const actions = new Set(DECISIONS.map(([action]) => action));
  assert.deepEqual([...actions].sort(), [...BARGE_IN_ACTIONS].sort());
});

test("a decision changes nothing, and is the same each time", () => {
  for (const [, , state, speech] of DECISIONS) {
    const before = structuredClone(state);
    assert.deepEqual(decideBargeIn(state, speech, AT_MS), decideBargeIn(state, speech, AT_MS));
    assert.deepEqual(structuredClone(state), before);
  }
});

const GUESS = { isFinal: false, speechFinal: false, lastWordEndMs: undefined, endedAgoMs: 0 };

test("the record of a turn has each change of a decision once, from the start of the turn", () => {
  const call = speaking();
  call.send({ type: "transcript", text: "uh-huh", ...GUESS });
  call.clock.advance(100);
  call.send({ type: "transcript", text: "uh-huh yes", ...GUESS });
  call.clock.advance(100);
  call.send({ type: "transcript", text: "uh-huh yes but stop", ...GUESS });
  const bargeIns = [
    { action: "ignore", reason: "backchannel", atMs: 3_000 },
    { action: "interrupt", reason: "words", atMs: 3_200 },
  ];
  const saves = call.effects.flatMap((effect) =>
    effect.type === "saveTurn" ? [effect.save.report] : [],
  );
  assert.deepEqual(saves.at(-1)?.bargeIns, bargeIns);
  assert.deepEqual(saves.at(-1)?.endOfTurn, { reason: "message", waitedMs: 0 });
  const reported = call.effects.flatMap((effect) =>
    effect.type === "reportBargeIn" ? [{ turnId: effect.turnId, ...effect.bargeIn }] : [],
  );
  assert.deepEqual(
    reported,
    bargeIns.map((each) => ({ turnId: 1, ...each })),
  );
});

test("output that has resumed does not go on once more for the same reason", () => {
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
