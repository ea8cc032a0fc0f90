import assert from "node:assert/strict";
import { test } from "node:test";
import type { ControlCommand } from "../../../engine/conversation/control-command.js";
import { controlOutcome } from "../../../engine/conversation/live-control.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

function say(text: string, interrupt = false): ControlCommand {
  return { type: "say", text, interrupt };
}

/** A call whose agent is speaking. */
function speakingCall(): RecordedCall {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: false });
  assert.equal(call.turn?.kind, "greeting");
  return call;
}

test("the agent does not stop for a text in which nothing can be spoken, and none waits", () => {
  const call = speakingCall();
  for (const command of [say("…"), say("🙂", true), say("-- !")]) {
    call.send({ type: "controlRequested", command });
    assert.equal(call.turn?.kind, "greeting");
    assert.deepEqual(call.actor.state.control.waiting, []);
  }
});

test("a text that interrupts is said where three wait, and a fourth that does not is refused", () => {
  const call = speakingCall();
  for (const text of ["one", "two", "three"]) {
    call.send({ type: "controlRequested", command: say(text) });
  }
  const { state } = call.actor;
  assert.equal(controlOutcome(state, say("four")), "tooManyWaiting");
  assert.equal(controlOutcome(state, say("now", true)), "done");
  call.send({ type: "controlRequested", command: say("now", true) });
  assert.deepEqual(
    call.turn?.sentences.map(({ text }) => text),
    ["now"],
  );
  assert.deepEqual(call.actor.state.control.waiting, ["one", "two", "three"]);
});

test("before a call is open only three texts wait, interrupting or not", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  for (const text of ["one", "two", "three", "four"]) {
    call.send({ type: "controlRequested", command: say(text, true) });
  }
  assert.equal(controlOutcome(call.actor.state, say("five", true)), "opening");
  assert.deepEqual(call.actor.state.control.waiting, ["one", "two", "three"]);
});
