import assert from "node:assert/strict";
import { test } from "node:test";
import { MP3, MULAW_8K, PCM_24K } from "../../../engine/audio/audio-format.js";
import {
  AudioPoolClosedError,
  AudioPoolOverloadedError,
} from "../../../engine/audio/conversion-queue.js";
import { queueTrial } from "./queue-trial.js";

const BACKGROUND_STEPS_WAITING_MAX = 5_000;
const BATCH_DEADLINE_MS = 10_000;
const STEPS_WAITING_MAX = 1_000;

test("what comes while the thread is busy goes to it as one batch, and only the first step opens", async () => {
  const { open, echo, sizes, tasks } = queueTrial();
  const [one, two] = [open(), open()];
  one.conversion.write(Uint8Array.of(1));
  two.conversion.write(Uint8Array.of(2));
  one.conversion.write(Uint8Array.of(3));
  one.conversion.end();
  assert.deepEqual(sizes(), [1]);
  await echo();
  assert.deepEqual(sizes(), [1, 3]);
  await echo();
  assert.deepEqual([one.told, two.told], [["1", "3", "end"], ["2"]]);
  const opens = tasks.flatMap(({ batch }) => batch.steps.map((step) => step.opens !== undefined));
  assert.deepEqual(opens, [true, true, false, false]);
});

test("a batch is 64 KiB of samples, or an eighth of that of MP3, and at least one step", async () => {
  for (const [from, stepBytes, steps] of [
    [PCM_24K, 16 * 1024, 4],
    [PCM_24K, 16 * 1024 - 1, 4],
    [MP3, 8 * 1024, 1],
    [MP3, 2 * 1024, 4],
    [MP3, 2 * 1024 + 1, 3],
    [MP3, 16 * 1024, 1],
  ] as const) {
    const { queue, echo, sizes } = queueTrial();
    const ignore = () => undefined;
    const listener = { onAudio: ignore, onEnd: ignore, onFailed: ignore };
    const conversion = queue.open({ from, to: MULAW_8K }, "speech", listener);
    conversion.write(Uint8Array.of(1));
    for (let n = 0; n < 6; n += 1) conversion.write(new Uint8Array(stepBytes));
    await echo();
    assert.deepEqual(sizes(), [1, steps], `${from.encoding} ${stepBytes}`);
  }
});

test("the background goes when no speech waits, a step at a time", async () => {
  const { open, echo, tasks } = queueTrial();
  const [recording, other] = [open("background"), open("background")];
  const spoken = open();
  recording.conversion.write(Uint8Array.of(1));
  other.conversion.write(Uint8Array.of(2));
  recording.conversion.write(Uint8Array.of(3));
  spoken.conversion.write(Uint8Array.of(4));
  for (let round = 0; round < 4; round += 1) await echo();
  const order = tasks.map(({ batch }) => batch.steps.map(({ bytes }) => bytes[0]));
  assert.deepEqual(order, [[1], [4], [2], [3]]);
});

test("a sentence that has not sounded yet goes before the pieces of those that have", async () => {
  const { open, echo, tasks } = queueTrial();
  const [playing, other] = [open(), open()];
  playing.conversion.write(Uint8Array.of(1));
  await echo();
  other.conversion.write(Uint8Array.of(2));
  playing.conversion.write(Uint8Array.of(3));
  playing.conversion.write(Uint8Array.of(4));
  const waiting = open();
  waiting.conversion.write(Uint8Array.of(5));
  waiting.conversion.write(Uint8Array.of(6));
  await echo();
  const order = tasks.map(({ batch }) => batch.steps.map(({ bytes }) => bytes[0]));
  assert.deepEqual(order, [[1], [2], [5, 6, 3, 4]]);
});

test("a batch holds the thread for no longer with MP3 than with samples", async () => {
  const { open, echo, sizes } = queueTrial();
  open().conversion.write(Uint8Array.of(0));
  const piece = new Uint8Array(600);
  for (let sentence = 0; sentence < 40; sentence += 1) open().conversion.write(piece);
  await echo();
  await echo();
  assert.deepEqual(sizes().slice(0, 3), [1, 13, 13]);
});

test("a large piece of audio is split into steps that occupy the thread for a moment each", async () => {
  const { open, echo, tasks } = queueTrial();
  open().conversion.write(new Uint8Array(40_000));
  for (let n = 0; n < 3; n += 1) await echo();
  const sizes = tasks.map(({ batch }) => batch.steps.map(({ bytes }) => bytes.length));
  assert.deepEqual(sizes, [[16_384], [16_384], [7_232]]);
});

for (const [priority, stepsMax] of [
  ["speech", STEPS_WAITING_MAX],
  ["background", BACKGROUND_STEPS_WAITING_MAX],
] as const) {
  test(`a full queue of ${priority} refuses a sentence, and takes the next when there is room`, async () => {
    const { open, echo } = queueTrial();
    const many = open(priority);
    for (let count = 0; count <= stepsMax; count += 1) many.conversion.write(Uint8Array.of(1));
    const refused = open(priority);
    refused.conversion.write(Uint8Array.of(2));
    assert.ok(refused.errors[0] instanceof AudioPoolOverloadedError);
    refused.conversion.write(Uint8Array.of(2));
    assert.equal(refused.errors.length, 1, "it is told once");
    await echo();
    const taken = open(priority);
    taken.conversion.write(Uint8Array.of(3));
    assert.deepEqual(taken.errors, []);
  });
}

test("a cancelled sentence reports nothing more, and the thread drops it", async () => {
  const { open, echo, tasks, queue } = queueTrial();
  const dropped = open();
  dropped.conversion.write(Uint8Array.of(1));
  dropped.conversion.write(Uint8Array.of(2));
  dropped.conversion.drop();
  assert.equal(queue.length, 0);
  open().conversion.write(Uint8Array.of(3));
  await echo();
  assert.deepEqual(dropped.told, []);
  const ids = tasks.map(({ batch }) => batch.steps.map(({ id }) => id));
  assert.deepEqual(tasks[1]?.batch.dropped, ids[0]);
  await echo();
  open().conversion.write(Uint8Array.of(4));
  assert.deepEqual(tasks[2]?.batch.dropped, [], "it is told once");
});

test("a sentence that cannot be converted fails alone", async () => {
  const { open, tasks } = queueTrial();
  const [broken, whole] = [open(), open()];
  broken.conversion.write(Uint8Array.of(1));
  whole.conversion.write(Uint8Array.of(2));
  tasks[0]?.finish([{ error: "no MP3" }]);
  await new Promise(setImmediate);
  tasks[1]?.finish([Uint8Array.of(2)]);
  await new Promise(setImmediate);
  assert.deepEqual(
    broken.errors.map(({ message }) => message),
    ["no MP3"],
  );
  assert.deepEqual([whole.told, whole.errors], [["2"], []]);
});

test("with the thread all its started sentences are lost and reported, and the next ones start fresh", async () => {
  const { open, tasks, lost, echo } = queueTrial();
  const [one, two, recording] = [open(), open(), open("background")];
  one.conversion.write(Uint8Array.of(1));
  two.conversion.write(Uint8Array.of(2));
  recording.conversion.write(Uint8Array.of(9));
  tasks[0]?.fail(new Error("exit code 3"));
  await new Promise(setImmediate);
  const errors = [one, two, recording].map((each) => each.errors.length);
  assert.deepEqual([lost.length, errors, tasks.length], [1, [1, 1, 1], 1]);
  const next = open();
  next.conversion.write(Uint8Array.of(3));
  await echo();
  assert.deepEqual(next.told, ["3"]);
});

test("a thread that hangs is terminated", () => {
  const { clock, open, tasks } = queueTrial();
  open().conversion.write(Uint8Array.of(1));
  clock.advance(BATCH_DEADLINE_MS - 1);
  assert.equal(tasks[0]?.signal.aborted, false);
  clock.advance(1);
  assert.equal(tasks[0]?.signal.aborted, true);
});

test("closing fails all that is under way, and all that comes later", () => {
  const { open, queue } = queueTrial();
  const begun = open();
  begun.conversion.write(Uint8Array.of(1));
  queue.close();
  const late = open();
  late.conversion.write(Uint8Array.of(2));
  for (const { errors } of [begun, late]) assert.ok(errors[0] instanceof AudioPoolClosedError);
  assert.equal(queue.length, 0);
  const unasked = open();
  queue.close();
  assert.deepEqual(unasked.errors, []);
});

test("how long speech waits is known, of what has come through and of the oldest that has not", async () => {
  const { clock, queue, open, echo } = queueTrial();
  assert.deepEqual([queue.oldestWaitMs, queue.length], [0, 0]);
  open().conversion.write(Uint8Array.of(1));
  clock.advance(5);
  open("background").conversion.write(Uint8Array.of(2));
  clock.advance(30);
  open().conversion.write(Uint8Array.of(3));
  clock.advance(7);
  open().conversion.write(Uint8Array.of(4));
  assert.deepEqual([queue.oldestWaitMs, queue.length], [7, 2]);
  await echo();
  assert.equal(queue.waits.lastMs, 42);
});

test("organizations take turns, however many steps one has waiting", async () => {
  for (const priority of ["speech", "background"] as const) {
    const { open, echo, tasks } = queueTrial();
    const greedy = open(priority, "greedy");
    for (let n = 0; n < 4; n += 1) greedy.conversion.write(Uint8Array.of(1));
    open(priority, "quiet").conversion.write(Uint8Array.of(2));
    for (let round = 0; round < 5; round += 1) await echo();
    const order = tasks.flatMap(({ batch }) => batch.steps.map(({ bytes }) => bytes[0]));
    assert.ok(order.indexOf(2) <= 2, `${priority}: ${order.join()}`);
    assert.equal(order.length, 5);
  }
});

test("where the queue is full, the organization that fills it gives way to one that has less", async () => {
  const { open } = queueTrial();
  const sentences = Array.from({ length: STEPS_WAITING_MAX + 1 }, () => open("speech", "greedy"));
  for (const { conversion } of sentences) conversion.write(Uint8Array.of(1));
  const quiet = open("speech", "quiet");
  quiet.conversion.write(Uint8Array.of(2));
  assert.deepEqual(quiet.errors, []);
  const lost = sentences.filter(({ errors }) => errors.length > 0);
  assert.equal(lost.length, 1);
  assert.equal(sentences.indexOf(lost[0] ?? quiet), STEPS_WAITING_MAX, "its newest");
  const more = open("speech", "greedy");
  more.conversion.write(Uint8Array.of(1));
  assert.ok(more.errors[0] instanceof AudioPoolOverloadedError);
});
