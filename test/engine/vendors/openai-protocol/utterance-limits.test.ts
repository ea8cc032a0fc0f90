import assert from "node:assert/strict";
import { test } from "node:test";
import { type InputFormat, MULAW_8K, PCM_16K } from "../../../../engine/audio/audio-format.js";
import { encodeMulaw } from "../../../../engine/audio/mulaw.js";
import { UtteranceCutter } from "../../../../engine/vendors/openai-protocol/audio-transcriptions.js";

interface Heard {
  readonly durationMs: number;
  readonly endMs: number;
  readonly isWhole: boolean;
}

class Room {
  readonly utterances: Heard[] = [];
  startedCount = 0;
  readonly cutter: UtteranceCutter;

  constructor(format: InputFormat = PCM_16K) {
    this.cutter = new UtteranceCutter(format, 500, {
      onStarted: () => {
        this.startedCount += 1;
      },
      onUtterance: ({ length }, endMs, isWhole) =>
        void this.utterances.push({ durationMs: length / 32, endMs, isWhole }),
    });
  }

  /** A sound whose root mean square is its amplitude. */
  hear(durationMs: number, amplitude: number): this {
    const pcm = Int16Array.from({ length: durationMs * 16 }, (_, at) =>
      at % 2 === 0 ? amplitude : -amplitude,
    );
    this.cutter.write(new Uint8Array(pcm.buffer));
    return this;
  }
}

const quietRoom = () => new Room().hear(1_000, 0);

test("a voice begins with 60 ms of sound, not with 40", () => {
  assert.equal(quietRoom().hear(40, 5_000).hear(20, 0).hear(40, 5_000).startedCount, 0);
  assert.equal(quietRoom().hear(60, 5_000).startedCount, 1);
});

test("in a quiet room a voice is as loud as 180, and in a steady noise three times as loud as that", () => {
  assert.equal(quietRoom().hear(500, 179).startedCount, 0);
  assert.equal(quietRoom().hear(60, 180).startedCount, 1);
  // The room's estimate rises meanwhile: by 2.4 % over three pieces.
  const noisyRoom = () => new Room().hear(1_000, 100);
  assert.equal(noisyRoom().hear(500, 307).startedCount, 0);
  assert.equal(noisyRoom().hear(60, 308).startedCount, 1);
  // A room that was not measured yet counts as one like that.
  assert.equal(new Room().hear(500, 307).startedCount, 0);
  assert.equal(new Room().hear(60, 308).startedCount, 1);
});

test("from the telephone a voice is as loud as from anywhere else", () => {
  for (const [amplitude, startedCount] of [
    [150, 0],
    [250, 1],
  ] as const) {
    const room = new Room(MULAW_8K);
    const pcm = Int16Array.from({ length: 1_600 }, (_, at) => (at % 2 === 0 ? 1 : -1) * amplitude);
    room.cutter.write(encodeMulaw(new Int16Array(8_000)));
    room.cutter.write(encodeMulaw(pcm));
    assert.equal(room.startedCount, startedCount, String(amplitude));
  }
});

test("after a silence without any noise a noise counts as a voice until it is known to be the room", () => {
  const room = quietRoom().hear(11_580, 250);
  assert.deepEqual([room.startedCount, room.utterances.length], [1, 0]);
  assert.equal(room.hear(20, 250).utterances.length, 1);
  assert.equal(room.hear(5_000, 250).startedCount, 1);
});

test("however loud the room, a voice of 3,000 is heard", () => {
  const loudRoom = () => new Room().hear(12_000, 2_900);
  const { utterances, startedCount } = loudRoom();
  assert.deepEqual([startedCount, utterances.length], [1, 1], "until it is known to be a room");
  assert.equal(loudRoom().hear(500, 2_999).startedCount, 1);
  assert.equal(loudRoom().hear(60, 3_000).startedCount, 2);
});

test("300 ms before the sound are included, and 200 ms after it", () => {
  const { utterances } = quietRoom().hear(400, 5_000).hear(500, 0);
  assert.deepEqual(utterances, [{ durationMs: 900, endMs: 1_400, isWhole: true }]);
  const atOnce = new Room().hear(400, 5_000).hear(500, 0);
  assert.deepEqual(atOnce.utterances, [{ durationMs: 600, endMs: 400, isWhole: true }]);
});

test("an utterance is over after the silence that is set, and no sooner", () => {
  const room = quietRoom().hear(400, 5_000).hear(480, 0);
  assert.equal(room.utterances.length, 0);
  assert.equal(room.hear(20, 0).utterances.length, 1);
});

test("speech without a pause is cut after 30 s, with all its audio, and starts no new voice after it", () => {
  const room = quietRoom().hear(29_680, 30_000);
  assert.equal(room.utterances.length, 0);
  room.hear(20, 30_000);
  assert.deepEqual(room.utterances, [{ durationMs: 30_000, endMs: 30_700, isWhole: false }]);
  room.hear(400, 30_000).hear(500, 0);
  assert.deepEqual(room.utterances[1], { durationMs: 600, endMs: 31_100, isWhole: true });
  assert.equal(room.startedCount, 1);
});

test("the newest audio is returned as far as there is some", () => {
  const room = new Room().hear(200, 0);
  assert.equal(room.cutter.newest(100).length, 100 * 32);
  assert.equal(room.cutter.newest(500).length, 200 * 32);
  room.cutter.end();
  assert.equal(room.utterances.length, 0);
  room.hear(100, 5_000).cutter.end();
  assert.equal(room.utterances[0]?.isWhole, true);
});
