import assert from "node:assert/strict";
import { test } from "node:test";
import { MULAW_8K, PCM_16K } from "../../../../engine/audio/audio-format.js";
import { encodeMulaw } from "../../../../engine/audio/mulaw.js";
import { decodeSpeech, encodeSpeech } from "../../../../engine/sandbox/telephone/tone-code.js";
import { UtteranceCutter } from "../../../../engine/vendors/openai-protocol/audio-transcriptions.js";

const RATE_HZ = PCM_16K.sampleRateHz;

interface Cut {
  readonly text: string;
  readonly isWhole: boolean;
}

class Cutting {
  readonly cuts: Cut[] = [];
  readonly endsMs: number[] = [];
  readonly audios: Int16Array[] = [];
  startedCount = 0;
  readonly cutter: UtteranceCutter;

  constructor(silenceMs = 500) {
    this.cutter = new UtteranceCutter(PCM_16K, silenceMs, {
      onStarted: () => {
        this.startedCount++;
      },
      onUtterance: (audio, endMs, isWhole) => {
        const pcm = new Int16Array(Uint8Array.from(audio).buffer);
        this.audios.push(pcm);
        this.cuts.push({ text: decodeSpeech(pcm, RATE_HZ), isWhole });
        this.endsMs.push(endMs);
      },
    });
  }

  write(pcm: Int16Array, pieceBytes = 640): void {
    const bytes = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      this.cutter.write(bytes.subarray(at, at + pieceBytes));
    }
  }
}

function quiet(durationMs: number): Int16Array {
  return new Int16Array(durationMs * 16);
}

function noise(durationMs: number, amplitude: number): Int16Array {
  return Int16Array.from(quiet(durationMs), (_, n) => Math.round(amplitude * Math.sin(n * n)));
}

function added(one: Int16Array, other: Int16Array): Int16Array {
  return one.map((sample, n) => sample + (other[n] ?? 0));
}

test("speech between two silences is one utterance, reported with its end", () => {
  const cutting = new Cutting();
  const first = encodeSpeech("book a table", RATE_HZ);
  cutting.write(quiet(1_000));
  cutting.write(first);
  assert.equal(cutting.startedCount, 1);
  cutting.write(quiet(480));
  assert.deepEqual(cutting.cuts, []);
  cutting.write(quiet(60));
  cutting.write(encodeSpeech("for two", RATE_HZ));
  cutting.write(quiet(600));
  assert.deepEqual(
    cutting.cuts.map(({ text, isWhole }) => [text, isWhole]),
    [
      ["book a table", true],
      ["for two", true],
    ],
  );
  assert.ok(Math.abs((cutting.endsMs[0] ?? 0) - (1_000 + first.length / 16)) < 60);
});

test("after the shortest silence the end of one utterance is not heard again in the next", () => {
  const cutting = new Cutting(200);
  const silence = quiet(200);
  const words = encodeSpeech("book a table", RATE_HZ);
  for (const pcm of [words, silence, words, quiet(400)]) cutting.write(pcm);
  assert.equal(cutting.cuts.length, 2);
  const [, second = silence] = cutting.audios;
  const loudest = (pcm: Int16Array) => pcm.reduce((max, one) => Math.max(max, Math.abs(one)), 0);
  assert.equal(loudest(second.subarray(0, second.length - words.length - silence.length)), 0);
  assert.deepEqual(
    cutting.cuts.map(({ text }) => text),
    ["book a table", "book a table"],
  );
});

test("however the stream is cut into pieces, it is cut into the same utterances", () => {
  for (const pieceBytes of [2, 626, 5_000, 1_000_000]) {
    const cutting = new Cutting();
    cutting.write(encodeSpeech("one two", RATE_HZ), pieceBytes);
    cutting.write(quiet(700), pieceBytes);
    assert.deepEqual(
      cutting.cuts.map(({ text }) => text),
      ["one two"],
      String(pieceBytes),
    );
  }
});

test("a pause shorter than the silence that ends an utterance does not end it", () => {
  const cutting = new Cutting();
  cutting.write(encodeSpeech("my number is", RATE_HZ));
  cutting.write(quiet(300));
  cutting.write(encodeSpeech("four two", RATE_HZ));
  cutting.write(quiet(600));
  assert.deepEqual(
    cutting.cuts.map(({ text }) => text),
    ["my number is four two"],
  );
});

test("a steady noise is a room, not a voice; a voice in it is heard", () => {
  const cutting = new Cutting();
  cutting.write(noise(4_000, 250));
  assert.deepEqual([cutting.startedCount, cutting.cuts.length], [0, 0]);
  const speech = encodeSpeech("hello there", RATE_HZ);
  cutting.write(added(speech, noise(speech.length / 16, 250)));
  cutting.write(noise(700, 250));
  assert.equal(cutting.startedCount, 1);
  assert.equal(cutting.cuts.length, 1);
});

test("a low voice in a quiet room is heard to its end, and is not taken for a louder room", () => {
  const cutting = new Cutting();
  cutting.write(quiet(1_000));
  cutting.write(noise(3_000, 500));
  cutting.write(quiet(700));
  assert.deepEqual([cutting.startedCount, cutting.cuts.length], [1, 1]);
  assert.ok((cutting.audios[0]?.length ?? 0) >= quiet(3_000).length, "all of it");
});

test("a click is not a voice", () => {
  const cutting = new Cutting();
  cutting.write(quiet(500));
  cutting.write(noise(30, 20_000));
  cutting.write(quiet(1_000));
  assert.deepEqual([cutting.startedCount, cutting.cuts.length], [0, 0]);
});

test("an utterance without a pause is cut after half a minute, and continues", () => {
  const cutting = new Cutting();
  const text = `${"one two three four five six seven eight nine ten ".repeat(17)}end`;
  const speech = encodeSpeech(text, RATE_HZ);
  assert.ok(speech.length / 16 > 30_000);
  cutting.write(speech);
  cutting.cutter.end();
  assert.deepEqual(
    cutting.cuts.map(({ isWhole }) => isWhole),
    [false, true],
  );
  assert.equal(cutting.startedCount, 1);
});

test("µ-law from the telephone is cut as well", () => {
  const lengths: number[] = [];
  const cutter = new UtteranceCutter(MULAW_8K, 500, {
    onStarted: () => undefined,
    onUtterance: (audio) => lengths.push(audio.length),
  });
  const speech = encodeMulaw(encodeSpeech("hello", 8_000));
  cutter.write(new Uint8Array(8_000).fill(0xff));
  cutter.write(speech);
  cutter.write(new Uint8Array(8_000).fill(0xff));
  assert.equal(lengths.length, 1);
  assert.ok((lengths[0] ?? 0) >= speech.length);
});
