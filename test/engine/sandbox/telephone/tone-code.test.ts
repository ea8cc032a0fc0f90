import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { recognizeMp3 } from "../../../../engine/sandbox/sound/mp3-decoder.js";
import { resample } from "../../../../engine/sandbox/sound/raw-audio.js";
import { speak } from "../../../../engine/sandbox/sound/simulated-voice.js";
import { decodeMuLaw, encodeMuLaw } from "../../../../engine/sandbox/telephone/telephone-audio.js";
import {
  type DecodedWord,
  decodeSpeech,
  encodeSpeech,
  ToneDecoder,
} from "../../../../engine/sandbox/telephone/tone-code.js";
import { anyCharacter } from "../../../any-character.js";
import { addNoise, amplify, humanVoice, join, silence } from "../sound.js";

const HARD_TEXTS = [
  "Hello, world!",
  "aaa  bbb 11 22 éé 你你好 👍👍 ESC\n\ttab {x|y} \\ ~",
  " leading and trailing ",
  "  ",
  "¿Mañana a las 10:30? ¡Sí!",
  "A1B2C3 ff 0x60 €5.00",
];
const anyText = fc.oneof(
  fc.string({ maxLength: 25, minLength: 1 }),
  fc.string({ maxLength: 12, minLength: 1, unit: anyCharacter }),
  fc.string({
    maxLength: 25,
    minLength: 1,
    unit: fc.constantFrom("a", "b", " ", ".", "E", "1", "é"),
  }),
);

function wordsIn(pcm: Int16Array, sampleRateHz: number): DecodedWord[] {
  const words: DecodedWord[] = [];
  const decoder = new ToneDecoder(sampleRateHz, { onWord: (word) => words.push(word) });
  decoder.write(pcm);
  decoder.end();
  return words;
}

test("any text comes back exactly at 8, 16 and 24 kHz", () => {
  for (const rate of [8000, 16_000, 24_000]) {
    for (const text of HARD_TEXTS) assert.equal(decodeSpeech(encodeSpeech(text, rate), rate), text);
  }
  fc.assert(
    fc.property(anyText, (text) => {
      assert.equal(decodeSpeech(encodeSpeech(text, 8000), 8000), text);
    }),
    { numRuns: 200 },
  );
});

test("the code survives a telephone call: µ-law, any level from 0 to -30 dB, any phase, resampling both ways", () => {
  const levels = fc.integer({ min: -30, max: 0 });
  const offsets = fc.integer({ min: 0, max: 400 });
  fc.assert(
    fc.property(anyText, levels, offsets, (text, level, offset) => {
      const spoken = join(new Int16Array(offset), amplify(encodeSpeech(text, 16_000), level));
      const onTheLeg = decodeMuLaw(encodeMuLaw(resample(spoken, 16_000, 8000)));
      assert.equal(decodeSpeech(onTheLeg, 8000), text);
      assert.equal(decodeSpeech(resample(onTheLeg, 8000, 16_000), 16_000), text);
    }),
    { numRuns: 60 },
  );
});

test("the code survives noise 20 dB below it", () => {
  fc.assert(
    fc.property(anyText, fc.nat(), (text, seed) => {
      const noisy = addNoise(encodeSpeech(text, 8000), 20, seed);
      assert.equal(decodeSpeech(noisy, 8000), text);
    }),
    { numRuns: 60 },
  );
});

test("the code survives MP3 at 24 kHz and 48 kbit/s, and a change to 16 kHz after it", async () => {
  for (const text of HARD_TEXTS) {
    assert.equal(
      await recognizeMp3(await speak(text, { codec: "mp3", sampleRateHz: 24_000 })),
      text,
    );
  }
  await fc.assert(
    fc.asyncProperty(anyText, async (text) => {
      assert.equal(
        await recognizeMp3(await speak(text, { codec: "mp3", sampleRateHz: 24_000 })),
        text,
      );
    }),
    { numRuns: 25 },
  );
});

test("slower speech takes longer and says the same", () => {
  const slow = encodeSpeech("Take your time.", 24_000, 0.5);

  assert.equal(slow.length, 2 * encodeSpeech("Take your time.", 24_000).length);
  assert.equal(decodeSpeech(slow, 24_000), "Take your time.");
});

test("however the audio is cut, the words come out the same, each once, with its place in time", () => {
  const pcm = join(silence(1000, 8000), encodeSpeech("one two", 8000), silence(500, 8000));
  const whole = wordsIn(pcm, 8000);
  const pieces: DecodedWord[] = [];
  const decoder = new ToneDecoder(8000, { onWord: (word) => pieces.push(word) });
  for (let at = 0; at < pcm.length; at += 37) decoder.write(pcm.subarray(at, at + 37));

  assert.deepEqual(pieces, whole);
  assert.deepEqual(
    whole.map(({ text }) => text),
    ["one", "two"],
  );
  const [one, two] = whole;
  assert.ok(one !== undefined && Math.abs(one.startMs - 1040) <= 20, `starts at ${one?.startMs}`);
  assert.ok(two !== undefined && Math.abs(two.endMs - 1320) <= 20, `ends at ${two?.endMs}`);
});

test("two utterances without a gap stay two", () => {
  const pcm = join(encodeSpeech("stop", 8000), encodeSpeech("please", 8000));

  assert.equal(decodeSpeech(pcm, 8000), "stop please");
});

test("audio that begins in the middle of a word gives the words after it", () => {
  const pcm = encodeSpeech("yesterday we spoke about it", 8000);

  assert.equal(decodeSpeech(pcm.subarray(1000), 8000), "we spoke about it");
});

test("a piece of an utterance, wherever it was cut out, is never taken for a human voice", () => {
  const said = decodeMuLaw(encodeMuLaw(encodeSpeech("Number 1. Number 2.", 8000)));
  const cuts = fc.tuple(fc.nat(said.length - 1), fc.integer({ min: 1, max: 4000 }));
  fc.assert(
    fc.property(cuts, ([from, length]) => {
      const piece = said.subarray(from, from + length);
      const words = wordsIn(join(silence(200, 8000), piece, silence(300, 8000)), 8000);
      assert.deepEqual(
        words.filter(({ isHuman }) => isHuman),
        [],
      );
    }),
    { numRuns: 500 },
  );
});

test("a human voice is reported by its length, and never as words", () => {
  const pcm = join(silence(300, 16_000), humanVoice(1800, 16_000), silence(300, 16_000));
  const [word, ...others] = wordsIn(pcm, 16_000);

  assert.deepEqual(others, []);
  assert.equal(word?.isHuman, true);
  assert.match(word?.text ?? "", /^\[speech, 1\.[789] s\]$/);
});

test("silence, a click and a steady hum say nothing", () => {
  const click = silence(200, 8000);
  click.fill(20_000, 800, 840);
  const hum = Int16Array.from({ length: 16_000 }, (_, n) => 300 * Math.sin(n / 10));

  assert.deepEqual(wordsIn(silence(1000, 8000), 8000), []);
  assert.deepEqual(wordsIn(click, 8000), []);
  assert.deepEqual(wordsIn(hum, 8000), []);
});

test("pauses are reported as they grow, and speech after a pause as a new start", () => {
  const starts: number[] = [];
  let longestMs = 0;
  const decoder = new ToneDecoder(8000, {
    onWord: () => undefined,
    onSpeechStarted: (atMs) => starts.push(atMs),
    onQuiet: (quietMs) => {
      longestMs = Math.max(longestMs, quietMs);
    },
  });
  decoder.write(join(silence(200, 8000), encodeSpeech("a", 8000), silence(500, 8000)));
  decoder.write(encodeSpeech("b", 8000));

  assert.deepEqual(starts, [200, 820]);
  assert.equal(longestMs, 500);
});

test("a rate that is no multiple of 8 kHz is refused", () => {
  assert.throws(() => new ToneDecoder(22_050, { onWord: () => undefined }), RangeError);
});
