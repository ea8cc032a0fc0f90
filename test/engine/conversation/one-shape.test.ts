import assert from "node:assert/strict";
import { test } from "node:test";
import { inOneShape } from "../../../engine/conversation/conversation.js";
import { newSession, newTurn } from "../../../engine/conversation/state.js";
import { PLAIN_SETTINGS } from "../../doubles/recorded-call.js";

const TURN = newTurn({
  id: 1,
  kind: "reply",
  userText: "hello",
  callerEndedAtMs: 1.5,
  decidedAtMs: 2,
  attempt: 1,
});

/** The same fields, made in another order. */
function reversed<Value extends object>(value: Value): Value {
  return Object.assign(
    Object.create(Object.prototype),
    ...Object.entries(value)
      .toReversed()
      .map(([key, field]) => ({ [key]: field })),
  );
}

test("a state is the same in its one shape, with its fields as every state has them", () => {
  const state = { ...newSession(PLAIN_SETTINGS, []), turn: TURN };
  const shaped = inOneShape({ ...reversed(state), turn: reversed(TURN) });
  assert.deepEqual(shaped, state);
  assert.deepEqual(Object.keys(shaped), Object.keys(state));
  assert.deepEqual(Object.keys(shaped.turn ?? {}), Object.keys(TURN));
  assert.equal(inOneShape({ ...state, turn: undefined }).turn, undefined);
});
