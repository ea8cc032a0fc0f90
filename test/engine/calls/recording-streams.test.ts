import assert from "node:assert/strict";
import { test } from "node:test";
import { MULAW_8K, PCM_8K, PCM_16K, PCM_24K } from "../../../engine/audio/audio-format.js";
import type { ConversionListener } from "../../../engine/audio/conversion-queue.js";
import { decodePcm } from "../../../engine/audio/sample-coding.js";
import { type RecordedFormat, Recording } from "../../../engine/calls/recording/recording.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

/** A browser's call, streamed at 24 kHz and recorded at 8, so that three samples become one. */
const FORMAT: RecordedFormat = { input: PCM_8K, speech: PCM_24K, isPaced: false };
const RATIO = 3;
const SAMPLES_PER_MS = 8;

/** Makes of each three samples one, when the test says so. */
class ThirdConversion {
  readonly listener: ConversionListener;
  isEnded = false;
  #waiting: Int16Array[] = [];

  constructor(listener: ConversionListener) {
    this.listener = listener;
  }

  write(bytes: Uint8Array): void {
    this.#waiting.push(decodePcm(bytes, true).filter((_, index) => index % RATIO === 0));
  }

  end(): void {
    this.isEnded = true;
  }

  drop(): void {}

  fail(): void {
    this.#waiting = [];
    this.listener.onFailed(new Error("the thread is gone"));
  }

  convert(): void {
    for (const pcm of this.#waiting) this.listener.onAudio(new Uint8Array(pcm.buffer));
    this.#waiting = [];
    if (this.isEnded) this.listener.onEnd();
  }
}

function newRecording(format = FORMAT) {
  const clock = new VirtualClock();
  const story: string[] = [];
  const conversions: ThirdConversion[] = [];
  const blocks: Int16Array[] = [];
  const write = (block: Uint8Array) => {
    blocks.push(decodePcm(block, true));
    return true;
  };
  const recording = new Recording(
    format,
    { write },
    {
      clock,
      decodeMp3: () => Promise.reject(new Error("there is no MP3 here")),
      openConversion: (from, listener) => {
        story.push(`from ${from.sampleRateHz} Hz`);
        const conversion = new ThirdConversion(listener);
        conversions.push(conversion);
        return conversion;
      },
      onBroken: (reason) => story.push(`broken: ${reason}`),
      onSentenceDropped: () => story.push("lost"),
      onComplete: () => story.push("whole"),
    },
  );
  const convertAll = () => {
    for (const conversion of conversions) conversion.convert();
  };
  /** Where the agent is loud, as `from-to` in ms. */
  const loud = (): string[] => {
    const agent = blocks.flatMap((block) =>
      Array.from(block).filter((_, index) => index % 2 === 1),
    );
    const edges = agent.flatMap((sample, at) => {
      const before = agent[at - 1] ?? 0;
      return (sample !== 0) === (before !== 0) ? [] : [at / SAMPLES_PER_MS];
    });
    if ((agent.at(-1) ?? 0) !== 0) edges.push(agent.length / SAMPLES_PER_MS);
    return edges.flatMap((from, index) => (index % 2 === 0 ? [`${from}-${edges[index + 1]}`] : []));
  };
  return { clock, recording, story, conversions, convertAll, loud };
}

const soundOf = (durationMs: number) =>
  new Uint8Array(new Int16Array(durationMs * SAMPLES_PER_MS * RATIO).fill(1_000).buffer);

test("pieces that arrive faster than real time are placed one after the other", () => {
  const { clock, recording, conversions, convertAll, loud } = newRecording();
  clock.advance(500);
  for (let piece = 0; piece < 10; piece += 1) {
    recording.agent(soundOf(100));
    clock.advance(25);
  }
  convertAll();
  clock.advance(2_000);
  recording.end();
  convertAll();
  assert.equal(conversions.length, 1);
  assert.deepEqual(loud(), ["500-1500"]);
});

test("a piece that is a little late follows without a gap, one that is very late with one", () => {
  const { clock, recording, conversions, convertAll, loud } = newRecording();
  clock.advance(500);
  recording.agent(soundOf(100));
  clock.advance(250);
  recording.agent(soundOf(100));
  clock.advance(350);
  recording.agent(soundOf(100));
  clock.advance(1_000);
  recording.end();
  convertAll();
  assert.equal(conversions.length, 2);
  assert.deepEqual(loud(), ["500-700", "1100-1200"]);
});

test("what is converted after a cut is cut all the same", () => {
  const { clock, recording, story, convertAll, loud } = newRecording();
  recording.agent(soundOf(1_000));
  clock.advance(300);
  recording.agentCut();
  clock.advance(400);
  recording.agent(soundOf(1_000));
  clock.advance(100);
  recording.end();
  assert.deepEqual(
    story,
    ["from 24000 Hz", "from 24000 Hz"],
    "it is not whole before it is converted",
  );
  convertAll();
  assert.equal(story.at(-1), "whole");
  assert.deepEqual(loud(), ["0-300", "700-800"]);
});

test("a conversion that fails is missing, and what comes next is not", () => {
  const { clock, recording, story, conversions, convertAll, loud } = newRecording();
  recording.agent(soundOf(100));
  conversions[0]?.fail();
  recording.agent(soundOf(100));
  clock.advance(1_000);
  recording.end();
  convertAll();
  assert.deepEqual(story, ["from 24000 Hz", "lost", "from 24000 Hz", "whole"]);
  assert.deepEqual(loud(), ["100-200"]);
});

test("speech that is at the recording's rate is not converted; µ-law of a browser is", () => {
  const plain = newRecording({ ...FORMAT, input: PCM_16K, speech: PCM_16K });
  plain.recording.agent(soundOf(100));
  plain.recording.end();
  assert.deepEqual(plain.story, ["whole"]);
  const mulaw = newRecording({ ...FORMAT, input: PCM_16K, speech: MULAW_8K });
  mulaw.recording.agent(new Uint8Array(800));
  assert.deepEqual(mulaw.story, ["from 8000 Hz"]);
});

test("a browser hides 200 ms with its buffer, and not one more", () => {
  for (const [lateMs, places] of [
    [200, ["0-200"]],
    [201, ["0-100", "301-401"]],
  ] as const) {
    const { clock, recording, convertAll, loud } = newRecording();
    recording.agent(soundOf(100));
    clock.advance(100 + lateMs);
    recording.agent(soundOf(100));
    clock.advance(1_000);
    recording.end();
    convertAll();
    assert.deepEqual(loud(), places);
  }
});

test("a recording is whole once, also where its last conversion ends at once", () => {
  const { clock, recording, conversions, story } = newRecording();
  recording.agent(soundOf(100));
  const [conversion] = conversions;
  assert.ok(conversion);
  conversion.end = () => conversion.listener.onEnd();
  clock.advance(1_000);
  recording.end();
  assert.deepEqual(story, ["from 24000 Hz", "whole"]);
});
