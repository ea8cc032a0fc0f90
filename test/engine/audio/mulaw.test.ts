import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ALAW_SILENCE,
  decodeAlaw,
  decodeMulaw,
  encodeAlaw,
  encodeMulaw,
  MULAW_SILENCE,
} from "../../../engine/audio/mulaw.js";

const CODES = Uint8Array.from({ length: 256 }, (_, code) => code);
const EVERY_SAMPLE = Int16Array.from({ length: 65_536 }, (_, index) => index - 32_768);

/** The levels as the recommendation's tables define them: eight chords of sixteen equal steps, twice as wide each time. */
function levels(startsAt: (chord: number) => number, stepOf: (chord: number) => number): number[] {
  const found: number[] = [];
  for (let chord = 0; chord < 8; chord += 1) {
    for (let step = 0; step < 16; step += 1) {
      found.push(startsAt(chord) + step * stepOf(chord));
    }
  }
  return found;
}

const MULAW_LEVELS = levels(
  (chord) => 132 * 2 ** chord - 132,
  (chord) => 8 * 2 ** chord,
);
const ALAW_LEVELS = levels(
  (chord) => (chord === 0 ? 8 : 264 * 2 ** (chord - 1)),
  (chord) => (chord === 0 ? 16 : 16 * 2 ** (chord - 1)),
);

test("all 256 codes of µ-law decode to the levels of the recommendation", () => {
  const pcm = decodeMulaw(CODES);
  for (let level = 0; level < 128; level += 1) {
    assert.equal(pcm[0xff - level], MULAW_LEVELS[level], `+${level}`);
    assert.equal(pcm[0x7f - level], -(MULAW_LEVELS[level] ?? 0) + 0, `-${level}`);
  }
});

test("all 256 codes of A-law decode to the levels of the recommendation", () => {
  const pcm = decodeAlaw(CODES);
  for (let level = 0; level < 128; level += 1) {
    assert.equal(pcm[(level | 0x80) ^ 0x55], ALAW_LEVELS[level], `+${level}`);
    assert.equal(pcm[level ^ 0x55], -(ALAW_LEVELS[level] ?? 0), `-${level}`);
  }
});

test("known values", () => {
  assert.deepEqual(
    Array.from(decodeMulaw(Uint8Array.of(0x00, 0x80, 0x7f, 0xff, 0x7e, 0xfe))),
    [-32_124, 32_124, 0, 0, -8, 8],
  );
  assert.deepEqual(
    Array.from(decodeAlaw(Uint8Array.of(0x2a, 0xaa, 0x55, 0xd5))),
    [-32_256, 32_256, -8, 8],
  );
  assert.deepEqual(
    Array.from(encodeMulaw(Int16Array.of(0, -1, 32_767, -32_768))),
    [0xff, 0x7f, 0x80, 0x00],
  );
  assert.deepEqual(
    Array.from(encodeAlaw(Int16Array.of(0, -1, 32_767, -32_768))),
    [0xd5, 0x55, 0xaa, 0x2a],
  );
  assert.deepEqual(encodeMulaw(new Int16Array(3)), new Uint8Array(3).fill(MULAW_SILENCE));
  assert.deepEqual(encodeAlaw(new Int16Array(3)), new Uint8Array(3).fill(ALAW_SILENCE));
});

test("every code comes back as itself; of the two zeros of µ-law only the sign is lost", () => {
  const mulaw = encodeMulaw(decodeMulaw(CODES));
  for (const code of CODES) assert.equal(mulaw[code], code === 0x7f ? 0xff : code);
  assert.deepEqual(encodeAlaw(decodeAlaw(CODES)), CODES);
});

test("every one of the 65,536 samples falls between the decision values of its level", () => {
  // The recommendation's decision values at 16 bits; a negative sample mirrors the positive one beside zero.
  const mulawFrom = (level: number) => (16 + (level % 16)) * 2 ** ((level >> 4) + 3) - 132;
  const alawFrom = (level: number) =>
    level < 16 ? level * 16 : (16 + (level % 16)) * 2 ** ((level >> 4) + 3);
  assertDecided(decodeMulaw(encodeMulaw(EVERY_SAMPLE)), MULAW_LEVELS, mulawFrom);
  assertDecided(decodeAlaw(encodeAlaw(EVERY_SAMPLE)), ALAW_LEVELS, alawFrom);
});

function assertDecided(
  decoded: Int16Array,
  sizes: readonly number[],
  levelFrom: (level: number) => number,
): void {
  EVERY_SAMPLE.forEach((sample, index) => {
    const size = sample < 0 ? -1 - sample : sample;
    const result = decoded[index] ?? Number.NaN;
    const level = sizes.indexOf(Math.abs(result));
    const isWithin = levelFrom(level) <= size && (level === 127 || size < levelFrom(level + 1));
    const isSameSide = result === 0 || result < 0 === sample < 0;
    if (!isWithin || !isSameSide) assert.fail(`sample ${sample} became ${result}`);
  });
}
