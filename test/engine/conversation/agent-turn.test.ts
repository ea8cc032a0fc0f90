import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type AgentTurn,
  newConversation,
  newTurn,
  SILENT,
  setAgentTurn,
} from "../../../engine/conversation/state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const times = { callerEndedAtMs: 0, decidedAtMs: 0, attempt: 1 };
const turn = newTurn({ id: 1, kind: "reply", userText: "Hello?", ...times });
const words = { userText: "Hello?", words: "Hello?" };
const reply = { turnId: 1, ...words, requestedAtMs: 0, text: "", done: undefined };
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
    left: undefined,
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
