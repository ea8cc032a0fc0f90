import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AudioPoolClosed,
  AudioPoolOverloaded,
  SPEECH_DEADLINE_MS,
  SPEECH_WAITING_MAX,
  SpeechQueue,
} from "../../../engine/audio/speech-queue.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const FORMAT = { from: "mp3", to: "mulaw" } as const;

interface Task {
  readonly name: number | undefined;
  readonly signal: AbortSignal;
  readonly finish: (audio: Uint8Array) => void;
  readonly fail: (error: Error) => void;
}

function queueWithWorkers(runningMax: number) {
  const clock = new VirtualClock();
  const tasks: Task[] = [];
  const queue = new SpeechQueue(
    ({ audio }, signal) =>
      new Promise((finish, fail) => tasks.push({ name: audio[0], signal, finish, fail })),
    clock,
    runningMax,
  );
  const say = (name: number, signal?: AbortSignal) =>
    queue.add({ audio: Uint8Array.of(name), format: FORMAT }, signal);
  const names = () => tasks.map(({ name }) => name);
  return { clock, queue, tasks, say, names };
}

test("sentences go first come, first served, no more at once than there are threads", async () => {
  const { queue, tasks, say, names } = queueWithWorkers(2);
  const [one] = [say(1), say(2), say(3), say(4)];
  assert.deepEqual(names(), [1, 2]);
  assert.equal(queue.length, 2);
  tasks[0]?.finish(Uint8Array.of(10));
  assert.deepEqual(await one, Uint8Array.of(10));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(names(), [1, 2, 3]);
});

test("a full queue refuses, and takes again when one has left", async () => {
  const { tasks, say } = queueWithWorkers(1);
  const first = say(0);
  const leaving = new AbortController();
  const left = assert.rejects(say(1, leaving.signal), { message: "the turn is over" });
  for (let at = 1; at < SPEECH_WAITING_MAX; at += 1) void say(2);
  await assert.rejects(say(3), AudioPoolOverloaded);
  leaving.abort(new Error("the turn is over"));
  await left;
  void say(4);
  tasks[0]?.finish(new Uint8Array());
  await first;
});

test("an aborted sentence is rejected at once; its worker is left alone and its result dropped", async () => {
  const { tasks, say, names } = queueWithWorkers(1);
  const turn = new AbortController();
  const running = assert.rejects(say(1, turn.signal), { message: "the turn is over" });
  const waiting = assert.rejects(say(2, turn.signal), { message: "the turn is over" });
  const next = say(3);
  turn.abort(new Error("the turn is over"));
  await Promise.all([running, waiting]);
  assert.equal(tasks[0]?.signal.aborted, false);
  await assert.rejects(say(5, turn.signal), { message: "the turn is over" });
  tasks[0]?.finish(new Uint8Array());
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(names(), [1, 3]);
  tasks[1]?.finish(Uint8Array.of(3));
  assert.deepEqual(await next, Uint8Array.of(3));
});

test("a sentence that cannot be converted is rejected with the reason, and the next comes", async () => {
  const { tasks, say, names } = queueWithWorkers(1);
  const broken = say(1);
  void say(2);
  tasks[0]?.fail(new Error("no MP3"));
  await assert.rejects(broken, { message: "no MP3" });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(names(), [1, 2]);
});

test("a worker that hangs is given up", () => {
  const { clock, tasks, say } = queueWithWorkers(1);
  void say(1);
  clock.advance(SPEECH_DEADLINE_MS - 1);
  assert.equal(tasks[0]?.signal.aborted, false);
  clock.advance(1);
  assert.equal(tasks[0]?.signal.aborted, true);
});

test("closing rejects all that wait and run, and all that come later", async () => {
  const { queue, say } = queueWithWorkers(1);
  const sentences = [say(1), say(2)];
  queue.close();
  for (const sentence of [...sentences, say(3)]) await assert.rejects(sentence, AudioPoolClosed);
});
