import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bytesPerSample,
  type RawEncoding,
  silenceByte,
} from "../../../engine/audio/audio-format.js";
import {
  decodePcm,
  decodeSamples,
  encodeSamples,
  viewPcm,
} from "../../../engine/audio/sample-coding.js";

const ENCODINGS: readonly RawEncoding[] = ["mulaw", "alaw", "pcm16", "pcm16be"];

test("the order of the bytes is the line's", () => {
  const pcm = Int16Array.of(0x1234, -2);
  assert.deepEqual([...encodeSamples(pcm, "pcm16")], [0x34, 0x12, 0xfe, 0xff]);
  assert.deepEqual([...encodeSamples(pcm, "pcm16be")], [0x12, 0x34, 0xff, 0xfe]);
  for (const encoding of ["pcm16", "pcm16be"] as const) {
    assert.deepEqual(decodeSamples(encodeSamples(pcm, encoding), encoding), pcm);
  }
});

test("samples are read from where the bytes lie, and half a sample is left out", () => {
  const bytes = Uint8Array.of(0, 1, 2, 3, 4, 5).subarray(1);
  assert.deepEqual(decodePcm(bytes, true), Int16Array.of(0x0201, 0x0403));
  assert.deepEqual(decodePcm(bytes, false), Int16Array.of(0x0102, 0x0304));
});

test("samples are looked at where they lie, and copied only where they lie between two", () => {
  const bytes = Uint8Array.of(0, 1, 2, 3, 4, 5, 6);
  assert.equal(viewPcm(bytes.subarray(2)).buffer, bytes.buffer);
  for (const from of [0, 1, 2, 3]) {
    assert.deepEqual(viewPcm(bytes.subarray(from)), decodePcm(bytes.subarray(from), true));
  }
});

test("each law is written by its own tables, a byte a sample", () => {
  assert.deepEqual([...encodeSamples(Int16Array.of(0, 32_767), "mulaw")], [0xff, 0x80]);
  assert.deepEqual([...encodeSamples(Int16Array.of(0, 32_767), "alaw")], [0xd5, 0xaa]);
  assert.deepEqual(ENCODINGS.map(bytesPerSample), [1, 1, 2, 2]);
});

test("an idle line stays idle: no more than the smallest step of its law", () => {
  const steps = { mulaw: 0, alaw: 8, pcm16: 0, pcm16be: 0 };
  for (const encoding of ENCODINGS) {
    const idle = new Uint8Array(640).fill(silenceByte(encoding));
    const pcm = decodeSamples(idle, encoding);
    assert.ok(pcm.every((sample) => Math.abs(sample) <= steps[encoding]));
  }
});
