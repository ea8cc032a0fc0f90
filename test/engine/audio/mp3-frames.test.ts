import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { mp3DurationMs, mp3Stream, readMp3Header } from "../../../engine/audio/mp3-frames.js";

/** MPEG 2, layer III, 48 kbit/s, 24 kHz, mono: 144 bytes and 24 ms. */
const HEADER = [0xff, 0xf3, 0x64, 0xc4];
const FRAME_BYTES = 144;
/** The same at 22.05 kHz: 104 bytes. */
const OTHER_HEADER = [0xff, 0xf3, 0x40, 0xc4];

/** This many frames, each with its own bytes. */
function frames(count: number, header = HEADER, frameBytes = FRAME_BYTES): Buffer {
  return Buffer.concat(
    Array.from({ length: count }, (_, at) => {
      const frame = Buffer.alloc(frameBytes, 1 + (at % 60));
      frame.set(header);
      return frame;
    }),
  );
}

const SPEECH = frames(63);

test("a frame of 24 kHz and 48 kbit/s is 144 bytes and 24 ms", () => {
  const { audio, ...told } = mp3Stream(SPEECH);
  assert.deepEqual(told, { sampleRateHz: 24_000, channels: 1, durationMs: 63 * 24, frames: 63 });
  assert.equal(audio.length, 63 * 144);
});

test("what holds nothing but frames is not copied", () => {
  for (const bytes of [SPEECH, Buffer.concat([Buffer.alloc(4), SPEECH])]) {
    assert.equal(mp3Stream(bytes).audio.buffer, bytes.buffer);
  }
});

test("frames of another rate or version than the first are not played", () => {
  const [one, other, gap] = [frames(3), frames(4, OTHER_HEADER, 104), Buffer.alloc(8)];
  const otherVersion = frames(2, [0xff, 0xe3, 0x64, 0xc4], 288);
  for (const [parts, played] of [
    [[one, gap, other], one],
    [[other, gap, one], other],
    [[one, gap, other, gap, one], Buffer.concat([one, one])],
    [[one, gap, otherVersion, gap, one], Buffer.concat([one, one])],
  ] as const) {
    assert.deepEqual(Buffer.from(mp3Stream(Buffer.concat(parts)).audio), played);
  }
});

test("a frame must be followed by a header of its kind, a tag or the end, unless it follows one itself", () => {
  const frame = frames(1);
  const found = (...parts: readonly Uint8Array[]) => mp3Stream(Buffer.concat(parts)).frames;
  const noise = Buffer.alloc(20, 0x10);
  assert.equal(found(frame, noise), 0);
  assert.equal(found(frame, frame, noise), 2);
  assert.equal(found(frame, frames(1, OTHER_HEADER, 104)), 1);
  assert.equal(found(noise, frame, noise, frame), 1);
  assert.equal(found(noise.subarray(0, 1), frame, frame), 2);
  assert.equal(found(frame, frame, noise, frame, noise), 2);
  for (const tag of ["TAG", "APETAGEX"]) {
    assert.equal(found(frame, Buffer.from(tag), noise), 1, tag);
    assert.equal(found(frame, Buffer.from(tag.slice(0, -1)), noise), 0, tag);
    assert.equal(found(frame, Buffer.from(`x${tag.slice(1)}`), noise), 0, tag);
  }
  assert.equal(found(frame, Buffer.from("ID3"), Buffer.alloc(7)), 1);
  assert.equal(found(frame, Buffer.from("ID3"), Buffer.alloc(6)), 0);
});

test("a tag is skipped by the length in it, seven bits a byte", () => {
  const tag = (size: readonly number[], contentBytes: number) =>
    Buffer.concat([
      Buffer.from("ID3"),
      Buffer.from([4, 0, 0, ...size]),
      Buffer.alloc(contentBytes, Buffer.from(HEADER)),
    ]);
  for (const [size, contentBytes] of [
    [[0, 0, 0, 0], 0],
    [[0, 0, 0, 127], 127],
    [[0, 0, 1, 1], 129],
    [[0, 1, 0, 2], 16_386],
    [[1, 0, 0, 3], 2_097_155],
    [[0x80, 0x80, 0x81, 0x81], 129],
  ] as const) {
    const bytes = Buffer.concat([tag(size, contentBytes), SPEECH]);
    assert.equal(mp3Stream(bytes).frames, 63, `${contentBytes} bytes`);
  }
});

test("headers are read as the standard lays them out", () => {
  const cases: readonly (readonly [
    header: number[],
    rateHz: number,
    channels: number,
    bytes: number,
  ])[] = [
    [[0xff, 0xf3, 0x64, 0xc4], 24_000, 1, 144],
    [[0xff, 0xf3, 0xa4, 0xc0], 24_000, 1, 288],
    [[0xff, 0xf3, 0x40, 0xc4], 22_050, 1, 104],
    [[0xff, 0xf3, 0x42, 0xc4], 22_050, 1, 105],
    [[0xff, 0xfb, 0x90, 0x64], 44_100, 2, 417],
    [[0xff, 0xfb, 0x92, 0x64], 44_100, 2, 418],
    [[0xff, 0xe3, 0x28, 0xc4], 8_000, 1, 144],
  ];
  for (const [header, rateHz, channels, bytes] of cases) {
    const read = readMp3Header(Uint8Array.from(header), 0);
    assert.equal(read?.sampleRateHz, rateHz);
    assert.equal(read.channels, channels);
    assert.equal(read.frameBytes, bytes);
  }
  const refused = {
    "no sync": [0xfe, 0xf3, 0x64, 0xc4],
    "reserved version": [0xff, 0xeb, 0x64, 0xc4],
    "layer II": [0xff, 0xf5, 0x64, 0xc4],
    "free bit rate": [0xff, 0xf3, 0x04, 0xc4],
    "forbidden bit rate": [0xff, 0xf3, 0xf4, 0xc4],
    "reserved sample rate": [0xff, 0xf3, 0x6c, 0xc4],
    "cut short": [0xff, 0xf3, 0x64],
  };
  for (const [title, header] of Object.entries(refused)) {
    assert.equal(readMp3Header(Uint8Array.from(header), 0), undefined, title);
  }
});

function id3v2(contentBytes: number, flags = 0): Buffer {
  const size = [21, 14, 7, 0].map((shift) => (contentBytes >> shift) & 0x7f);
  // The content looks like frames, which it must not be taken for.
  const content = Buffer.alloc(contentBytes, Buffer.from([0xff, 0xf3, 0x64, 0xc4]));
  const numbers = Buffer.from([4, 0, flags, ...size]);
  const footer = (flags & 0x10) === 0 ? [] : [Buffer.from("3DI"), numbers];
  return Buffer.concat([Buffer.from("ID3"), numbers, content, ...footer]);
}

function id3v1(): Buffer {
  const tag = Buffer.alloc(128, 0x20);
  tag.write("TAG");
  return tag;
}

/** A frame of silence with the mark of an information frame where its side information ends. */
function informationFrame(mark: string, at: number, header = HEADER): Buffer {
  const frame = Buffer.alloc(144);
  frame.set(header);
  frame.write(mark, at);
  return frame;
}

test("tags and information frames are no audio", () => {
  const pure = mp3Stream(SPEECH);
  const cases = {
    "ID3v2 in front": [id3v2(300), SPEECH],
    "ID3v2 with a footer": [id3v2(300, 0x10), SPEECH],
    "ID3v2 with every other flag": [id3v2(300, 0xef), SPEECH],
    "two ID3v2": [id3v2(200), id3v2(1_000), SPEECH],
    "ID3v2 behind garbage": [Buffer.alloc(7, 0x10), id3v2(300), SPEECH],
    "ID3v1 behind": [SPEECH, id3v1()],
    both: [id3v2(5), SPEECH, id3v1()],
    "a Xing frame": [informationFrame("Xing", 13), SPEECH],
    "an Info frame": [informationFrame("Info", 13), SPEECH],
    "a VBRI frame": [informationFrame("VBRI", 36), SPEECH],
    "ID3v2 and a LAME Info frame": [id3v2(77), informationFrame("Info", 13), SPEECH],
  };
  for (const [title, parts] of Object.entries(cases)) {
    const stream = mp3Stream(Buffer.concat(parts));
    assert.equal(stream.durationMs, pure.durationMs, title);
    assert.deepEqual(Buffer.from(stream.audio), SPEECH, title);
  }
});

test("in a first frame with a check sum the tag's mark is after it, or where it would be without", () => {
  const checked = [0xff, 0xf2, 0x64, 0xc4];
  for (const before of [Buffer.alloc(0), id3v2(90)]) {
    for (const [at, frames] of [
      [12, 64],
      [13, 63],
      [14, 64],
      [15, 63],
      [16, 64],
    ] as const) {
      const first = informationFrame("Xing", at, checked);
      const stream = mp3Stream(Buffer.concat([before, first, SPEECH]));
      assert.equal(stream.frames, frames, `at ${at}`);
    }
  }
});

test("garbage before, between and after frames is left out", () => {
  const half = 144 * 20;
  const garbage = Buffer.from([0x00, 0xff, 0xf3, 0x64, 0xc4, 0x49, 0x44, 0x12, 0xff, 0xff, 0xe0]);
  const stream = mp3Stream(
    Buffer.concat([garbage, SPEECH.subarray(0, half), garbage, SPEECH.subarray(half), garbage]),
  );
  assert.deepEqual(Buffer.from(stream.audio), SPEECH);
  assert.equal(stream.durationMs, mp3DurationMs(SPEECH));
});

test("a cut last frame is not counted", () => {
  const whole = mp3Stream(SPEECH);
  for (const missing of [1, 100, 141, 143]) {
    const stream = mp3Stream(SPEECH.subarray(0, SPEECH.length - missing));
    assert.equal(stream.frames, whole.frames - 1);
    assert.equal(stream.audio.length, SPEECH.length - 144);
  }
});

test("two MP3s one after the other are one stream", () => {
  const twice = mp3Stream(Buffer.concat([SPEECH, id3v1(), id3v2(50), SPEECH]));
  assert.equal(twice.durationMs, 2 * mp3DurationMs(SPEECH));
});

test("what is no MP3 holds nothing to play", () => {
  const others = [
    "",
    "ID3",
    "<html>503 Service Unavailable</html>",
    '{"error":"quota"}',
    "RIFF....WAVEfmt ",
  ];
  for (const text of others) {
    assert.deepEqual(mp3Stream(Buffer.from(text)), {
      sampleRateHz: 0,
      channels: 0,
      durationMs: 0,
      frames: 0,
      audio: new Uint8Array(0),
    });
  }
});

test("any bytes are read to their end without an error, and what is found is found again", () => {
  const bytes = fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.constantFrom(
        Buffer.from([0xff, 0xf3, 0x64, 0xc4]),
        Buffer.from("ID3"),
        SPEECH.subarray(0, 432),
        id3v2(9),
      ),
    ),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(bytes, (parts) => {
      const input = Buffer.concat(parts);
      const stream = mp3Stream(input);
      assert.ok(stream.audio.length <= input.length);
      assert.equal(stream.frames === 0, stream.durationMs === 0);
      assert.ok(stream.durationMs <= (stream.audio.length / 24) * 72);
    }),
  );
});
