import assert from "node:assert/strict";
import { test } from "node:test";
import { asteriskWire } from "../../../../engine/telephony/asterisk/asterisk.js";
import { receive, startedBy, startedStream, textFrame, traitsOf } from "../vendor-wires.js";

test("Asterisk: every codec of its, and when it wants no more audio", () => {
  const rows = [
    ["ulaw", "mulaw", 8000, 160],
    ["alaw", "alaw", 8000, 160],
    ["slin", "pcm16", 8000, 320],
    ["slin12", "pcm16", 12_000, 480],
    ["slin16", "pcm16", 16_000, 640],
    ["slin24", "pcm16", 24_000, 960],
    ["slin32", "pcm16", 32_000, 1280],
    ["slin44", "pcm16", 44_100, 1764],
    ["slin48", "pcm16", 48_000, 1920],
  ] as const;
  for (const [format, encoding, rateHz, frameBytes] of rows) {
    const wire = asteriskWire();
    const event = startedBy(
      wire,
      `MEDIA_START connection_id:c1 channel:WebSocket/x format:${format}`,
    );
    assert.deepEqual(
      [event.encoding, event.sampleRateHz, wire.frameBytes],
      [encoding, rateHz, frameBytes],
    );
    assert.equal(event.callId, "WebSocket/x");
  }
  const { wire } = startedStream("Asterisk's WebSocket");
  const told = ["MEDIA_XOFF", "MEDIA_XON", "QUEUE_DRAINED", "ERROR"].map((name) =>
    textFrame({ event: name }),
  );
  assert.deepEqual(receive(wire, ...told), [
    { type: "flow", isOpen: false },
    { type: "flow", isOpen: true },
    { type: "ignored", reason: "vendor error" },
  ]);
});

test("Asterisk: frames are of the size that it asks for, unless that is of no use", () => {
  const asked = [80, 160, 320, 40, 39, 1, 0, 65_500];
  const given = asked.map((bytes) => {
    const wire = asteriskWire();
    startedBy(wire, `MEDIA_START connection_id:c1 format:ulaw optimal_frame_size:${bytes}`);
    return wire.frameBytes;
  });
  assert.deepEqual(given, [80, 160, 320, 40, 160, 160, 160, 160]);
});

test("Asterisk: an id in plain text has its key or has none", () => {
  const { wire } = startedStream("Asterisk's WebSocket in plain text");
  for (const told of ["MEDIA_MARK_PROCESSED 1.0", "MEDIA_MARK_PROCESSED correlation_id:1.0"]) {
    wire.mark("1.0");
    assert.deepEqual(receive(wire, textFrame(told)), [
      { type: "markReached", name: "1.0", wasPlayed: true },
    ]);
  }
  assert.deepEqual(receive(wire, textFrame("MEDIA_MARK_PROCESSED :1.0")), [
    { type: "ignored", reason: "unreadable message" },
  ]);
});

test("Asterisk: no command is longer than it reads", () => {
  for (const name of ["Asterisk's WebSocket", "Asterisk's WebSocket in plain text"]) {
    const { wire } = startedStream(name);
    for (const command of [...wire.mark("m".repeat(64)), ...wire.clear(), ...wire.hangUp()]) {
      assert.ok(command.length <= 128);
    }
  }
});

test("Asterisk: what only tells how its queue is doing is understood, and nothing follows", () => {
  const { wire } = startedStream("Asterisk's WebSocket");
  for (const event of ["MEDIA_BUFFERING_COMPLETED", "QUEUE_DRAINED", "STATUS"]) {
    assert.deepEqual(receive(wire, textFrame({ event })), [], event);
    assert.deepEqual(receive(wire, textFrame(event)), [], event);
  }
});

test("Asterisk: what a call may expect of its wire", () => {
  assert.deepEqual(traitsOf(asteriskWire()), [false, false, true, true]);
});
