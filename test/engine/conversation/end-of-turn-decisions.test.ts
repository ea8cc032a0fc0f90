import assert from "node:assert/strict";
import { test } from "node:test";
import { decideEndOfTurn, type EndOfTurnSignal } from "../../../engine/conversation/endpointing.js";
import {
  END_OF_TURN_REASONS,
  END_OF_TURN_WAIT_REASONS,
  type EndOfTurn,
} from "../../../engine/conversation/reasons.js";
import { type ConversationState, newConversation } from "../../../engine/conversation/state.js";
import { changed, type StateChanges } from "../../doubles/changed-state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const AT_MS = 10_000;
const SAID = { isFinal: true, speechFinal: false, lastWordEndMs: undefined, endedAgoMs: 100 };
const MARKED = [1, 2].flatMap(() => [
  { role: "user", content: "I want a room." } as const,
  { role: "assistant", content: "Gladly." } as const,
]);

interface Heard {
  readonly finals?: string;
  readonly interim?: string;
}

/** The caller has said this, and ended it 100 ms ago. */
function heard({ finals = "", interim = "" }: Heard, more: StateChanges = {}) {
  const state = newConversation(PLAIN_SETTINGS, []);
  const hearing = { ...state.user.hearing, finals, interim };
  const user = { hearing, endedAtMs: AT_MS - 100, ...more.user };
  return changed(state, { ...more, user });
}

function transcript(text: string, more: { isFinal?: boolean; speechFinal?: boolean } = {}) {
  return { type: "transcript", text, atMs: AT_MS, ...SAID, ...more } as const;
}

const wordsOf = (text: string, isFinal = true): EndOfTurnSignal => ({
  type: "words",
  event: transcript(text, { isFinal }),
  text,
});
const endpointing = (text: string): EndOfTurnSignal => ({
  type: "endpointing",
  event: transcript(text, { speechFinal: true }),
});
const utteranceEnd = (voiceAgoMs?: number): EndOfTurnSignal => ({
  type: "utteranceEnd",
  event: { type: "utteranceEnd", lastWordEndMs: 0, endedAgoMs: 1_000, voiceAgoMs, atMs: AT_MS },
});
const vendor = (voiceAgoMs?: number): EndOfTurnSignal => ({
  type: "vendor",
  event: { type: "callerTurnEnded", voiceAgoMs, atMs: AT_MS },
});
const timer = (voiceAgoMs?: number): EndOfTurnSignal => ({
  type: "timer",
  event: { type: "deadlineReached", voiceAgoMs, atMs: AT_MS },
});

/** The STT is a second and a half late, and a voice was heard after its newest words. */
const LATE = { user: { sttDelayMs: 1_500, endedAtMs: AT_MS - 2_000 } };

const DONE: readonly (readonly [string, ConversationState, EndOfTurnSignal])[] = [
  ["endpointing", heard({ finals: "what do you offer" }), endpointing("me")],
  ["endpointing", heard({}), endpointing("")],
  ["utteranceEnd", heard({ finals: "what do you offer" }), utteranceEnd()],
  ["vendor", heard({ finals: "what do you offer" }), vendor()],
  ["silenceTimeout", heard({ finals: "what do you offer" }), timer()],
  ["silenceTimeout", heard({ finals: "what do you offer" }), timer(700)],
  ["interimTimeout", heard({ interim: "what do you offer" }), timer()],
  [
    "vendorTimeout",
    heard({ interim: "what do you" }, { user: { undecidedMaxMs: 6_500 } }),
    timer(),
  ],
];

for (const [index, [reason, state, signal]] of DONE.entries()) {
  test(`the caller's turn is over: ${reason} (${index})`, () => {
    assert.deepEqual(decideEndOfTurn(state, signal), { isDone: true, reason });
  });
}

test("a turn whose longest wait is over tells what was waited for", () => {
  for (const [waitedFor, finals] of [
    ["dictating", "my number is five five one two"],
    ["openEnded", "I would like to"],
    ["missingPunctuation", "I want a table"],
  ]) {
    const state = heard({ finals: finals ?? "" }, { record: { history: MARKED } });
    const decision = { isDone: true, reason: "maxEndpointingDelay", waitedFor };
    assert.deepEqual(decideEndOfTurn(state, timer()), decision);
  }
});

const WAITS: readonly (readonly [string, number, ConversationState, EndOfTurnSignal])[] = [
  ["silence", 700, heard({}), wordsOf("what do you offer")],
  ["interim", 3_000, heard({}), wordsOf("what do you", false)],
  [
    "turnDetection",
    6_500,
    heard({}, { user: { undecidedMaxMs: 6_500 } }),
    wordsOf("what do you", false),
  ],
  ["dictating", 1_500, heard({}), wordsOf("five five one two")],
  ["openEnded", 1_500, heard({}), wordsOf("I would like to")],
  ["openEnded", 1_400, heard({}), endpointing("I would like to")],
  ["openEnded", 500, heard({ finals: "I would like to" }), utteranceEnd()],
  [
    "missingPunctuation",
    1_500,
    heard({}, { record: { history: MARKED } }),
    wordsOf("I want a table"),
  ],
  ["stillSpeaking", 701, heard({ finals: "what do you offer" }), timer(-1)],
  ["lateWords", 1_900, heard({ finals: "what do you offer" }, LATE), utteranceEnd(100)],
  ["lateWords", 1_900, heard({ finals: "what do you offer" }, LATE), vendor(100)],
  ["lateWords", 1_900, heard({ finals: "what do you offer" }, LATE), timer(100)],
];

for (const [index, [reason, afterMs, state, signal]] of WAITS.entries()) {
  test(`the caller's turn goes on: ${reason} (${index})`, () => {
    const recheckAtMs = AT_MS + afterMs;
    assert.deepEqual(decideEndOfTurn(state, signal), { isDone: false, reason, recheckAtMs });
  });
}

/** The end of the caller's turn that the newest reply answers. */
function endOf(act: (call: RecordedCall) => void, dtmfDigits = 0): EndOfTurn | undefined {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, dtmfDigits });
  call.send({ type: "opened", resumed: true });
  call.clock.advance(1_000);
  act(call);
  return call.turn?.endOfTurn;
}

test("keys and written words end the caller's turn with reasons of their own", () => {
  const press = (call: RecordedCall, ...digits: readonly string[]) => {
    for (const digit of digits) call.send({ type: "digit", digit });
  };
  const whole = endOf((call) => press(call, "1", "2"), 2);
  assert.deepEqual(whole, { reason: "dtmfDigits", waitedMs: 0 });
  const pound = endOf((call) => press(call, "1", "#"));
  assert.deepEqual(pound, { reason: "poundKey", waitedMs: 0 });
  const pause = endOf((call) => {
    press(call, "1");
    call.clock.advance(1_200);
  });
  assert.deepEqual(pause, { reason: "dtmfTimeout", waitedMs: 1_200 });
  const written = endOf((call) => call.send({ type: "written", text: "hello" }));
  assert.deepEqual(written, { reason: "message", waitedMs: 0 });
});

test("the wait runs from the caller's last word to the decision", () => {
  const end = endOf((call) => {
    call.send({ type: "transcript", text: "I would like to", ...SAID });
    call.clock.advance(1_500);
  });
  const waits = { waitedMs: 1_600, waitedFor: "openEnded" };
  assert.deepEqual(end, { reason: "maxEndpointingDelay", ...waits });
});

test("every reason of both lists is decided in one of these tests", () => {
  const keys = ["dtmfDigits", "poundKey", "dtmfTimeout", "message", "maxEndpointingDelay"];
  const done = new Set([...DONE.map(([reason]) => reason), ...keys]);
  assert.deepEqual([...done].sort(), [...END_OF_TURN_REASONS].sort());
  const waits = new Set(WAITS.map(([reason]) => reason));
  assert.deepEqual([...waits].sort(), [...END_OF_TURN_WAIT_REASONS].sort());
});
