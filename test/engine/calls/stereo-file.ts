import assert from "node:assert/strict";
import { decodePcm } from "../../../engine/audio/sample-coding.js";

export interface StereoFile {
  readonly rateHz: number;
  /** The caller. */
  readonly left: Int16Array;
  /** The agent. */
  readonly right: Int16Array;
}

/** Reads a WAV file of two channels and 16 bits, and fails when its header does not fit its length. */
export function readStereoFile(file: Buffer): StereoFile {
  assert.equal(file.subarray(0, 4).toString("latin1"), "RIFF");
  assert.equal(file.readUInt32LE(4), file.length - 8);
  assert.equal(file.subarray(8, 16).toString("latin1"), "WAVEfmt ");
  assert.equal(file.readUInt16LE(20), 1);
  assert.equal(file.readUInt16LE(22), 2);
  const rateHz = file.readUInt32LE(24);
  assert.equal(file.readUInt32LE(28), rateHz * 4);
  assert.equal(file.readUInt16LE(34), 16);
  assert.equal(file.subarray(36, 40).toString("latin1"), "data");
  assert.equal(file.readUInt32LE(40), file.length - 44);
  const pcm = decodePcm(file.subarray(44), true);
  const left = pcm.filter((_, index) => index % 2 === 0);
  const right = pcm.filter((_, index) => index % 2 === 1);
  return { rateHz, left, right };
}
