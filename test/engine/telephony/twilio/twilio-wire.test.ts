import assert from "node:assert/strict";
import { test } from "node:test";
import { twilioWire } from "../../../../engine/telephony/twilio/twilio-wire.js";
import { receive, startedBy, textFrame, traitsOf } from "../vendor-wires.js";

const MULAW = { type: "started", encoding: "mulaw", sampleRateHz: 8000 };

test("Twilio: a start in a shape that is not quite the documented one is understood", () => {
  const bare = { event: "start", streamSid: "MZ1", start: {} };
  const parameters = { a: "1", b: 2, c: true, d: { e: 1 }, f: null };
  const odd = {
    ...bare,
    start: {
      mediaFormat: { encoding: "audio/x-mulaw", sampleRate: "8000" },
      customParameters: parameters,
    },
  };
  assert.deepEqual(startedBy(twilioWire(), bare), {
    ...MULAW,
    streamId: "MZ1",
    callId: "",
    parameters: {},
  });
  assert.deepEqual(startedBy(twilioWire(), odd).parameters, { a: "1", b: "2", c: "true" });
  assert.deepEqual(
    receive(twilioWire(), textFrame({ event: "connected", protocol: "Call", version: "1.0.0" })),
    [],
  );
});

test("Twilio: what a call may expect of its wire", () => {
  assert.deepEqual(traitsOf(twilioWire()), [false, false, false, true]);
});
