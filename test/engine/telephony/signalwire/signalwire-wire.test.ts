import assert from "node:assert/strict";
import { test } from "node:test";
import { signalwireWire } from "../../../../engine/telephony/signalwire/signalwire.js";
import { receive, startedBy, textFrame, traitsOf } from "../vendor-wires.js";

test("SignalWire: wider codecs, and samples in the order that the operator says", () => {
  const mediaFormat = { encoding: "audio/x-L16", sampleRate: 24_000, channels: 1 };
  const start = { event: "start", start: { streamSid: "s", mediaFormat } };
  const wire = signalwireWire();
  const wide = { encoding: "pcm16", sampleRateHz: 24_000 };
  assert.deepEqual(startedBy(wire, start), {
    type: "started",
    streamId: "s",
    callId: "",
    parameters: {},
    ...wide,
  });
  assert.deepEqual(wire.inbound, wide);
  assert.equal(startedBy(signalwireWire({ pcm: "pcm16be" }), start).encoding, "pcm16be");
  const [audio] = receive(wire, textFrame({ event: "media", media: { payload: "AQID" } }));
  assert.deepEqual(audio, { type: "audio", bytes: Uint8Array.of(1, 2), sequence: undefined });
});

test("SignalWire: what a call may expect of its wire", () => {
  assert.deepEqual(traitsOf(signalwireWire()), [false, false, false, true]);
});
