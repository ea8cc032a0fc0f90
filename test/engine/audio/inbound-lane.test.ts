import assert from "node:assert/strict";
import { test } from "node:test";
import { CALLER_AUDIO_WAITING_MAX_MS } from "../../../engine/audio/caller-audio.js";
import { convertBatch } from "../../../engine/audio/inbound-batch.js";
import {
  BATCH_AUDIO_MAX_MS,
  BATCH_DEADLINE_MS,
  BATCH_INTERVAL_MS,
  FAILURE_PAUSE_MS,
  type InboundFault,
  InboundLane,
} from "../../../engine/audio/inbound-lane.js";
import { decodeAlaw, encodeAlaw, encodeMulaw } from "../../../engine/audio/mulaw.js";
import {
  decodePcm,
  decodePhoneAudio,
  encodePcm,
  type PhoneEncoding,
  silenceByte,
} from "../../../engine/audio/phone-encoding.js";
import { newUpsamplerHistory, upsample } from "../../../engine/audio/upsampler.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const FRAME_BYTES = 160;

interface Task {
  readonly batch: Uint8Array;
  readonly signal: AbortSignal;
  finish(): Promise<void>;
  fail(error: Error): Promise<void>;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A lane whose worker does what the test says, when it says so. */
function laneWithWorker() {
  const clock = new VirtualClock(0);
  const tasks: Task[] = [];
  const faults: InboundFault[] = [];
  const lane = new InboundLane(
    (batch, signal) =>
      new Promise((resolve, reject) => {
        const finish = () => {
          resolve(convertBatch(batch));
          return nextTurn();
        };
        const fail = (error: Error) => {
          reject(error);
          return nextTurn();
        };
        tasks.push({ batch, signal, finish, fail });
      }),
    clock,
    (fault) => faults.push(fault),
  );
  const call = (encoding: PhoneEncoding = "mulaw") => {
    const heard: Uint8Array[] = [];
    const stream = lane.open({ encoding, onPcm: (pcm) => heard.push(pcm) });
    return { stream, heard, heardBytes: () => heard.reduce((sum, { length }) => sum + length, 0) };
  };
  const task = (at: number): Task => {
    const found = tasks[at];
    assert.ok(found, `task ${at} was not given to the worker`);
    return found;
  };
  return { clock, lane, tasks, task, faults, call };
}

const FRAME = new Uint8Array(FRAME_BYTES).fill(0xff);

test("an idle box converts a frame in the same turn of the event loop, with all that came in it", async () => {
  const { lane, tasks, task, call } = laneWithWorker();
  const calls = [call(), call(), call()];
  for (const { stream } of calls) stream.push(FRAME);
  await nextTurn();
  assert.equal(tasks.length, 1);
  await task(0).finish();
  for (const { heardBytes } of calls) assert.equal(heardBytes(), 640);
  assert.equal(lane.linesWaiting, 0);
});

test("what arrives while the worker is busy is one task, in order, when it is free", async () => {
  const { clock, tasks, task, call } = laneWithWorker();
  const audio = Uint8Array.from({ length: 5 * FRAME_BYTES }, (_, at) => (at * 37) & 0xff);
  const one = call();
  const two = call();
  one.stream.push(audio.subarray(0, 160));
  await nextTurn();
  for (let at = 1; at < 5; at += 1) {
    one.stream.push(audio.subarray(at * 160, (at + 1) * 160));
    two.stream.push(FRAME);
  }
  await nextTurn();
  assert.equal(tasks.length, 1);
  await task(0).finish();
  clock.advance(BATCH_INTERVAL_MS);
  await nextTurn();
  assert.equal(tasks.length, 2);
  await task(1).finish();
  assert.equal(two.heardBytes(), 4 * 640);
  const whole = laneWithWorker();
  const reference = whole.call();
  reference.stream.push(audio);
  await nextTurn();
  await whole.task(0).finish();
  assert.deepEqual(Buffer.concat(one.heard), Buffer.concat(reference.heard));
});

test("batches start no closer together than the interval", async () => {
  const { clock, tasks, task, call } = laneWithWorker();
  const { stream } = call();
  stream.push(FRAME);
  await nextTurn();
  await task(0).finish();
  stream.push(FRAME);
  await nextTurn();
  assert.equal(tasks.length, 1);
  clock.advance(BATCH_INTERVAL_MS);
  assert.equal(tasks.length, 2);
});

for (const encoding of ["alaw", "l16", "l16be"] as const) {
  test(`${encoding} reaches the recognizer as the leg's own samples, twice as many`, async () => {
    const { task, call } = laneWithWorker();
    const spoken = Int16Array.from({ length: 320 }, (_, at) => 9_000 * Math.sin(at * 0.7));
    const written =
      encoding === "alaw" ? encodeAlaw(spoken) : encodePcm(spoken, encoding === "l16");
    const samples = encoding === "alaw" ? decodeAlaw(written) : spoken;
    const { stream, heard } = call(encoding);
    stream.push(written.subarray(0, 100));
    stream.push(written.subarray(100));
    await nextTurn();
    await task(0).finish();
    const silence =
      decodePhoneAudio(new Uint8Array(2).fill(silenceByte(encoding)), encoding)[0] ?? 0;
    assert.deepEqual(
      decodePcm(Buffer.concat(heard), true),
      upsample(samples, newUpsamplerHistory().fill(silence)),
    );
  });
}

test("half a sample at the end of a frame is left out, and the next frame begins with a whole one", async () => {
  const { task, call } = laneWithWorker();
  const { stream, heardBytes } = call("l16");
  stream.push(new Uint8Array(1));
  stream.push(new Uint8Array(321));
  stream.push(new Uint8Array(0));
  stream.push(new Uint8Array(320));
  await nextTurn();
  await task(0).finish();
  assert.equal(heardBytes(), 2 * 640);
});

test("a call whose audio waits too long loses the oldest, counted; the others lose nothing", async () => {
  const { clock, lane, task, call } = laneWithWorker();
  const flood = call();
  const other = call();
  flood.stream.push(FRAME);
  await nextTurn();
  const framesMax = CALLER_AUDIO_WAITING_MAX_MS / 20;
  const numbered = (number: number) => encodeMulaw(new Int16Array(FRAME_BYTES).fill(number * 100));
  for (let number = 0; number < framesMax + 7; number += 1) flood.stream.push(numbered(number));
  other.stream.push(FRAME);
  assert.equal(flood.stream.droppedMs, 140);
  assert.equal(lane.droppedMs, 140);
  await task(0).finish();
  clock.advance(BATCH_INTERVAL_MS);
  await task(1).finish();
  assert.equal(flood.heardBytes(), (framesMax + 1) * 640);
  const last = decodePcm(flood.heard.at(-1) ?? new Uint8Array(), true);
  assert.ok(Math.abs((last.at(-1) ?? 0) - (framesMax + 6) * 100) < 200, "the newest is kept");
  assert.equal(other.stream.droppedMs, 0);
  flood.stream.push(new Uint8Array(20_000).fill(0xff));
  assert.equal(flood.stream.droppedMs, 140 + 20_000 / 8 - CALLER_AUDIO_WAITING_MAX_MS);
});

test("a batch is bounded: what does not fit goes with the next, first come first served", async () => {
  const { clock, lane, tasks, task, call } = laneWithWorker();
  const second = new Uint8Array(8_000).fill(0xff);
  const calls = Array.from({ length: BATCH_AUDIO_MAX_MS / 1_000 + 3 }, () => call());
  for (const { stream } of calls) stream.push(second);
  await nextTurn();
  assert.equal(lane.linesWaiting, 3);
  await task(0).finish();
  assert.equal(calls.filter(({ heard }) => heard.length > 0).length, calls.length - 3);
  clock.advance(BATCH_INTERVAL_MS);
  await task(1).finish();
  assert.ok(calls.every(({ heardBytes }) => heardBytes() === 32_000));
  assert.equal(tasks.length, 2);
});

test("a lost batch is told with its calls; they go on after a pause without a click of their own", async () => {
  const { clock, tasks, task, faults, call } = laneWithWorker();
  const { stream, heard } = call();
  const gone = call();
  stream.push(encodeMulaw(new Int16Array(FRAME_BYTES).fill(1_000)));
  gone.stream.push(FRAME);
  await nextTurn();
  gone.stream.close();
  const error = new Error("worker died");
  await task(0).fail(error);
  assert.deepEqual(faults, [{ kind: "batchLost", calls: 1, audioMs: 40, error }]);
  stream.push(encodeMulaw(new Int16Array(FRAME_BYTES).fill(1_000)));
  await nextTurn();
  assert.equal(tasks.length, 1);
  clock.advance(FAILURE_PAUSE_MS);
  await task(1).finish();
  const samples = decodePcm(Buffer.concat(heard), true);
  assert.equal(samples.length, 320);
  assert.ok(Math.max(...samples) - Math.min(...samples) < 50, "the filter knows what came before");
});

test("a batch that takes too long is given up", async () => {
  const { clock, task, call } = laneWithWorker();
  call().stream.push(FRAME);
  await nextTurn();
  clock.advance(BATCH_DEADLINE_MS - 1);
  assert.equal(task(0).signal.aborted, false);
  clock.advance(1);
  assert.equal(task(0).signal.aborted, true);
});

test("a receiver that throws is told, and takes nothing from the others", async () => {
  const { lane, task, faults, call } = laneWithWorker();
  const error = new Error("the recognizer is gone");
  const throwing = lane.open({
    encoding: "mulaw",
    onPcm: () => {
      throw error;
    },
  });
  const other = call();
  throwing.push(FRAME);
  other.stream.push(FRAME);
  await nextTurn();
  await task(0).finish();
  assert.deepEqual(faults, [{ kind: "listenerFailed", error }]);
  assert.equal(other.heardBytes(), 640);
});

test("an ended call leaves the queue, and is not counted any more", async () => {
  const { lane, tasks, call } = laneWithWorker();
  const { stream, heard } = call();
  stream.push(FRAME);
  stream.close();
  stream.close();
  await nextTurn();
  assert.deepEqual([lane.lines, lane.linesWaiting, tasks.length, heard.length], [0, 0, 0, 0]);
});

test("how long audio waits is known while it waits and after", async () => {
  const { clock, lane, task, call } = laneWithWorker();
  const { stream } = call();
  stream.push(FRAME);
  await nextTurn();
  clock.advance(30);
  stream.push(FRAME);
  clock.advance(12);
  assert.equal(lane.oldestWaitMs, 12);
  await task(0).finish();
  assert.equal(lane.waits.lastMs, 42);
  clock.advance(10_000);
  assert.equal(lane.waits.lastMs, 0);
});
