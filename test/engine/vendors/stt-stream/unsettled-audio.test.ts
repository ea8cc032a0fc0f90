import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { PCM_16K } from "../../../../engine/audio/audio-format.js";
import { UnsettledAudio } from "../../../../engine/vendors/stt-stream/audio-feed.js";
import { FRAME_MS, LOUD, QUIET } from "../../../doubles/voiced-frames.js";

const BYTES_PER_MS = 32;

describe("the audio that is to be heard again", () => {
  let audio: UnsettledAudio;

  beforeEach(() => {
    audio = new UnsettledAudio(PCM_16K);
  });

  function hear(sound: Uint8Array, durationMs: number): void {
    for (let at = 0; at < durationMs; at += FRAME_MS) audio.hear(sound);
  }

  /** A voice counts from its third frame on. */
  function beginsAtMs(): number {
    return audio.fromByte / BYTES_PER_MS;
  }

  it("begins shortly before the voice, not with the silence in front of it", () => {
    hear(QUIET, 3_000);
    hear(LOUD, 1_000);
    hear(QUIET, 3_000);
    assert.equal(beginsAtMs(), 3_000 + 2 * FRAME_MS - 500);
  });

  it("begins where words end that are understood, in the middle of a voice", () => {
    hear(LOUD, 2_000);
    audio.settle(1_200);
    assert.equal(beginsAtMs(), 1_200);
  });

  it("is none when a voice is fully transcribed, although it fades after its last word", () => {
    hear(LOUD, 2_000);
    audio.settle(1_800);
    hear(QUIET, 4_000);
    assert.equal(beginsAtMs(), 6_000 - 500);
    hear(LOUD, 1_000);
    assert.equal(beginsAtMs(), 6_000 + 2 * FRAME_MS - 500);
  });

  it("never goes back before what is understood", () => {
    hear(LOUD, 1_000);
    audio.settle(1_000);
    audio.settle(400);
    assert.equal(beginsAtMs(), 1_000);
  });

  it("is the newest two seconds where words come without a time", () => {
    for (let n = 0; n < 4; n += 1) {
      hear(LOUD, 1_000);
      hear(QUIET, 200);
    }
    audio.settle(undefined);
    assert.equal(beginsAtMs(), 2_800);
  });

  it("is nothing yet where words come without a time in the first two seconds", () => {
    hear(LOUD, 1_000);
    audio.settle(undefined);
    assert.equal(audio.fromByte, 0);
  });

  it("begins before a voice that came after the words that are understood", () => {
    hear(LOUD, 1_000);
    hear(QUIET, 3_000);
    audio.settle(1_000);
    hear(LOUD, 1_000);
    audio.settle(2_000);
    assert.equal(beginsAtMs(), 4_000 + 2 * FRAME_MS - 500);
  });

  it("holds a short voice that begins where the words end that are understood", () => {
    hear(QUIET, 3_000);
    hear(LOUD, 200);
    hear(QUIET, 3_000);
    audio.settle(3_000 + 2 * FRAME_MS);
    assert.equal(beginsAtMs(), 3_000 + 2 * FRAME_MS);
  });

  it("keeps speech later than 300 ms after the last word, and no voice that ends by then", () => {
    for (const [lastWordEndMs, expectedMs] of [
      [1_700, 2_500],
      [1_680, 1_680],
    ] as const) {
      audio = new UnsettledAudio(PCM_16K);
      hear(LOUD, 2_000);
      audio.settle(lastWordEndMs);
      hear(QUIET, 1_000);
      assert.equal(beginsAtMs(), expectedMs);
    }
  });
});
