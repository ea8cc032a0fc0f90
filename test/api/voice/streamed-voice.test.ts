import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  PIECE_MAX_MS,
  StreamedVoice,
  UNREAD_TARGET_BYTES,
  type VoiceLine,
  WAITING_MAX_MS,
} from "../../../api/voice/web-leg.js";

const BYTES_PER_MS = 48;
const PIECE_BYTES_MAX = PIECE_MAX_MS * BYTES_PER_MS;

/** A connection that records its data; the test decides what the client reads. */
class RecordingLine implements VoiceLine {
  readonly sent: (string | Uint8Array)[] = [];
  unread = 0;
  /** Whether what is sent stays unread until the test says otherwise. */
  isSlow = false;

  sendText(message: string): void {
    this.sent.push(message);
  }

  sendAudio(piece: Uint8Array): void {
    this.sent.push(piece);
    if (this.isSlow) this.unread += piece.byteLength;
  }

  unreadBytes(): number {
    return this.unread;
  }

  get audio(): Buffer {
    return Buffer.concat(this.sent.filter((each) => typeof each !== "string"));
  }

  get texts(): string[] {
    return this.sent.filter((each) => typeof each === "string");
  }
}

function newVoice() {
  const line = new RecordingLine();
  return { line, voice: new StreamedVoice("pcm24k", line) };
}

const soundOf = (durationMs: number) =>
  Uint8Array.from({ length: durationMs * BYTES_PER_MS }, (_, at) => at % 251);

test("a turn begins with its `audioStart`, and its audio leaves in pieces of at most 100 ms", () => {
  const { line, voice } = newVoice();
  const sound = soundOf(250);
  assert.ok(voice.play(sound, 3));
  assert.ok(voice.play(soundOf(30), 3));
  assert.ok(voice.play(soundOf(0), 3));
  assert.ok(voice.play(soundOf(40), 5));
  assert.deepEqual(
    line.sent.map((each) => (typeof each === "string" ? each : each.byteLength / BYTES_PER_MS)),
    [
      '{"type":"audioStart","turnId":3,"encoding":"pcm24k","sampleRateHz":24000}',
      100,
      100,
      50,
      30,
      '{"type":"audioStart","turnId":5,"encoding":"pcm24k","sampleRateHz":24000}',
      40,
    ],
  );
  assert.deepEqual(line.audio.subarray(0, sound.length), Buffer.from(sound));
});

test("while the client leaves enough unread, audio waits, and later messages wait after it", () => {
  const { line, voice } = newVoice();
  line.isSlow = true;
  assert.ok(voice.play(soundOf(2_000), 1));
  voice.follow("the end");
  const sentBytes = line.audio.byteLength;
  assert.ok(sentBytes > UNREAD_TARGET_BYTES && sentBytes <= UNREAD_TARGET_BYTES + PIECE_BYTES_MAX);
  assert.equal(voice.waitingMs, 2_000 - sentBytes / BYTES_PER_MS);
  voice.sendWaiting();
  assert.equal(line.audio.byteLength, sentBytes, "nothing was read meanwhile");
  while (voice.waitingMs > 0) {
    line.unread = 0;
    voice.sendWaiting();
  }
  assert.deepEqual(line.audio, Buffer.from(soundOf(2_000)));
  assert.equal(line.sent.at(-1), "the end");
});

test("what was cleared never leaves", () => {
  const { line, voice } = newVoice();
  line.isSlow = true;
  voice.play(soundOf(2_000), 1);
  voice.follow("the end");
  const sentCount = line.sent.length;
  voice.clear();
  line.unread = 0;
  voice.sendWaiting();
  assert.equal(line.sent.length, sentCount);
  assert.equal(voice.waitingMs, 0);
  voice.play(Uint8Array.of(1, 2), 2);
  assert.equal(line.sent.length, sentCount + 2);
});

test("a turn that resumes after a stop has another `audioStart`, from which its reports count", () => {
  const { line, voice } = newVoice();
  voice.play(soundOf(500), 3);
  assert.equal(voice.take({ type: "played", turnId: 3, ms: 300 }), 300);
  voice.clear();
  assert.equal(voice.take({ type: "played", turnId: 3, ms: 320 }), undefined);
  voice.play(soundOf(100), 3);
  voice.play(soundOf(100), 3);
  const start = '{"type":"audioStart","turnId":3,"encoding":"pcm24k","sampleRateHz":24000}';
  assert.deepEqual(line.texts, [start, start]);
  assert.equal(voice.faultIn({ type: "played", turnId: 3, ms: 50 }), undefined);
  assert.equal(voice.take({ type: "played", turnId: 3, ms: 50 }), 50);
});

test("a client that does not read has a minute of audio waiting, and no more", () => {
  const { line, voice } = newVoice();
  line.isSlow = true;
  let takenMs = 0;
  while (voice.play(soundOf(1_000), 1)) takenMs += 1_000;
  assert.ok(voice.waitingMs <= WAITING_MAX_MS && voice.waitingMs > WAITING_MAX_MS - 1_000);
  const inNetworkMs = takenMs - voice.waitingMs;
  assert.ok(inNetworkMs <= UNREAD_TARGET_BYTES / BYTES_PER_MS + PIECE_MAX_MS);
});

test("a report is accepted as far as it can be true", () => {
  const { line, voice } = newVoice();
  const report = (turnId: number, ms: number) => ({ type: "played", turnId, ms }) as const;
  assert.match(voice.faultIn(report(1, 0)) ?? "", /^turnId: /, "nothing was sent");
  line.isSlow = true;
  voice.play(soundOf(1_000), 2);
  const sentMs = line.audio.byteLength / BYTES_PER_MS;
  assert.ok(sentMs < 1_000);
  assert.match(voice.faultIn(report(3, 0)) ?? "", /^turnId: /, "a turn to come");
  assert.equal(voice.faultIn(report(1, 5_000)), undefined, "a turn that is over is let be");
  assert.equal(voice.take(report(1, 5_000)), undefined);
  assert.match(voice.faultIn(report(2, sentMs + 2)) ?? "", /^ms: expected at most the 400 ms/);
  assert.equal(voice.faultIn(report(2, sentMs + 1)), undefined, "rounded up");
  assert.equal(voice.take(report(2, sentMs + 1)), sentMs, "but never more than was sent");
  assert.match(voice.faultIn(report(2, 200)) ?? "", /^ms: expected at least the 401 ms/);
  voice.play(soundOf(100), 4);
  line.unread = 0;
  while (voice.waitingMs > 0) {
    line.unread = 0;
    voice.sendWaiting();
  }
  assert.equal(voice.faultIn(report(4, 0)), undefined, "each turn counts from its beginning");
});

test("whatever a client reads and when, it gets all that was not cleared, in order", () => {
  const step = fc.oneof(
    fc.record({ play: fc.integer({ min: 0, max: 700 }) }),
    fc.constant("read" as const),
    fc.constant("clear" as const),
    fc.constant("follow" as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { line, voice } = newVoice();
      line.isSlow = true;
      let turnId = 1;
      for (const each of steps) {
        if (each === "read") {
          line.unread = 0;
          voice.sendWaiting();
        } else if (each === "clear") {
          voice.clear();
          line.sent.push("cleared");
          turnId += 1;
        } else if (each === "follow") voice.follow(`end of ${turnId}`);
        else voice.play(new Uint8Array(each.play * BYTES_PER_MS).fill(turnId), turnId);
      }
      let playing = 0;
      for (const each of line.sent) {
        if (typeof each !== "string") {
          assert.ok(each.byteLength > 0 && each.byteLength <= PIECE_BYTES_MAX);
          assert.ok(each.every((byte) => byte === playing));
        } else if (each.startsWith("{")) {
          const started = Number(/"turnId":(\d+)/.exec(each)?.[1]);
          assert.ok(started > playing);
          playing = started;
        } else if (each !== "cleared")
          assert.ok(Number(each.slice(7)) >= playing, "an end is not told before its audio");
      }
    }),
  );
});
