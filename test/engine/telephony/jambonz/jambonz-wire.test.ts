import assert from "node:assert/strict";
import { test } from "node:test";
import { jambonzWire } from "../../../../engine/telephony/jambonz/jambonz.js";
import { receive, startedBy, textFrame, traitsOf } from "../vendor-wires.js";

test("Jambonz: it says itself what was played, and nested metadata counts too", () => {
  const wire = jambonzWire();
  const start = { callSid: "c1", sampleRate: "16000", metadata: { token: "t1" } };
  const event = startedBy(wire, start);
  assert.deepEqual([event.sampleRateHz, event.parameters], [16_000, { token: "t1" }]);
  wire.mark("m0");
  assert.deepEqual(receive(wire, textFrame({ type: "mark", data: { name: "m0" } })), [
    { type: "markReached", name: "m0", wasPlayed: true },
  ]);
  const odd = { callSid: "c1", metadata: "text" };
  assert.deepEqual(startedBy(jambonzWire(), odd).parameters, { metadata: "text" });
  wire.mark("m1");
  wire.mark("m2");
  wire.clear();
  const told = (name: string, event: string) => textFrame({ type: "mark", data: { name, event } });
  assert.deepEqual(receive(wire, told("m1", "playout"), told("m2", "cleared")), [
    { type: "markReached", name: "m1", wasPlayed: true },
    { type: "markReached", name: "m2", wasPlayed: false },
  ]);
});

test("Jambonz: what a call may expect of its wire", () => {
  assert.deepEqual(traitsOf(jambonzWire()), [false, false, false, true]);
});
