import assert from "node:assert/strict";
import { test } from "node:test";
import { mp3Stream, readMp3Header } from "../../../engine/audio/mp3-frames.js";

/** As ISO/IEC 11172-3 and 13818-3 have them, by the header's index from 1 on. */
const MPEG1_KBITS = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const MPEG2_KBITS = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
/** The second byte of a frame without a check sum, and what follows from the version in it. */
const VERSIONS = [
  { second: 0xfb, ratesHz: [44_100, 48_000, 32_000], kbits: MPEG1_KBITS, samples: 1_152 },
  { second: 0xf3, ratesHz: [22_050, 24_000, 16_000], kbits: MPEG2_KBITS, samples: 576 },
  { second: 0xe3, ratesHz: [11_025, 12_000, 8_000], kbits: MPEG2_KBITS, samples: 576 },
];
const MONO = 0xc0;
const STEREO = 0x00;

function header(second: number, third: number, fourth = MONO): Uint8Array {
  return Uint8Array.of(0xff, second, third, fourth);
}

test("every rate and bit rate of every version has frames of the standard's length", () => {
  for (const { second, ratesHz, kbits, samples } of VERSIONS) {
    for (const [rateIndex, rateHz] of ratesHz.entries()) {
      for (const [index, kbit] of kbits.entries()) {
        const third = ((index + 1) << 4) | (rateIndex << 2);
        const read = readMp3Header(header(second, third), 0);
        const padded = readMp3Header(header(second, third | 2), 0);
        const bytes = Math.floor((samples * kbit * 125) / rateHz);
        assert.deepEqual(
          [read?.sampleRateHz, read?.samples, read?.frameBytes, padded?.frameBytes],
          [rateHz, samples, bytes, bytes + 1],
        );
      }
    }
  }
});

test("the side information ends where the version, the channels and a check sum put it", () => {
  const endOf = (second: number, fourth: number) =>
    readMp3Header(header(second, 0x40, fourth), 0)?.sideEndBytes;
  assert.deepEqual([endOf(0xfb, STEREO), endOf(0xfb, MONO)], [36, 21]);
  assert.deepEqual([endOf(0xf3, STEREO), endOf(0xf3, MONO)], [21, 13]);
  assert.deepEqual([endOf(0xfa, STEREO), endOf(0xf2, MONO)], [38, 15]);
});

test("only one of the four channel modes has one channel", () => {
  const channels = [0x00, 0x40, 0x80, 0xc0].map(
    (fourth) => readMp3Header(header(0xf3, 0x40, fourth), 0)?.channels,
  );
  assert.deepEqual(channels, [2, 2, 2, 1]);
});

/** Whether a frame with that mark counts as one without audio. */
function isInformation(second: number, mark: string, at: number): boolean {
  const frame = Buffer.alloc(144);
  frame.set([0xff, second, 0x64, 0xc4]);
  const sound = Buffer.from(frame);
  frame.write(mark, at, "latin1");
  return mp3Stream(Buffer.concat([frame, sound, sound])).frames === 2;
}

test("a first frame without audio has its mark after the side information, with or without a check sum", () => {
  const [plain, checked] = [0xf3, 0xf2];
  for (const mark of ["Xing", "Info"]) {
    assert.ok(isInformation(plain, mark, 13));
    assert.ok(isInformation(checked, mark, 15));
    assert.ok(isInformation(checked, mark, 13), "some encoders do not count the check sum");
    for (const at of [11, 12, 14, 15]) assert.ok(!isInformation(plain, mark, at), `${mark} ${at}`);
  }
  assert.ok(isInformation(plain, "VBRI", 36));
  assert.ok(!isInformation(plain, "VBRI", 13));
  assert.ok(!isInformation(plain, "Xinx", 13));
});

test("a single frame is audio with up to three other bytes after it", () => {
  const frame = Buffer.alloc(144);
  frame.set([0xff, 0xf3, 0x64, 0xc4]);
  for (let more = 0; more <= 5; more += 1) {
    const stream = mp3Stream(Buffer.concat([frame, Buffer.alloc(more)]));
    assert.equal(stream.frames, more < 4 ? 1 : 0, `${more} bytes`);
  }
});
