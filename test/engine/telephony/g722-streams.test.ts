import assert from "node:assert/strict";
import { test } from "node:test";
import { PCM_16K } from "../../../engine/audio/audio-format.js";
import { G722Decoder, G722Encoder } from "../../../engine/audio/g722.js";
import { encodePcm } from "../../../engine/audio/sample-coding.js";
import { asteriskWire } from "../../../engine/telephony/asterisk/asterisk.js";
import type { PhoneEvent, PhoneWire } from "../../../engine/telephony/phone-wire.js";
import { telnyxWire } from "../../../engine/telephony/telnyx/telnyx.js";
import { receive, textFrame } from "./vendor-wires.js";

const PCM_FRAME_BYTES = 640;
const PCM = Int16Array.from({ length: 1_600 }, (_, n) => Math.round(9_000 * Math.sin(n / 7)));
const CODES = new G722Encoder().encode(PCM);
const PIECES = [0, 1, 2, 3, 4].map((n) => CODES.subarray(160 * n, 160 * n + 160));

function telnyxInG722(sample_rate: number): PhoneWire {
  const wire = telnyxWire();
  const media_format = { encoding: "G722", sample_rate, channels: 1 };
  const [event] = receive(wire, textFrame({ event: "start", start: { media_format } }));
  assert.equal(event?.type, "started");
  return wire;
}

function mediaFrame(chunk: number, bytes: Uint8Array): string {
  const payload = Buffer.from(bytes).toString("base64");
  return JSON.stringify({ event: "media", media: { track: "inbound", chunk, payload } });
}

function audioOf(events: readonly PhoneEvent[]): Buffer {
  return Buffer.concat(events.flatMap((event) => (event.type === "audio" ? [event.bytes] : [])));
}

test("Telnyx's G.722 is heard as 16 kHz, whichever rate names it, and answered in µ-law", () => {
  for (const rateHz of [8_000, 16_000]) {
    const wire = telnyxInG722(rateHz);
    assert.deepEqual(wire.inbound, PCM_16K);
    assert.deepEqual(wire.outbound, { encoding: "mulaw", sampleRateHz: 8_000 });
    const heard = PIECES.map((piece, n) =>
      audioOf(receive(wire, textFrame(mediaFrame(n + 1, piece)))),
    );
    assert.ok(Buffer.concat(heard).equals(encodePcm(new G722Decoder().decode(CODES), true)));
    const [sent] = wire.audio(Uint8Array.of(1, 2, 3));
    assert.match(String(sent), /"payload":"AQID"/, "the agent's audio is sent as it is");
  }
});

test("pieces that changed places are decoded in their order, and a lost one is skipped", () => {
  const wire = telnyxInG722(8_000);
  const order = [0, 2, 1, 4];
  const events = order.flatMap((n) =>
    receive(wire, textFrame(mediaFrame(n + 1, PIECES[n] ?? new Uint8Array()))),
  );
  events.push(...receive(wire, textFrame({ event: "stop" })));
  const received = Buffer.concat([0, 1, 2, 4].map((n) => PIECES[n] ?? new Uint8Array()));
  assert.ok(audioOf(events).equals(encodePcm(new G722Decoder().decode(received), true)));
});

test("a piece of more than a second is ignored, one of a second is heard", () => {
  const wire = telnyxInG722(8_000);
  const events = [8_000, 8_001].flatMap((size, n) =>
    receive(wire, textFrame(mediaFrame(n + 1, new Uint8Array(size)))),
  );
  assert.equal(audioOf(events).length, 32_000);
  assert.deepEqual(events.at(-1), { type: "ignored", reason: "frame too large" });
});

test("Asterisk's G.722 goes both ways, in frames of 20 ms", () => {
  const wire = asteriskWire();
  const start = "MEDIA_START connection_id:c1 format:g722 optimal_frame_size:240";
  assert.equal(receive(wire, textFrame(start))[0]?.type, "started");
  assert.deepEqual([wire.inbound, wire.outbound], [PCM_16K, PCM_16K]);
  const bytes = encodePcm(PCM, true);
  const sent = PIECES.flatMap((_, n) => {
    const at = PCM_FRAME_BYTES * n;
    return wire.audio(bytes.subarray(at, at + PCM_FRAME_BYTES));
  });
  assert.deepEqual(
    sent.map((frame) => frame.length),
    [160, 160, 160, 160, 160],
  );
  const wireBytes = Buffer.concat(sent.filter((frame) => typeof frame !== "string"));
  assert.ok(wireBytes.equals(CODES));
  const heard = wire.fromWire(wireBytes, true);
  assert.ok(audioOf(heard).equals(encodePcm(new G722Decoder().decode(CODES), true)));
});
