import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { PCM_16K } from "../../../../engine/audio/audio-format.js";
import {
  type SttHealth,
  SttStallDetector,
} from "../../../../engine/vendors/stt-stream/stt-stream.js";
import { FRAME_MS, LOUD, QUIET } from "../../../doubles/voiced-frames.js";

const VOICE_DOUBTED_MS = 1_200;

describe("an STT that returns nothing", () => {
  let watch: SttStallDetector;

  beforeEach(() => {
    watch = new SttStallDetector(PCM_16K);
    hear(QUIET, 400);
  });

  /** All that was not "fine". */
  function hear(audio: Uint8Array, durationMs: number): readonly SttHealth[] {
    const heard = Array.from({ length: durationMs / FRAME_MS }, () => watch.hear(audio));
    return heard.filter((hearing) => hearing !== "fine");
  }

  it("is doubted in the middle of a long utterance, once", () => {
    assert.deepEqual(hear(LOUD, VOICE_DOUBTED_MS + 200), ["doubtful"]);
    assert.deepEqual(hear(LOUD, 1_000), []);
    watch.understood();
    assert.deepEqual(hear(LOUD, VOICE_DOUBTED_MS + 200), ["doubtful"]);
  });

  it("is doubted for a shorter one when that has ended", () => {
    assert.deepEqual(hear(LOUD, 1_100), []);
    assert.deepEqual(hear(QUIET, 1_400), []);
    assert.deepEqual(hear(QUIET, 200), ["doubtful", "unanswered"]);
  });

  it("has left an utterance without a result when that is over, and reports it once", () => {
    assert.deepEqual(hear(LOUD, VOICE_DOUBTED_MS + 200), ["doubtful"]);
    assert.deepEqual(hear(QUIET, 1_600), ["unanswered"]);
    assert.deepEqual(hear(LOUD, 1_100), []);
    assert.deepEqual(hear(QUIET, 3_000), []);
    watch.understood();
    hear(LOUD, VOICE_DOUBTED_MS + 200);
    assert.deepEqual(hear(QUIET, 1_600), ["unanswered"]);
  });

  it("fails for a caller who says short sentences and waits, after three of them", () => {
    const heard = Array.from({ length: 3 }, () => [...hear(LOUD, 1_300), ...hear(QUIET, 7_000)]);
    assert.deepEqual(
      heard.map((sentence) => sentence.filter((hearing) => hearing !== "doubtful")),
      [["unanswered"], [], ["lost"]],
    );
  });

  it("has left two short utterances unanswered, however short for one", () => {
    assert.deepEqual(hear(LOUD, 700), []);
    assert.deepEqual(hear(QUIET, 4_000), []);
    assert.deepEqual(hear(LOUD, 700), []);
    assert.deepEqual(hear(QUIET, 4_000), ["unanswered"]);
    watch.understood();
    assert.deepEqual([...hear(LOUD, 700), ...hear(QUIET, 4_000)], []);
  });

  it("fails for a caller who says one word and waits, within 20 s, and no sooner than 10 s", () => {
    for (const [waitMs, words] of [
      [2_000, 5],
      [3_000, 3],
      [6_000, 3],
    ] as const) {
      watch = new SttStallDetector(PCM_16K);
      hear(QUIET, 400);
      for (let n = 1; n <= words; n += 1) {
        const isLost = [...hear(LOUD, 500), ...hear(QUIET, waitMs)].includes("lost");
        assert.equal(isLost, n === words, `${waitMs} ms, word ${n}`);
      }
    }
  });

  it("does not fail for four noises as long as words if it has returned something in the call, and does for five", () => {
    watch.understood();
    for (let n = 1; n <= 5; n += 1) {
      const isLost = [...hear(LOUD, 500), ...hear(QUIET, 4_000)].includes("lost");
      assert.equal(isLost, n === 5, `noise ${n}`);
    }
  });

  it("does not fail for noises that are too far apart for a caller who tries again", () => {
    for (let n = 0; n < 6; n += 1) {
      assert.deepEqual([...hear(LOUD, 500), ...hear(QUIET, 15_100)], []);
    }
  });

  it("is not doubted for coughs, however many there are", () => {
    for (let n = 0; n < 8; n += 1) {
      assert.deepEqual(hear(LOUD, 360), []);
      assert.deepEqual(hear(QUIET, 2_000), []);
    }
  });

  it("is neither suspected nor failed for coughs and typing, however long they continue", () => {
    for (let n = 0; n < 60; n += 1) {
      assert.deepEqual(hear(LOUD, 380), [], `cough ${n}`);
      assert.deepEqual(hear(QUIET, 2_000), []);
    }
    for (let n = 0; n < 2_400; n += 1) {
      const key = [...hear(LOUD, 40), ...hear(QUIET, 40), ...hear(LOUD, 20), ...hear(QUIET, 20)];
      assert.deepEqual(key, [], `key ${n}`);
    }
  });

  it("is not lost for three noises a little longer than a cough", () => {
    for (let n = 0; n < 3; n += 1) {
      const heard = [...hear(LOUD, 440), ...hear(QUIET, 5_000)];
      assert.ok(!heard.includes("lost"));
    }
  });

  it("is not doubted for what was understood", () => {
    hear(LOUD, 1_100);
    watch.understood();
    assert.deepEqual(hear(QUIET, 3_000), []);
    assert.deepEqual(hear(LOUD, 800), []);
    assert.deepEqual(hear(QUIET, 3_000), []);
  });

  /** The voice after which it is "doubtful", and the silence behind so much voice after which it is that or "unanswered". */
  function until(hearing: SttHealth, audio: Uint8Array): number {
    for (let ms = FRAME_MS; ms < 10_000; ms += FRAME_MS) {
      if (watch.hear(audio) === hearing) return ms;
    }
    return Number.POSITIVE_INFINITY;
  }

  // A voice counts from its third frame on.
  it("is doubted at 1.2 s of a voice, and deaf at 3 s, whatever the pauses", () => {
    assert.equal(until("doubtful", LOUD), 1_240);
    watch = new SttStallDetector(PCM_16K);
    hear(QUIET, 400);
    assert.equal(until("deaf", LOUD), 3_040);
  });

  it("is doubted 1.5 s after a second of a voice, and not after less", () => {
    hear(LOUD, 1_040);
    assert.equal(until("doubtful", QUIET), 1_500);
    watch.understood();
    hear(LOUD, 1_020);
    assert.equal(until("doubtful", QUIET), Number.POSITIVE_INFINITY);
  });

  it("has left an utterance of a second unanswered, and none that is shorter", () => {
    hear(LOUD, 1_040);
    assert.deepEqual(hear(QUIET, 3_000), ["doubtful", "unanswered"]);
    watch = new SttStallDetector(PCM_16K);
    hear(QUIET, 400);
    hear(LOUD, 1_020);
    assert.deepEqual(hear(QUIET, 3_000), []);
  });

  it("has left two short utterances unanswered, and none that are shorter", () => {
    for (const [durationMs, expectedMs] of [
      [400, 1_500],
      [380, Number.POSITIVE_INFINITY],
    ] as const) {
      watch = new SttStallDetector(PCM_16K);
      hear(QUIET, 400);
      hear(LOUD, durationMs);
      hear(QUIET, 3_000);
      hear(LOUD, durationMs);
      assert.equal(until("unanswered", QUIET), expectedMs, String(durationMs));
    }
  });

  it("has left none unanswered that is a millisecond too short, however many there are", () => {
    const almost = LOUD.subarray(0, 19 * 32);
    for (let n = 0; n < 3; n += 1) {
      hear(LOUD, 380);
      watch.hear(almost);
      assert.deepEqual(hear(QUIET, 3_000), [], String(n));
    }
  });

  /** So many more milliseconds of a voice that goes on. */
  function goOn(durationMs: number): readonly SttHealth[] {
    const rest = watch.hear(LOUD.subarray(0, (durationMs % FRAME_MS) * 32));
    const heard = hear(LOUD, durationMs - (durationMs % FRAME_MS));
    return [...heard, ...(rest === "fine" ? [] : [rest])];
  }

  it("is not suspected, nor dead, a millisecond too soon, whatever was reported before", () => {
    hear(LOUD, 40);
    assert.deepEqual(goOn(1_199), []);
    assert.deepEqual(goOn(1), ["doubtful"]);
    assert.deepEqual(goOn(1_799), []);
    assert.deepEqual(goOn(1), ["deaf"]);
    assert.deepEqual(goOn(2_999), []);
    assert.deepEqual(goOn(1), ["deaf"]);
    watch.understood();
    assert.deepEqual(goOn(1_199), []);
    assert.deepEqual(goOn(1_800), ["doubtful"]);
    assert.deepEqual(goOn(1), ["deaf"]);
  });

  it("has left an utterance without a result no millisecond too soon, and counts from zero from there", () => {
    hear(LOUD, 1_040);
    watch.hear(QUIET.subarray(0, 19 * 32));
    assert.deepEqual(hear(QUIET, 1_480), []);
    assert.deepEqual([watch.hear(QUIET), watch.hear(QUIET)], ["doubtful", "unanswered"]);
    hear(LOUD, 40);
    assert.deepEqual(goOn(2_999), []);
    assert.deepEqual(goOn(1), ["deaf"]);
  });

  // The first two frames of a voice still count as silence.
  it("takes what follows a silence of 1.5 s for another utterance, and of less for the same", () => {
    for (const [quietMs, told] of [
      [1_440, ["doubtful"]],
      [1_460, []],
    ] as const) {
      watch = new SttStallDetector(PCM_16K);
      hear(QUIET, 400);
      hear(LOUD, 640);
      hear(QUIET, quietMs);
      assert.deepEqual(hear(LOUD, 640), told, String(quietMs));
    }
  });
});
