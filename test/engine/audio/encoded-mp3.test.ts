import assert from "node:assert/strict";
import { test } from "node:test";
import { MPEGDecoder } from "mpg123-decoder";
import { createMp3Encoder } from "wasm-media-encoders";
import { mp3DurationMs, mp3Stream } from "../../../engine/audio/mp3-frames.js";

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

test("frames of another rate after the first ones are garbage", async () => {
  const speech = await encoded(24_000, 1, 1.5, { bitrate: 48 });
  const other = await encoded(44_100, 1, 0.5, { bitrate: 128 });
  const garbage = Buffer.alloc(8);
  const stream = mp3Stream(Buffer.concat([speech, garbage, other, garbage, speech]));
  assert.equal(stream.durationMs, 2 * mp3DurationMs(speech));
  assert.deepEqual(Buffer.from(stream.audio), Buffer.concat([speech, speech]));
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
