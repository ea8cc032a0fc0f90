import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { G722Decoder, G722Encoder } from "../../engine/audio/g722.js";
import { decodePcm, encodePcm } from "../../engine/audio/sample-coding.js";
import { G722_REFERENCE } from "../engine/audio/g722-reference.js";
import {
  G722_RATE_HZ,
  G722_SIGNALS,
  type G722Digests,
  sha256,
  withoutLostPackets,
} from "../engine/audio/g722-signals.js";

const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const PCM = ["-f", "s16le", "-ar", String(G722_RATE_HZ), "-ac", "1"];
const SPEECH =
  "Good morning. My name is Ada, and I would like to book a table for six at half past seven.";

function ffmpeg(args: readonly string[], input?: Uint8Array): Buffer {
  const quiet = ["-hide_banner", "-loglevel", "error"];
  return execFileSync("ffmpeg", [...quiet, ...args], { input, maxBuffer: ANSWER_BYTES_MAX });
}

function encodedByFfmpeg(pcm: Int16Array): Buffer {
  return ffmpeg(
    [...PCM, "-i", "pipe:0", "-c:a", "g722", "-f", "g722", "pipe:1"],
    encodePcm(pcm, true),
  );
}

function decodedByFfmpeg(codes: Uint8Array): Int16Array {
  return decodePcm(ffmpeg(["-f", "g722", "-i", "pipe:0", ...PCM, "pipe:1"], codes), true);
}

/** Random bytes, as a broken line would send them. */
function junk(): Uint8Array {
  let seed = 7;
  return Uint8Array.from({ length: 8_000 }, () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return seed >> 16;
  });
}

test("the digests of the codec's unit test are those of ffmpeg", () => {
  const digests: Record<string, G722Digests> = {};
  for (const [name, pcm] of Object.entries(G722_SIGNALS)) {
    const codes = encodedByFfmpeg(pcm);
    digests[name] = {
      codes: sha256(codes),
      decoded: sha256(decodedByFfmpeg(codes)),
      decodedAfterLoss: sha256(decodedByFfmpeg(withoutLostPackets(codes))),
    };
  }
  assert.deepEqual(digests, G722_REFERENCE);
});

test("speech is encoded and decoded as ffmpeg does it, bit for bit, also after lost packets", () => {
  const pcm = decodePcm(
    ffmpeg(["-f", "lavfi", "-i", `flite=text='${SPEECH}'`, ...PCM, "pipe:1"]),
    true,
  );
  assert.ok(pcm.length > 3 * G722_RATE_HZ, String(pcm.length));
  const codes = new G722Encoder().encode(pcm);
  assert.ok(encodedByFfmpeg(pcm.subarray(0, 2 * codes.length)).equals(codes));
  for (const sent of [codes, withoutLostPackets(codes)]) {
    assert.deepEqual(new G722Decoder().decode(sent), decodedByFfmpeg(sent));
  }
});

test("bytes that no encoder sent are decoded as ffmpeg does it", () => {
  const codes = junk();
  assert.deepEqual(new G722Decoder().decode(codes), decodedByFfmpeg(codes));
});
