import assert from "node:assert/strict";
import { test } from "node:test";
import { vonageWire } from "../../../../engine/telephony/vonage/vonage.js";
import { binaryFrame, receive, startedBy, textFrame, traitsOf, VENDORS } from "../vendor-wires.js";

test("Vonage: the rate is the one of the content type, and the frames are 20 ms of it", () => {
  for (const [rateHz, frameBytes] of [
    [8000, 320],
    [16_000, 640],
    [24_000, 960],
  ] as const) {
    const wire = vonageWire();
    const connected = {
      event: "websocket:connected",
      "content-type": `audio/l16;rate=${rateHz}`,
      callId: "u1",
    };
    const event = startedBy(wire, connected);
    assert.deepEqual(
      [event.sampleRateHz, event.callId, wire.frameBytes],
      [rateHz, "u1", frameBytes],
    );
    assert.equal(wire.audio(Buffer.alloc(frameBytes * 2 + 1)).length, 3);
  }
  const wire = vonageWire();
  startedBy(wire, { event: "websocket:connected", "content-type": "audio/l16;rate=8000" });
  const older = textFrame({ event: "websocket:dtmf", dtmf: { digit: 5 } });
  assert.deepEqual(receive(wire, older), [{ type: "digit", digit: "5" }]);
  assert.deepEqual(receive(wire, textFrame({ event: "websocket:cleared" })), [{ type: "cleared" }]);
  const odd = receive(wire, binaryFrame(Buffer.of(1, 2, 3)));
  assert.deepEqual(odd, [{ type: "audio", bytes: Uint8Array.of(1, 2), sequence: undefined }]);
  assert.deepEqual(receive(wire, binaryFrame(Buffer.of(1))), [
    { type: "ignored", reason: "audio is empty" },
  ]);
});

test("Vonage: without a rate audio has 16 kHz, and without an id of ours the call has none", () => {
  const wire = VENDORS["Vonage"]?.wire();
  assert.ok(wire);
  const message = { event: "websocket:connected", "content-type": "audio/l16", a: 1 };
  assert.deepEqual(receive(wire, textFrame(message)), [
    {
      type: "started",
      streamId: "",
      callId: "",
      parameters: { a: "1" },
      encoding: "pcm16",
      sampleRateHz: 16_000,
    },
  ]);
  const empty = textFrame({ event: "websocket:dtmf" });
  assert.deepEqual(receive(wire, empty), [{ type: "ignored", reason: "not a digit" }]);
});

test("Vonage: what a call may expect of its wire", () => {
  assert.deepEqual(traitsOf(vonageWire()), [false, false, true, true]);
});
