import assert from "node:assert/strict";
import { test } from "node:test";
import { MP3, PCM_8K } from "../../../engine/audio/audio-format.js";
import { decodePcm } from "../../../engine/audio/sample-coding.js";
import { type RecordedFormat, Recording } from "../../../engine/calls/recording/recording.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const FORMAT: RecordedFormat = { input: PCM_8K, speech: MP3, isPaced: false };
const SAMPLES_PER_MS = 8;
const FRAME_MS = 24;

/** This many frames of MP3 at 24 kHz; their content does not matter here. */
function sentence(frames: number): Uint8Array {
  const frame = Buffer.alloc(144);
  frame.set([0xff, 0xf3, 0x64, 0xc4]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}

/** A browser's call, whose sentences a test decodes in its own time. */
function newRecording() {
  const clock = new VirtualClock();
  const story: string[] = [];
  const agent: number[] = [];
  const decodings: Decoding[] = [];
  const write = (block: Uint8Array) => {
    for (const [index, sample] of decodePcm(block, true).entries()) {
      if (index % 2 === 1) agent.push(sample);
    }
    return true;
  };
  const deps = {
    clock,
    decodeMp3: () => {
      const decoding = newDecoding();
      decodings.push(decoding);
      return decoding.promise;
    },
    openConversion: () => assert.fail("there is no streamed voice here"),
    onBroken: (reason: string) => story.push(`broken: ${reason}`),
    onSentenceDropped: (error: unknown) => story.push(`lost: ${String(error)}`),
    onComplete: () => story.push("whole"),
  };
  const recording = new Recording(FORMAT, { write }, deps);
  /** The agent's sound as runs of equal samples: from which ms, for how long, how loud. */
  const heard = () => {
    const runs: { atMs: number; forMs: number; loudness: number }[] = [];
    for (const [index, loudness] of agent.entries()) {
      const last = runs.at(-1);
      if (loudness === 0) continue;
      if (last?.loudness === loudness) last.forMs += 1 / SAMPLES_PER_MS;
      else runs.push({ atMs: index / SAMPLES_PER_MS, forMs: 1 / SAMPLES_PER_MS, loudness });
    }
    return runs;
  };
  return { clock, story, recording, decodings, heard };
}

interface Decoding {
  readonly promise: Promise<Int16Array>;
  readonly resolve: (pcm: Int16Array) => void;
  readonly reject: (error: Error) => void;
}

function newDecoding(): Decoding {
  let [resolve, reject]: [(pcm: Int16Array) => void, (error: Error) => void] = [() => {}, () => {}];
  const promise = new Promise<Int16Array>((onDone, onFailed) => {
    [resolve, reject] = [onDone, onFailed];
  });
  return { promise, resolve, reject };
}

/** All of the sentence, equally loud. */
function sound(frames: number, loudness: number): Int16Array {
  return new Int16Array(frames * FRAME_MS * SAMPLES_PER_MS).fill(loudness);
}

test("sentences follow one another as long as they are, however late and in whichever order they are decoded", async () => {
  const { clock, story, recording, decodings, heard } = newRecording();
  clock.advance(1_000);
  recording.agent(sentence(10));
  recording.agent(sentence(5));
  decodings[1]?.resolve(sound(5, 2));
  clock.advance(1_000);
  recording.end();
  assert.deepEqual(story, [], "it waits for the sentence that is still decoded");
  decodings[0]?.resolve(sound(10, 1));
  await new Promise(setImmediate);
  assert.deepEqual(story, ["whole"]);
  assert.deepEqual(heard(), [
    { atMs: 1_000, forMs: 240, loudness: 1 },
    { atMs: 1_240, forMs: 120, loudness: 2 },
  ]);
});

test("a sentence that is decoded after it was interrupted is cut where it was", async () => {
  const { clock, recording, decodings, heard } = newRecording();
  clock.advance(1_000);
  recording.agent(sentence(50));
  recording.agent(sentence(50));
  clock.advance(400);
  recording.agentCut();
  decodings[0]?.resolve(sound(50, 1));
  decodings[1]?.resolve(sound(50, 2));
  clock.advance(500);
  recording.agent(sentence(5));
  decodings[2]?.resolve(sound(5, 3));
  clock.advance(1_000);
  recording.end();
  await new Promise(setImmediate);
  assert.deepEqual(heard(), [
    { atMs: 1_000, forMs: 400, loudness: 1 },
    { atMs: 1_900, forMs: 120, loudness: 3 },
  ]);
});

test("a sentence that cannot be decoded is missing, and later ones are at their positions", async () => {
  const { clock, story, recording, decodings, heard } = newRecording();
  recording.agent(sentence(10));
  recording.agent(sentence(10));
  decodings[0]?.reject(new Error("no MP3"));
  decodings[1]?.resolve(sound(10, 2));
  clock.advance(300);
  recording.end();
  await new Promise(setImmediate);
  assert.deepEqual(story, ["lost: Error: no MP3", "whole"]);
  assert.deepEqual(heard(), [{ atMs: 240, forMs: 60, loudness: 2 }]);
});

test("a call that has ended is as long as it was then, however late its last sentence is decoded", async () => {
  const { clock, recording, decodings, story, heard } = newRecording();
  recording.agent(sentence(50));
  clock.advance(600);
  recording.end();
  clock.advance(600);
  recording.end();
  decodings[0]?.resolve(sound(50, 1));
  await new Promise(setImmediate);
  assert.deepEqual([story, heard()], [["whole"], [{ atMs: 0, forMs: 600, loudness: 1 }]]);
});

test("a sentence that is sent whole is heard when it comes, however little it is late", async () => {
  const { clock, recording, decodings, heard } = newRecording();
  recording.agent(sentence(10));
  clock.advance(341);
  recording.agent(sentence(10));
  decodings[0]?.resolve(sound(10, 1));
  decodings[1]?.resolve(sound(10, 2));
  clock.advance(1_000);
  recording.end();
  await new Promise(setImmediate);
  assert.deepEqual(heard(), [
    { atMs: 0, forMs: 240, loudness: 1 },
    { atMs: 341, forMs: 240, loudness: 2 },
  ]);
});
