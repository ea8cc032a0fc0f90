import assert from "node:assert/strict";
import { test } from "node:test";
import type { Acknowledged } from "../../../bench/kills/webhook-receivers.js";
import { type KnownCalls, webhookFaults } from "../../../bench/kills/webhook-verdict.js";

const KNOWN: KnownCalls = {
  records: [{ id: "one", status: "completed" }],
  placed: new Set(["one"]),
  refusedAgents: new Set(["nobody"]),
  refusedNumbers: new Set(["+1666"]),
};

const event = (fields: Partial<Acknowledged>): Acknowledged => ({
  endpoint: "good",
  id: "evt",
  type: "call.ended",
  callId: "one",
  sequence: 1,
  isRefused: false,
  agentId: "agent",
  from: undefined,
  ...fields,
});

const started = event({ type: "call.started" });
const end = event({ sequence: 2 });
const toNobody = event({ type: "call.failed", callId: "two", isRefused: true, agentId: "nobody" });
const fromNumber = { ...toNobody, callId: "three", agentId: "other", from: "+1666" };
const ALL = [started, end, toNobody, fromNumber];

test("one terminal event for each call, in its order, is no fault", () => {
  assert.deepEqual(webhookFaults(KNOWN, ALL, ["good"]), []);
});

for (const [what, known, events, fault] of [
  [
    "a record without an end",
    KNOWN,
    [started, toNobody, fromNumber],
    /one, completed, has .* \[\]/,
  ],
  [
    "an end of another kind",
    KNOWN,
    [started, event({ type: "call.failed", sequence: 2 }), toNobody, fromNumber],
    /\[call\.failed\]/,
  ],
  ["two ends", KNOWN, [...ALL, event({ id: "evt2", sequence: 3 })], /\[call\.ended, call\.ended\]/],
  [
    "an end before its beginning",
    KNOWN,
    [end, started, toNobody, fromNumber],
    /the place 1 after 2/,
  ],
  [
    "two events of one place",
    KNOWN,
    [event({ type: "call.ringing" }), ...ALL],
    /the place 1 after 1/,
  ],
  [
    "a placed call without a record",
    { ...KNOWN, placed: new Set(["lost"]) },
    ALL,
    /placed call lost/,
  ],
  [
    "a refused call without an event",
    KNOWN,
    [started, end, fromNumber],
    /to the agent nobody has 0/,
  ],
  [
    "a refused call with two",
    KNOWN,
    [...ALL, { ...fromNumber, callId: "four" }],
    /from \+1666 has 2/,
  ],
  [
    "an end of a call that was not refused and has no record",
    KNOWN,
    [...ALL, event({ callId: "five" })],
    /five has no record/,
  ],
  [
    "a call that only began",
    KNOWN,
    [...ALL, { ...started, callId: "six" }],
    /six began and never ended/,
  ],
] as const) {
  test(`${what} is a fault`, () => {
    assert.match(webhookFaults(known, events, ["good"]).join("\n"), fault);
  });
}
