import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import {
  MP3,
  MULAW_8K,
  PCM_8K,
  PCM_16K,
  PCM_24K,
  type RawFormat,
} from "../../../engine/audio/audio-format.js";
import { phoneAudio, WEB_AUDIO, webStreamAudio } from "../../../engine/conversation/leg-audio.js";
import type { SpeechFormat, TextToSpeech } from "../../../engine/vendors/contracts.js";
import { queueTrial } from "../audio/queue-trial.js";

const ALAW_8K: RawFormat = { encoding: "alaw", sampleRateHz: 8_000 };

function voiceOf(...formats: readonly SpeechFormat[]): TextToSpeech {
  return { formats, synthesize: () => Promise.resolve(), warm: () => undefined };
}

const noPool = () => assert.fail("nothing is converted");

test("STT gets µ-law as a telephone sends it, and everything else as samples of the line's rate", () => {
  const heard = (line: RawFormat) => phoneAudio(line, noPool).input;
  assert.deepEqual(heard(MULAW_8K), MULAW_8K);
  assert.deepEqual(heard(ALAW_8K), { encoding: "pcm16", sampleRateHz: 8_000 });
  assert.deepEqual(heard({ encoding: "pcm16be", sampleRateHz: 16_000 }), PCM_16K);
  assert.deepEqual([WEB_AUDIO.input, webStreamAudio(PCM_24K, noPool).input], [PCM_16K, PCM_16K]);
});

test("TTS is asked for the line's format, or otherwise for its best", () => {
  const all = voiceOf(MP3, MULAW_8K, PCM_24K);
  const asked = (line: RawFormat, voice: TextToSpeech, as?: SpeechFormat) => {
    const { name, request, isStreamed } = phoneAudio(line, noPool).sentenceFormat(voice, as);
    return [name, request, isStreamed];
  };
  assert.deepEqual(asked(MULAW_8K, all), ["mulaw/8000", MULAW_8K, true]);
  assert.deepEqual(asked(ALAW_8K, all), ["alaw/8000", PCM_24K, true]);
  assert.deepEqual(asked(ALAW_8K, voiceOf(MP3)), ["alaw/8000", MP3, true]);
  assert.deepEqual(asked(PCM_8K, all), ["pcm16/8000", MULAW_8K, true]);
  assert.deepEqual(asked(PCM_8K, voiceOf(MP3, PCM_24K)), ["pcm16/8000", PCM_24K, true]);
  assert.deepEqual(asked(MULAW_8K, all, PCM_24K), ["pcm16/24000", PCM_24K, true]);
  assert.deepEqual(asked(MULAW_8K, all, MP3), ["mulaw/8000", MULAW_8K, true]);
  const web = webStreamAudio(PCM_16K, noPool).sentenceFormat(all);
  assert.deepEqual([web.name, web.request], ["pcm16/16000", PCM_24K]);
  const { name, request, isStreamed } = WEB_AUDIO.sentenceFormat(all);
  assert.deepEqual([name, request, isStreamed], ["mp3", MP3, false]);
});

test("what the line takes passes as it comes, in whole samples", async () => {
  for (const [line, pieces] of [
    [
      MULAW_8K,
      [
        [[1, 2, 3], 0.375],
        [[4], 0.125],
      ],
    ],
    [
      PCM_24K,
      [
        [[1, 2], 2 / 48],
        [[3, 4], 2 / 48],
      ],
    ],
  ] as const) {
    const told: unknown[] = [];
    const format = phoneAudio(line, noPool).sentenceFormat(voiceOf(line));
    const onPiece = (audio: Uint8Array, durationMs: number) => told.push([[...audio], durationMs]);
    const sentence = format.open(
      { onPiece, onBroken: assert.ifError },
      new AbortController().signal,
    );
    sentence.write(Uint8Array.of(1, 2, 3));
    sentence.write(Uint8Array.of(4));
    await sentence.end();
    assert.deepEqual(told, pieces);
  }
});

test("a telephone's 16-bit samples are µ-law of TTS that is decoded without the pool", async () => {
  const told: unknown[] = [];
  const big = { encoding: "pcm16be", sampleRateHz: 8_000 } as const;
  for (const line of [PCM_8K, big]) {
    const format = phoneAudio(line, noPool).sentenceFormat(voiceOf(MP3, MULAW_8K, PCM_24K));
    const onPiece = (audio: Uint8Array, durationMs: number) => told.push([[...audio], durationMs]);
    const { signal } = new AbortController();
    const sentence = format.open({ onPiece, onBroken: assert.ifError }, signal);
    sentence.write(Uint8Array.of(0xff, 0x80));
    await sentence.end();
  }
  assert.deepEqual(told, [
    [[0, 0, 0x7c, 0x7d], 0.25],
    [[0, 0, 0x7d, 0x7c], 0.25],
  ]);
});

/** A sentence that has to be converted, and its events. */
function converted() {
  const trial = queueTrial();
  const ending = new AbortController();
  const told: unknown[] = [];
  const format = phoneAudio(ALAW_8K, () => trial.queue).sentenceFormat(voiceOf(PCM_24K));
  const sentence = format.open(
    {
      onPiece: (audio, durationMs) => told.push([audio.length, durationMs]),
      onBroken: (error) => told.push(error),
    },
    ending.signal,
  );
  const listeners = () => getEventListeners(ending.signal, "abort").length;
  return { ...trial, ending, told, sentence, listeners };
}

test("what the line does not take is converted piece by piece, and leaves nothing at its signal", async () => {
  const { sentence, echo, told, listeners } = converted();
  assert.equal(listeners(), 1);
  sentence.write(new Uint8Array(80));
  const ended = sentence.end();
  await echo();
  await echo();
  await ended;
  assert.deepEqual([told, listeners()], [[[80, 10]], 0]);
});

test("a conversion that fails is reported, and no longer awaited", async () => {
  const { sentence, tasks, told, listeners } = converted();
  sentence.write(new Uint8Array(80));
  const ended = sentence.end();
  tasks[0]?.finish([{ error: "no sound" }]);
  await ended;
  assert.deepEqual([told, listeners()], [[new Error("no sound")], 0]);
});

test("an aborted sentence is no longer converted", async () => {
  const { sentence, queue, ending, echo, told, listeners } = converted();
  sentence.write(new Uint8Array(80));
  sentence.write(new Uint8Array(80));
  const ended = sentence.end();
  ending.abort();
  await ended;
  assert.equal(queue.length, 0);
  await echo();
  assert.deepEqual([told, listeners()], [[], 0]);
});
