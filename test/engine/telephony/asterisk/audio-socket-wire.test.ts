import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { AudioSocketWire } from "../../../../engine/telephony/asterisk/audio-socket-wire.js";
import type { PhoneEvent } from "../../../../engine/telephony/phone-wire.js";
import { tlv } from "../vendor-wires.js";

const START = tlv(0x01, Buffer.alloc(16, 0xab)).data;

/** A copy of the event, whose bytes the wire will overwrite. */
function kept(event: PhoneEvent): PhoneEvent {
  return event.type === "audio" ? { ...event, bytes: Uint8Array.from(event.bytes) } : event;
}

test("frames are found however TCP cuts the stream", () => {
  const frames = fc.array(
    fc.oneof(
      fc.uint8Array({ minLength: 0, maxLength: 700 }).map((bytes) => tlv(0x10, bytes).data),
      fc.constantFrom("1", "#", "x").map((digit) => tlv(0x03, Buffer.from(digit)).data),
      fc.integer({ min: 2, max: 255 }).map((kind) => tlv(kind, Buffer.from("?")).data),
    ),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(frames, fc.array(fc.integer({ min: 1, max: 500 })), (list, sizes) => {
      const stream = Buffer.concat([START, ...list]);
      const whole = new AudioSocketWire().fromWire(stream).map(kept);
      const wire = new AudioSocketWire();
      const cut: PhoneEvent[] = [];
      let at = 0;
      for (let n = 0; at < stream.length; n += 1) {
        const end = at + (sizes[n % Math.max(1, sizes.length)] ?? 1);
        cut.push(...wire.fromWire(Buffer.from(stream.subarray(at, end))).map(kept));
        at = end;
      }
      assert.deepEqual(cut, whole);
    }),
  );
});

test("the longest frame may come byte by byte", () => {
  const wire = new AudioSocketWire();
  wire.fromWire(START);
  const frame = tlv(0x10, Buffer.alloc(65_534, 3)).data;
  const events: PhoneEvent[] = [];
  for (const byte of frame) events.push(...wire.fromWire(Buffer.of(byte)));
  assert.equal(events.length, 1);
  assert.equal(events[0]?.type === "audio" && events[0].bytes.length, 65_534);
});

test("nothing after the hang-up in the same piece is told", () => {
  const wire = new AudioSocketWire();
  const piece = Buffer.concat([
    START,
    tlv(0x00, Buffer.alloc(0)).data,
    tlv(0x10, Buffer.alloc(4)).data,
  ]);
  assert.deepEqual(
    wire.fromWire(piece).map(({ type }) => type),
    ["started", "ended"],
  );
});

function wide(options: ConstructorParameters<typeof AudioSocketWire>[0], kind: number) {
  const wire = new AudioSocketWire(options);
  wire.fromWire(START);
  return { wire, event: wire.fromWire(tlv(kind, Buffer.alloc(4)).data)[0] };
}

test("audio of another rate than agreed is ignored, and the rates are the operator's to correct", () => {
  const other = { type: "ignored", reason: "audio of another rate" };
  assert.deepEqual(wide({}, 0x11).event, other);
  assert.equal(wide({ sampleRateHz: 16_000 }, 0x12).event?.type, "audio");
  assert.equal(wide({ sampleRateHz: 12_000 }, 0x11).event?.type, "audio");
  const older = wide({ sampleRateHz: 16_000, kind11RateHz: 16_000 }, 0x11);
  assert.equal(older.event?.type, "audio");
  assert.equal(older.wire.audio(Buffer.alloc(640))[0]?.[0], 0x11);
  assert.equal(older.wire.frameBytes, 640);
  assert.deepEqual(wide({}, 0x19).event, { type: "ignored", reason: "unknown frame kind" });
  assert.deepEqual(wide({}, 0xff).event, { type: "ignored", reason: "vendor error" });
  assert.throws(() => new AudioSocketWire({ sampleRateHz: 11_025 }), RangeError);
});

test("each kind of Asterisk's audio has its rate", () => {
  const rates = [8_000, 12_000, 16_000, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000];
  for (const [index, sampleRateHz] of rates.entries()) {
    const { wire, event } = wide({ sampleRateHz }, 0x10 + index);
    assert.equal(event?.type, "audio", `${sampleRateHz} Hz`);
    assert.deepEqual(wire.inbound, { encoding: "pcm16", sampleRateHz });
  }
});

test("a UUID of the wrong length starts nothing", () => {
  const wire = new AudioSocketWire();
  const [event] = wire.fromWire(tlv(0x01, Buffer.alloc(15)).data);
  assert.deepEqual(event, { type: "ignored", reason: "unreadable message" });
});

test("half a sample at the end of a frame is not heard", () => {
  const wire = new AudioSocketWire();
  wire.fromWire(START);
  const heard = (bytes: Buffer) => wire.fromWire(tlv(0x10, bytes).data).map(kept);
  assert.deepEqual(heard(Buffer.of(1, 2, 3)), [
    { type: "audio", bytes: Uint8Array.of(1, 2), sequence: undefined },
  ]);
  assert.deepEqual(heard(Buffer.of(1)), [{ type: "ignored", reason: "audio is empty" }]);
  assert.deepEqual(heard(Buffer.of(1, 2, 3, 4)), [
    { type: "audio", bytes: Uint8Array.of(1, 2, 3, 4), sequence: undefined },
  ]);
});
