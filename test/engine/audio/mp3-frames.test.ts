import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { MPEGDecoder } from "mpg123-decoder";
import { createMp3Encoder } from "wasm-media-encoders";
import { mp3DurationMs, mp3Stream } from "../../../engine/audio/mp3-frames.js";
import { readMp3Header } from "../../../engine/audio/mp3-header.js";

type Quality = { readonly bitrate: 16 | 32 | 48 | 96 | 128 } | { readonly vbrQuality: number };

async function encoded(
  sampleRateHz: number,
  channels: 1 | 2,
  durationSec: number,
  quality: Quality,
) {
  const encoder = await createMp3Encoder();
  encoder.configure({ sampleRate: sampleRateHz, channels, ...quality });
  const tone = Float32Array.from(
    { length: sampleRateHz * durationSec },
    (_, at) => Math.sin(at / 15) / 2,
  );
  const beginning = Buffer.from(encoder.encode(channels === 1 ? [tone] : [tone, tone]));
  return Buffer.concat([beginning, encoder.finalize()]);
}

const SPEECH = await encoded(24_000, 1, 1.5, { bitrate: 48 });

test("real MP3 of every version and layout is as long as what it decodes to", async () => {
  const formats: readonly (readonly [rateHz: number, channels: 1 | 2, quality: Quality])[] = [
    [24_000, 1, { bitrate: 48 }],
    [24_000, 1, { bitrate: 96 }],
    [24_000, 1, { vbrQuality: 4 }],
    [22_050, 1, { bitrate: 32 }],
    [44_100, 2, { bitrate: 128 }],
    [8_000, 1, { bitrate: 16 }],
  ];
  for (const [rateHz, channels, quality] of formats) {
    const bytes = await encoded(rateHz, channels, 1.3, quality);
    const stream = mp3Stream(bytes);
    const decoder = new MPEGDecoder({ enableGapless: false });
    await decoder.ready;
    const decoded = decoder.decode(stream.audio);
    decoder.free();
    assert.deepEqual(decoded.errors, []);
    assert.equal(stream.sampleRateHz, decoded.sampleRate);
    assert.equal(stream.channels, channels);
    assert.ok(Math.abs(stream.durationMs - (decoded.samplesDecoded * 1_000) / rateHz) < 0.001);
    assert.equal(stream.audio.length, bytes.length);
    assert.equal(mp3DurationMs(bytes), stream.durationMs);
  }
});

test("a frame of 24 kHz and 48 kbit/s is 144 bytes and 24 ms", () => {
  const stream = mp3Stream(SPEECH);
  assert.equal(stream.audio.length, stream.frames * 144);
  assert.equal(stream.durationMs, stream.frames * 24);
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
function informationFrame(mark: string, at: number): Buffer {
  const frame = Buffer.alloc(144);
  frame.set([0xff, 0xf3, 0x64, 0xc4]);
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

test("garbage before, between and after frames is left out", () => {
  const half = 144 * 20;
  const garbage = Buffer.from([0x00, 0xff, 0xf3, 0x64, 0xc4, 0x49, 0x44, 0x12, 0xff, 0xff, 0xe0]);
  const stream = mp3Stream(
    Buffer.concat([garbage, SPEECH.subarray(0, half), garbage, SPEECH.subarray(half), garbage]),
  );
  assert.deepEqual(Buffer.from(stream.audio), SPEECH);
  assert.equal(stream.durationMs, mp3DurationMs(SPEECH));
});

test("frames of another rate behind the first ones are garbage", async () => {
  const other = await encoded(44_100, 1, 0.5, { bitrate: 128 });
  const garbage = Buffer.alloc(8);
  const stream = mp3Stream(Buffer.concat([SPEECH, garbage, other, garbage, SPEECH]));
  assert.equal(stream.durationMs, 2 * mp3DurationMs(SPEECH));
  assert.deepEqual(Buffer.from(stream.audio), Buffer.concat([SPEECH, SPEECH]));
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

test("hostile bytes are read in time proportional to their number", () => {
  const patterns = [
    [0xff],
    [0xff, 0xf3, 0x64, 0xc4],
    [0xff, 0xfb, 0xe2, 0x00],
    [0x49, 0x44, 0x33],
    [0x49],
  ];
  for (const pattern of patterns) {
    const bytes = Buffer.alloc(2_000_000, Buffer.from(pattern));
    const begin = process.cpuUsage();
    mp3Stream(bytes);
    const usedMs = process.cpuUsage(begin).user / 1e3;
    assert.ok(usedMs < 1_500, `${pattern.join(" ")} took ${usedMs} ms of a processor`);
  }
});
