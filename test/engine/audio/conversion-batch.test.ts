import assert from "node:assert/strict";
import { test } from "node:test";
import { PCM_8K, PCM_24K } from "../../../engine/audio/audio-format.js";
import { convert, forget, warmUp } from "../../../engine/audio/audio-worker.js";
import {
  type ConversionResult,
  type ConversionStep,
  OpenConversions,
} from "../../../engine/audio/conversion-batch.js";

const FORMATS = { from: PCM_8K, to: PCM_8K };

function begin(id: number, value: number): ConversionStep {
  return { id, opens: FORMATS, bytes: Uint8Array.of(value, 0), isLast: false };
}

function next(id: number, value: number): ConversionStep {
  return { id, opens: undefined, bytes: Uint8Array.of(value, 0), isLast: false };
}

function last(id: number): ConversionStep {
  return { id, opens: undefined, bytes: new Uint8Array(0), isLast: true };
}

/** The first byte of each answer, or the error. */
const told = (results: readonly ConversionResult[]) =>
  results.map((result) => (result instanceof Uint8Array ? (result[0] ?? "none") : result.error));

const LOST = "the sentence was lost with its thread";

test("steps of several sentences are answered in their order, each sentence up to its last step", async () => {
  const open = new OpenConversions();
  const steps = [begin(1, 10), begin(2, 20), next(1, 11)];
  assert.deepEqual(told(await open.convert({ steps, dropped: [] })), [10, 20, 11]);
  const rest = [last(1), next(2, 21), next(1, 12)];
  assert.deepEqual(told(await open.convert({ steps: rest, dropped: [] })), ["none", 21, LOST]);
});

test("cancelled sentences are dropped before the steps run, and at the end all of them", async () => {
  const open = new OpenConversions();
  await open.convert({ steps: [begin(1, 10), begin(2, 20), begin(3, 30)], dropped: [] });
  const steps = [next(1, 11), next(2, 21)];
  assert.deepEqual(told(await open.convert({ steps, dropped: [1, 7] })), [LOST, 21]);
  open.closeAll();
  const after = [next(2, 22), next(3, 32)];
  assert.deepEqual(told(await open.convert({ steps: after, dropped: [] })), [LOST, LOST]);
});

test("a sentence that cannot be converted fails alone, and is forgotten", async () => {
  const open = new OpenConversions();
  const odd = { from: { encoding: "pcm16", sampleRateHz: 8_000.5 }, to: PCM_8K } as const;
  const broken = { ...begin(1, 10), opens: odd };
  const results = await open.convert({
    steps: [broken, begin(2, 20), next(1, 11)],
    dropped: [],
  });
  assert.deepEqual(told(results), ["audio of 8000.5 Hz cannot be converted", 20, LOST]);
});

test("the last step gives what the others still held back", async () => {
  const open = new OpenConversions();
  const bytes = new Uint8Array(4_800).fill(1);
  const steps = [{ id: 1, opens: { from: PCM_24K, to: PCM_8K }, bytes, isLast: false }, last(1)];
  const sizes = (await open.convert({ steps, dropped: [] })).map((result) =>
    result instanceof Uint8Array ? result.byteLength : -1,
  );
  assert.deepEqual(sizes, [1_600 - 48, 48]);
});

test("a thread keeps the sentences of each queue apart, until it is to forget them", async () => {
  const step = async (queueId: number, ...steps: readonly ConversionStep[]) =>
    told(await convert({ queueId, steps, dropped: [] }));
  assert.deepEqual(await step(1, begin(1, 10)), [10]);
  assert.deepEqual(await step(2, begin(1, 20), begin(2, 21)), [20, 21]);
  assert.deepEqual(await step(1, next(1, 11), next(2, 12)), [11, LOST]);
  forget(1);
  forget(3);
  assert.deepEqual(await step(1, next(1, 12)), [LOST]);
  assert.deepEqual(await step(2, next(1, 22)), [22]);
  forget(2);
});

test("a thread is warm when it has decoded two sentences of 1.2 s, which is silence", async () => {
  const heldBack = 24;
  assert.equal(await warmUp(), 2 * (1_200 * 8 - heldBack));
});
