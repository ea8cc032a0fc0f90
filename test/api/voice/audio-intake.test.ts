import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as check, property, uint8Array } from "fast-check";
import { AudioIntake } from "../../../api/voice/web-leg.js";

/** 16-bit samples at 16 kHz. */
const BYTES_PER_MS = 32;
const PREEMPTIVE_BYTES_MAX = 2_000 * BYTES_PER_MS;

/** Takes the frames and reports the output, piece by piece. */
function intakeOf(frames: readonly Uint8Array[]): Buffer[] {
  const intake = new AudioIntake();
  const pieces: Buffer[] = [];
  intake.connect((audio) => pieces.push(Buffer.from(audio)));
  for (const frame of frames) intake.accept(frame);
  return pieces;
}

test("however audio is cut into frames, whole samples come out, in order and without a gap", () => {
  check(
    property(array(uint8Array({ maxLength: 9 }), { maxLength: 40 }), (frames) => {
      const pieces = intakeOf(frames);
      for (const piece of pieces) assert.ok(piece.length > 0 && piece.length % 2 === 0);
      const sent = Buffer.concat(frames);
      const whole = sent.subarray(0, sent.length - (sent.length % 2));
      assert.deepEqual(Buffer.concat(pieces), whole);
    }),
  );
});

test("frames of one byte are joined two by two", () => {
  const frames = [1, 2, 3, 4, 5].map((byte) => Uint8Array.of(byte));
  assert.deepEqual(intakeOf(frames), [Buffer.of(1, 2), Buffer.of(3, 4)]);
});

test("what is said before there is a session is kept in order, however it was framed", () => {
  check(
    property(array(uint8Array({ maxLength: 9 }), { maxLength: 40 }), (frames) => {
      const intake = new AudioIntake();
      for (const frame of frames) intake.accept(frame);
      const heard: Buffer[] = [];
      intake.connect((audio) => heard.push(Buffer.from(audio)));
      assert.deepEqual(Buffer.concat(heard), Buffer.concat(intakeOf(frames)));
    }),
  );
});

test("of audio before the conversation is ready the newest two seconds are kept", () => {
  const intake = new AudioIntake();
  const second = BYTES_PER_MS * 1_000;
  for (const mark of [1, 2, 3, 4]) intake.accept(Buffer.alloc(second, mark));
  const heard: Buffer[] = [];
  intake.connect((audio) => heard.push(Buffer.from(audio)));
  const expected = Buffer.concat([Buffer.alloc(second, 3), Buffer.alloc(second, 4)]);
  assert.deepEqual(Buffer.concat(heard), expected);
});

test("one early frame of more than two seconds is cut to its end", () => {
  const intake = new AudioIntake();
  intake.accept(Buffer.concat([Buffer.alloc(1_000, 1), Buffer.alloc(PREEMPTIVE_BYTES_MAX, 2)]));
  const heard: Buffer[] = [];
  intake.connect((audio) => heard.push(Buffer.from(audio)));
  assert.deepEqual(Buffer.concat(heard), Buffer.alloc(PREEMPTIVE_BYTES_MAX, 2));
});

test("early audio is copied: the library's buffer is only lent", () => {
  const intake = new AudioIntake();
  const lent = Buffer.of(1, 2);
  intake.accept(lent);
  lent.fill(9);
  const heard: Buffer[] = [];
  intake.connect((audio) => heard.push(Buffer.from(audio)));
  assert.deepEqual(heard, [Buffer.of(1, 2)]);
});
