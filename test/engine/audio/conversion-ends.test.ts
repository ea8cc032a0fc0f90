import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConversionQueue } from "../../../engine/audio/conversion-queue.js";
import { collectGarbage } from "../../doubles/garbage.js";
import { FORMAT, queueTrial } from "./queue-trial.js";

test("after its end a sentence accepts nothing and reports nothing", async () => {
  const { queue, open, echo, sizes } = queueTrial();
  const { conversion, told, errors } = open();
  conversion.write(new Uint8Array(0));
  assert.deepEqual(sizes(), []);
  conversion.end();
  await echo();
  conversion.write(Uint8Array.of(1));
  conversion.end();
  conversion.drop();
  queue.close();
  assert.deepEqual([told, errors, sizes()], [["end"], [], [1]]);
});

test("a listener that cancels a sentence at its last audio is not notified of its end", async () => {
  const { queue, tasks } = queueTrial();
  const told: string[] = [];
  const conversion = queue.open(FORMAT, "speech", {
    onAudio: () => {
      told.push("audio");
      conversion.drop();
    },
    onEnd: () => told.push("end"),
    onFailed: () => told.push("failed"),
  });
  conversion.end();
  tasks[0]?.finish([Uint8Array.of(1)]);
  await new Promise(setImmediate);
  assert.deepEqual(told, ["audio"]);
});

test("an answer without sound is none, and its sentence still goes before those that have sounded", async () => {
  const { open, echo, tasks } = queueTrial();
  const [silent, sounding, busy] = [open(), open(), open()];
  silent.conversion.write(Uint8Array.of(1));
  sounding.conversion.write(Uint8Array.of(2));
  tasks[0]?.finish([new Uint8Array(0)]);
  await new Promise(setImmediate);
  await echo();
  busy.conversion.write(Uint8Array.of(3));
  sounding.conversion.write(Uint8Array.of(4));
  silent.conversion.write(Uint8Array.of(5));
  await echo();
  assert.deepEqual(
    tasks.map(({ batch }) => batch.steps.map(({ bytes }) => bytes[0])),
    [[1], [2], [3], [5, 4]],
  );
  assert.deepEqual(silent.told, []);
});

test("a step that the thread skips fails, and a loss after the end has no effect", async () => {
  const { open, tasks, queue, lost } = queueTrial();
  const forgotten = open();
  forgotten.conversion.write(Uint8Array.of(1));
  tasks[0]?.finish([]);
  await new Promise(setImmediate);
  assert.match(forgotten.errors[0]?.message ?? "", /did not respond/);
  open().conversion.write(Uint8Array.of(2));
  queue.close();
  tasks[1]?.fail(new Error("the thread has ended"));
  await new Promise(setImmediate);
  assert.deepEqual(lost, []);
});

test("a new thread gets no cancellation for the lost one's sentences, and no deadline remains", async () => {
  const { clock, open, tasks, echo } = queueTrial();
  const [one, other] = [open(), open()];
  one.conversion.write(Uint8Array.of(1));
  other.conversion.write(Uint8Array.of(2));
  one.conversion.drop();
  one.conversion.drop();
  tasks[0]?.fail(new Error("exit code 3"));
  await new Promise(setImmediate);
  open().conversion.write(Uint8Array.of(3));
  assert.deepEqual(tasks[1]?.batch.dropped, []);
  await echo();
  assert.equal(clock.pendingTimerCount, 0);
  open().conversion.write(Uint8Array.of(4));
  const ids = tasks.flatMap(({ batch }) => batch.steps.map(({ id }) => id));
  assert.equal(new Set(ids).size, ids.length);
});

test("a listener that cancels a sentence at its end leaves nothing to be dropped", async () => {
  const { queue, open, echo, tasks } = queueTrial();
  const ended = queue.open(FORMAT, "speech", {
    onAudio: () => undefined,
    onEnd: () => ended.drop(),
    onFailed: assert.ifError,
  });
  ended.end();
  await echo();
  open().conversion.write(Uint8Array.of(1));
  assert.deepEqual(tasks[1]?.batch.dropped, []);
});

test("a sentence that is cancelled during a failure is not notified of the failure", () => {
  const { queue, open } = queueTrial();
  const failed: string[] = [];
  queue.open(FORMAT, "speech", {
    onAudio: () => undefined,
    onEnd: () => undefined,
    onFailed: () => {
      failed.push("one");
      other.conversion.drop();
    },
  });
  const other = open();
  queue.close();
  assert.deepEqual([failed, other.errors], [["one"], []]);
});

/** Not inlined, so that nothing of it stays on the stack. */
async function endedListener(
  queue: ConversionQueue,
  echo: () => Promise<void>,
): Promise<WeakRef<object>> {
  const listener = { onAudio: () => undefined, onEnd: () => undefined, onFailed: assert.ifError };
  queue.open(FORMAT, "speech", listener).end();
  await echo();
  return new WeakRef(listener);
}

test("a finished sentence is referenced nowhere", async () => {
  const { queue, echo, tasks } = queueTrial();
  const listener = await endedListener(queue, echo);
  tasks.length = 0;
  await collectGarbage();
  assert.equal(listener.deref(), undefined);
});
