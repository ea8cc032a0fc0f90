import assert from "node:assert/strict";
import { test } from "node:test";
import { binaryFrame, receive, startedStream, textFrame, VENDORS } from "./vendor-wires.js";

const IN_JSON = ["Twilio", "Telnyx", "Plivo", "SignalWire"];
const IN_BINARY = ["Vonage", "Jambonz", "Asterisk's WebSocket"];
const MULAW = { encoding: "mulaw", sampleRateHz: 8_000 };

test("before the start a stream has the format that its document asks for", () => {
  const formats = [...IN_JSON, ...IN_BINARY].map((name) => [name, VENDORS[name]?.wire().inbound]);
  assert.deepEqual(Object.fromEntries(formats), {
    Twilio: MULAW,
    Telnyx: MULAW,
    Plivo: MULAW,
    SignalWire: MULAW,
    Vonage: { encoding: "pcm16", sampleRateHz: 16_000 },
    Jambonz: { encoding: "pcm16", sampleRateHz: 8_000 },
    "Asterisk's WebSocket": MULAW,
  });
});

test("audio comes in JSON or in binary frames, never both", () => {
  for (const name of IN_JSON) {
    const events = receive(startedStream(name).wire, binaryFrame(Buffer.alloc(160)));
    assert.deepEqual(events, [{ type: "ignored", reason: "binary frame" }], name);
  }
  const text = textFrame('{"event":"media","media":{"payload":"AAAA"}}');
  for (const name of IN_BINARY) {
    const events = receive(startedStream(name).wire, text);
    assert.deepEqual(events, [{ type: "ignored", reason: "unreadable message" }], name);
  }
});

test("audio has the number that it came with, the first one too, and half a sample is left out", () => {
  for (const text of [
    '{"event":"media","media":{"chunk":"0","payload":"AQID"}}',
    '{"event": "media", "media": {"chunk": "0", "payload": "AQID"}}',
  ]) {
    const events = receive(startedStream("Twilio").wire, textFrame(text));
    const bytes = Uint8Array.of(1, 2, 3);
    assert.deepEqual(events, [{ type: "audio", bytes, sequence: 0 }], text);
  }
  const { wire } = startedStream("Jambonz");
  for (const heard of [Uint8Array.of(1, 2), Uint8Array.of(1, 2, 3)]) {
    const events = receive(wire, binaryFrame(heard));
    assert.deepEqual(events, [{ type: "audio", bytes: Uint8Array.of(1, 2), sequence: undefined }]);
  }
});

test("a frame of 64 KiB is read, and one of a byte more is not", () => {
  const { wire } = startedStream("Vonage");
  const kinds = [65_536, 65_537].map((size) => receive(wire, binaryFrame(Buffer.alloc(size)))[0]);
  assert.equal(kinds[0]?.type, "audio");
  assert.deepEqual(kinds[1], { type: "ignored", reason: "frame too large" });
});

test("words of ours in a message of no vendor's are not followed", () => {
  for (const message of [{ kind: "stop" }, { event: "other", kind: "stop" }]) {
    for (const name of Object.keys(VENDORS).filter((each) => each !== "AudioSocket")) {
      const events = receive(startedStream(name).wire, textFrame(message));
      assert.deepEqual(events, [{ type: "ignored", reason: "unreadable message" }], name);
    }
  }
});
