import assert from "node:assert/strict";
import { test } from "node:test";
import {
  WAV_FRAME_BYTES,
  WAV_HEADER_BYTES,
  wavHeader,
  wavRateHz,
} from "../../../../engine/calls/recording/recording-file.js";

test("the header says what follows, as the format was written down", () => {
  const header = wavHeader(8_000, 1_000);
  assert.equal(
    header.toString("hex"),
    [
      "52494646 0c040000 57415645",
      "666d7420 10000000 0100 0200 401f0000 007d0000 0400 1000",
      "64617461 e8030000",
    ]
      .join("")
      .replaceAll(" ", ""),
  );
  const mono = wavHeader(16_000, 2, 1);
  assert.deepEqual(
    [mono.readUInt16LE(22), mono.readUInt32LE(28), mono.readUInt16LE(32)],
    [1, 32_000, 2],
  );
});

test("a header contains its rate, and a truncated or foreign one none", () => {
  const header = wavHeader(16_000, 0);
  assert.equal(wavRateHz(header), 16_000);
  assert.equal(wavRateHz(Buffer.concat([header, Buffer.alloc(10)])), 16_000);
  for (let length = 0; length < WAV_HEADER_BYTES; length += 1) {
    assert.equal(wavRateHz(header.subarray(0, length)), undefined);
  }
  assert.equal(wavRateHz(wavHeader(0, 0)), undefined);
  assert.equal(wavRateHz(wavHeader(1, 0)), 1);
  header.write("LIST", 36, "latin1");
  assert.equal(wavRateHz(header), undefined);
});

test("each moment has two samples of 16 bits", () => {
  assert.equal(WAV_FRAME_BYTES, 4);
});
