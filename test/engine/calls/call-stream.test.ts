import assert from "node:assert/strict";
import { test } from "node:test";
import { callEndedEvents, type StreamedCall } from "../../../engine/calls/call-stream.js";
import {
  CALL_OUTCOMES,
  END_REASONS,
  type Ending,
  MESSAGE_LEFT,
  outcomeOf,
} from "../../../engine/conversation/call-end.js";
import { NO_METRICS } from "../../../engine/conversation/effects.js";

const CALL: StreamedCall = {
  callId: "id",
  orgId: "org",
  agentId: "agent",
  channel: "phone",
  callInfo: { direction: "outbound", from: "+15550101000", to: "+15550102000" },
};

function eventOf(call: StreamedCall, ending: Ending) {
  const { status } = ending;
  const times = { startedAtMs: 0, endedAtMs: 1_000, durationSec: 1 };
  const [event] = callEndedEvents(call, { ...times, status, ending, metrics: NO_METRICS });
  assert.ok(event);
  const { outcome, voicemail } = event.data;
  return { type: event.type, outcome, voicemail };
}

test("the end of a placed call says whether to call again, and what a machine got of the message", () => {
  const voicemail = { messageLeft: true, text: "Please call back." };
  assert.deepEqual(eventOf(CALL, { ...MESSAGE_LEFT, voicemail }), {
    type: "call.ended",
    outcome: "machine",
    voicemail,
  });
  const busy = { reason: "busy", status: "failed", message: "" } as const;
  assert.deepEqual(eventOf(CALL, busy), {
    type: "call.failed",
    outcome: "busy",
    voicemail: undefined,
  });
});

test("calls that came in have no outcome", () => {
  const inbound = { ...CALL, callInfo: { direction: "inbound" } } as const;
  const ending = { reason: "callerLeft", status: "completed", message: "" } as const;
  assert.equal(eventOf(inbound, ending).outcome, undefined);
  assert.equal(
    eventOf({ ...CALL, channel: "web", callInfo: undefined }, ending).outcome,
    undefined,
  );
});

test("each end of a call has one outcome of a closed list", () => {
  const own: ReadonlySet<string> = new Set(["busy", "noAnswer", "machine"]);
  assert.deepEqual(CALL_OUTCOMES, ["answered", "busy", "noAnswer", "machine", "failed"]);
  for (const reason of END_REASONS) {
    const outcomes = [outcomeOf({ reason }, "completed"), outcomeOf({ reason }, "failed")];
    assert.deepEqual(outcomes, own.has(reason) ? [reason, reason] : ["answered", "failed"]);
  }
});
