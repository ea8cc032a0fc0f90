import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

function askedCall() {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools: [{ kind: "http", name: "book" }] });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "book a room" });
  return call;
}

/** So long before a reply's model is looked after, in the last second of which the caller has waited for too long. */
function stallMsOf(call: RecordedCall): number | undefined {
  const dueMs = call.actor.state.deadlines.turnStall;
  return dueMs === undefined ? undefined : dueMs - call.clock.monotonicMs();
}

test("a model that goes on after a tool has all its time, though the caller has waited for long", () => {
  const call = askedCall();
  const toolCalls = [{ id: "a", name: "book", argumentsJson: "{}" }];
  call.clock.advance(6_900);
  call.send({ type: "replyToken", turnId: 1, text: "One" });
  call.clock.advance(6_900);
  call.send({ type: "replyDone", turnId: 1, tokens: 5, toolCalls });
  call.clock.advance(6_000);
  call.send({ type: "toolDone", turnId: 1, callId: "a", content: "booked" });
  assert.equal(stallMsOf(call), 7_000);
});
