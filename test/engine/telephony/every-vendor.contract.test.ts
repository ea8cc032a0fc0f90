import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { frameBytesOf } from "../../../engine/audio/audio-format.js";
import type { PhoneWire } from "../../../engine/telephony/phone-wire.js";
import { binaryFrame, receive, textFrame, VENDORS, type Vendor } from "./vendor-wires.js";

const FRAME_BYTES_MAX = 65_536;

const MARKS_PENDING_MAX = 256;

/** The slowest takes 60 ms; one that looks at every pair of characters takes four seconds. */
const READ_MAX_US = 1_000_000;

/** Whole samples of every codec. */
const audioArbitrary = fc
  .uint8Array({ minLength: 2, maxLength: 400 })
  .map((bytes) => bytes.subarray(0, bytes.length - (bytes.length % 2)));

function started(vendor: Vendor): PhoneWire {
  const wire = vendor.wire();
  assert.equal(receive(wire, vendor.start)[0]?.type, "started");
  return wire;
}

function join(pieces: readonly Uint8Array[]): Buffer {
  return Buffer.concat(pieces);
}

for (const [name, vendor] of Object.entries(VENDORS)) {
  test(`${name}: what the caller says arrives as it was sent`, () => {
    fc.assert(
      fc.property(fc.array(audioArbitrary, { maxLength: 5 }), (pieces) => {
        const wire = started(vendor);
        const events = receive(wire, ...pieces.map((bytes, n) => vendor.media(bytes, n + 1)));
        const heard = events.map((event) => {
          assert.equal(event.type, "audio");
          return event.type === "audio" ? event.bytes : new Uint8Array();
        });
        assert.deepEqual(join(heard), join(pieces));
      }),
    );
  });

  test(`${name}: what the agent says leaves as it was made, in whole frames`, () => {
    fc.assert(
      fc.property(audioArbitrary, (bytes) => {
        const wire = started(vendor);
        const frames = wire.audio(bytes);
        const sent = join(frames.map(vendor.audioOf));
        assert.deepEqual(sent.subarray(0, bytes.length), Buffer.from(bytes));
        if (wire.frameBytes === undefined) assert.equal(sent.length, bytes.length);
        else assert.ok(frames.every((frame) => vendor.audioOf(frame).length === wire.frameBytes));
        assert.ok(sent.length < bytes.length + (wire.frameBytes ?? 1));
      }),
    );
    const wire = started(vendor);
    const frame = new Uint8Array(frameBytesOf(wire.outbound)).fill(7);
    assert.equal(wire.audio(frame).length, 1);
    assert.deepEqual(
      wire
        .audio(new Uint8Array())
        .map(vendor.audioOf)
        .flatMap((one) => [...one]),
      [],
    );
  });

  test(`${name}: nothing that comes makes it throw, and no reason repeats what came`, () => {
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map(binaryFrame),
      fc
        .uint8Array({ maxLength: 300 })
        .map((bytes) => ({ data: Buffer.from(bytes), isBinary: false })),
      fc.json().map(textFrame),
      fc.constantFrom(vendor.start, vendor.digit("5"), vendor.media(Buffer.alloc(160), 3)),
      fc.constantFrom(vendor.digit("secret-digit"), textFrame({ event: "media", media: 5 })),
      mutationsOf(vendor),
    );
    fc.assert(
      fc.property(fc.array(noise, { maxLength: 8 }), (frames) => {
        const wire = vendor.wire();
        for (const event of receive(wire, ...frames)) {
          if (event.type === "ignored") assert.match(event.reason, /^[a-z0-9 ]{5,40}$/);
          if (event.type === "ignored") assert.doesNotMatch(event.reason, /secret/);
          if (event.type === "audio") assert.ok(event.bytes.length > 0);
        }
        wire.audio(Buffer.alloc(160));
        wire.clear();
        wire.hangUp();
      }),
      { numRuns: 200 },
    );
  });

  test(`${name}: nothing is heard or said before the start`, () => {
    const wire = vendor.wire();
    const [audio, digit] = receive(wire, vendor.media(Buffer.alloc(160), 1), vendor.digit("1"));
    assert.deepEqual(audio, { type: "ignored", reason: "before the start" });
    assert.deepEqual(digit, { type: "ignored", reason: "before the start" });
    assert.deepEqual([...wire.audio(Buffer.alloc(160)), ...wire.mark("m1"), ...wire.clear()], []);
  });

  test(`${name}: a second start and what follows the end are ignored`, () => {
    const wire = started(vendor);
    assert.deepEqual(receive(wire, vendor.start), [{ type: "ignored", reason: "second start" }]);
    if (vendor.stop === undefined) return;
    assert.deepEqual(receive(wire, vendor.stop), [{ type: "ended" }]);
    for (const late of [vendor.stop, vendor.start, vendor.media(Buffer.alloc(160), 1)]) {
      assert.deepEqual(receive(wire, late), [{ type: "ignored", reason: "after the end" }]);
    }
    const early = vendor.wire();
    assert.deepEqual(receive(early, vendor.stop), [{ type: "ended" }]);
  });

  test(`${name}: digits are told, anything else in their place is not`, () => {
    const wire = started(vendor);
    for (const digit of ["0", "9", "*", "#", "A"]) {
      assert.deepEqual(receive(wire, vendor.digit(digit)), [{ type: "digit", digit }]);
    }
    assert.deepEqual(receive(wire, vendor.digit("d")), [{ type: "digit", digit: "D" }]);
    for (const digit of ["10", "x", "1 "]) {
      const [event] = receive(wire, vendor.digit(digit));
      if (event?.type === "digit") assert.equal(event.digit, digit.trim());
      else assert.deepEqual(event, { type: "ignored", reason: "not a digit" });
    }
  });

  test(`${name}: a mark is told once, and as unheard after a clear`, () => {
    const { mark } = vendor;
    const wire = started(vendor);
    if (mark === undefined) {
      assert.deepEqual([...wire.mark("m1"), ...wire.clear()], []);
      return;
    }
    assert.equal(wire.mark("m1").length, 1);
    assert.deepEqual(receive(wire, mark("m1")), [
      { type: "markReached", name: "m1", wasPlayed: true },
    ]);
    const unknown = { type: "ignored", reason: "unknown mark" };
    assert.deepEqual(receive(wire, mark("m1"), mark("never")), [unknown, unknown]);
    wire.mark("m2");
    assert.equal(wire.clear().length, 1);
    wire.mark("m3");
    // Jambonz says itself what it played.
    const wasPlayed = name === "Jambonz";
    assert.deepEqual(receive(wire, mark("m2"), mark("m3")), [
      { type: "markReached", name: "m2", wasPlayed },
      { type: "markReached", name: "m3", wasPlayed: true },
    ]);
  });

  test(`${name}: of marks that never return, the oldest are forgotten`, () => {
    const { mark } = vendor;
    if (mark === undefined) return;
    const wire = started(vendor);
    for (let n = 0; n <= MARKS_PENDING_MAX; n += 1) wire.mark(`m${n}`);
    assert.equal(receive(wire, mark("m0"))[0]?.type, "ignored");
    assert.equal(receive(wire, mark("m1"))[0]?.type, "markReached");
    assert.throws(() => wire.mark('"}'), RangeError);
    assert.throws(() => wire.mark("m".repeat(65)), RangeError);
  });

  test(`${name}: a frame of more than 64 KiB is not looked at`, () => {
    if (name === "AudioSocket") return;
    const wire = started(vendor);
    const huge = binaryFrame(Buffer.alloc(FRAME_BYTES_MAX + 1));
    assert.deepEqual(receive(wire, huge), [{ type: "ignored", reason: "frame too large" }]);
    const large = receive(wire, binaryFrame(Buffer.alloc(FRAME_BYTES_MAX)));
    assert.notDeepEqual(large, [{ type: "ignored", reason: "frame too large" }]);
  });
}

/** Whoever connects may send these, without a token: what takes long to read stops all calls. */
test("the largest text takes no vendor's wire long to read, whatever is repeated in it", () => {
  for (const run of [" ", "\t", ",", ";", ":", "=", "{", "[", '"', "9", "a:", "a=", ";rate="]) {
    const bytes = Buffer.byteLength(JSON.stringify(run)) - '""'.length;
    const text = run.repeat(Math.floor((FRAME_BYTES_MAX - 300) / bytes));
    for (const [name, vendor] of Object.entries(VENDORS)) {
      for (const frame of textsAround(`a:b${text}c`)) {
        assert.ok(frame.data.length <= FRAME_BYTES_MAX);
        const wire = vendor.wire();
        const before = process.cpuUsage();
        receive(wire, frame);
        const { user, system } = process.cpuUsage(before);
        assert.ok(user + system < READ_MAX_US, `${name} reads "${run}" for ${user + system} µs`);
      }
    }
  }
});

/** Wherever a vendor takes a text as it comes. */
function textsAround(text: string) {
  const format = (encoding: string) => ({ encoding, sampleRate: 8000 });
  return [
    textFrame({ event: "start", start: { mediaFormat: format("opus") }, extra_headers: text }),
    textFrame({ event: "start", start: { mediaFormat: format(`audio/x-mulaw${text}`) } }),
    textFrame({ event: "start", start: { client_state: text } }),
    textFrame({ event: "start", start: { customParameters: { text } } }),
    textFrame({ event: "media", media: { payload: text } }),
    textFrame({ event: "media", media: { payload: "", chunk: text } }),
    textFrame({ event: "mark", mark: { name: text } }),
    textFrame({ event: "websocket:connected", "content-type": `audio/l16;${text}` }),
    textFrame({ callSid: "c1", metadata: { text } }),
    textFrame(`MEDIA_START ${text}`.slice(0, FRAME_BYTES_MAX)),
  ];
}

/** True frames with bytes changed, cut off or doubled. */
function mutationsOf(vendor: Vendor) {
  const frames = [vendor.start, vendor.media(Buffer.alloc(30, 9), 2), vendor.digit("7")];
  return fc
    .tuple(
      fc.constantFrom(...frames),
      fc.nat(400),
      fc.nat(255),
      fc.constantFrom("set", "cut", "insert"),
    )
    .map(([{ data, isBinary }, at, byte, how]) => {
      const index = at % data.length;
      const before = data.subarray(0, index);
      if (how === "cut") return { data: Buffer.from(before), isBinary };
      const rest = data.subarray(how === "set" ? index + 1 : index);
      return { data: Buffer.concat([before, Buffer.of(byte), rest]), isBinary };
    });
}
