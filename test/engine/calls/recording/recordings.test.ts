import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { MP3, PCM_8K, PCM_16K, PCM_24K } from "../../../../engine/audio/audio-format.js";
import type { Bucket } from "../../../../engine/bucket/bucket.js";
import type { RecordedFormat } from "../../../../engine/calls/recording/recording.js";
import type { RecordingsOptions } from "../../../../engine/calls/recording/recordings.js";
import type { RecordingKey } from "../../../../storage/calls/recording-store.js";
import { newRecordings } from "./remembered-recordings.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KEY = { orgId: "org", callId: "call" };
const AGENT = { recording: { enabled: true, retentionDays: 7 } };
const FORMAT: RecordedFormat = { input: PCM_8K, speech: PCM_8K, isPaced: true };

const keysOf = (count: number, from = 0): RecordingKey[] =>
  Array.from({ length: count }, (_, n) => ({ orgId: "org", callId: `call ${from + n}` }));

test("a recording is known, with the day of its end, before it is written, and finished with its facts", async () => {
  const { recordings, clock, log, asked, pathOf } = newRecordings();
  const tap = recordings.startRecording(KEY, AGENT, FORMAT);
  clock.advance(500);
  tap?.end();
  await recordings.close();
  const beganAtMs = clock.epochMs() - 500;
  assert.deepEqual(asked, [
    ["start", KEY, beganAtMs + 7 * DAY_MS],
    ["finish", KEY, { bytes: 16_044, durationSec: 0.5 }, clock.epochMs()],
  ]);
  assert.equal(readFileSync(pathOf("call")).length, 16_044);
  assert.deepEqual([log.lines, clock.pendingTimerCount], [[], 0]);
});

test("a store that refuses a recording, or its end, is logged, and the call continues", async () => {
  const failing = new Error("the database is locked");
  const fail = () => Promise.reject(failing);
  for (const [changes, message] of [
    [{ start: fail }, "a recording could not be written; the call continues"],
    [{ finish: fail }, "a recording could not be finished"],
  ] as const) {
    const { recordings, clock, log } = newRecordings(changes);
    const tap = recordings.startRecording(KEY, AGENT, FORMAT);
    clock.advance(500);
    tap?.end();
    await recordings.close();
    assert.deepEqual(log.lines, [
      { level: "error", fields: { callId: "call", error: failing }, message },
    ]);
  }
});

test("sentences are decoded, and streams converted, in the background and at the rate of the leg", async () => {
  const asked: unknown[] = [];
  const audioPool: RecordingsOptions["audioPool"] = () => ({
    convert: (mp3, formats, urgency) => {
      asked.push(mp3.byteLength, formats, urgency);
      return Promise.resolve(new Uint8Array([1, 2]));
    },
    open: (formats, urgency, listener) => {
      asked.push(formats, urgency);
      return { write: () => {}, end: () => listener.onEnd(), drop: () => {} };
    },
  });
  const { recordings, clock, log, pathOf } = newRecordings({}, { audioPool });
  const frame = Buffer.alloc(144);
  frame.set([0xff, 0xf3, 0x64, 0xc4]);
  for (const [callId, speech] of [
    ["mp3", MP3],
    ["pcm", PCM_24K],
  ] as const) {
    const format = { input: PCM_16K, speech, isPaced: false };
    const tap = recordings.startRecording({ orgId: "org", callId }, AGENT, format);
    tap?.agent(frame);
    clock.advance(1);
    tap?.end();
  }
  await recordings.close();
  assert.deepEqual(asked, [
    144,
    { from: MP3, to: PCM_16K },
    "background",
    { from: PCM_24K, to: PCM_16K },
    "background",
  ]);
  assert.deepEqual(log.lines, []);
  const file = readFileSync(pathOf("mp3"));
  assert.deepEqual([file.readUInt32LE(24), file.readInt16LE(46)], [16_000, 513]);
});

test("a missing sentence is logged, and so is a recording that ends before its call", async () => {
  const { recordings, clock, log, asked } = newRecordings();
  const tap = recordings.startRecording(KEY, AGENT, { ...FORMAT, speech: MP3 });
  const frame = Buffer.alloc(144);
  frame.set([0xff, 0xf3, 0x64, 0xc4]);
  tap?.agent(frame);
  clock.advance(1_000);
  tap?.end();
  const long = recordings.startRecording({ ...KEY, callId: "long" }, AGENT, FORMAT);
  for (let times = 0; times < 2; times += 1) long?.agent(new Uint8Array(16_000 * 141));
  await recordings.close();
  const [lost, broken] = log.lines.toSorted((one, other) => (one.message < other.message ? 1 : -1));
  assert.deepEqual(
    [lost?.level, lost?.message, lost?.fields["callId"], String(lost?.fields["error"])],
    ["warn", "a sentence is missing in a recording", "call", "Error: no MP3 here"],
  );
  assert.deepEqual(broken, {
    level: "warn",
    fields: {
      callId: "long",
      reason: "more of the agent's audio was sent ahead than a recording holds",
    },
    message: "a recording has ended before its call",
  });
  assert.equal(log.lines.length, 2);
  assert.deepEqual(asked.at(-1), [
    "finish",
    KEY,
    { bytes: 32_044, durationSec: 1 },
    clock.epochMs(),
  ]);
});

test("a call that ended as it began has no recording", async () => {
  const { recordings, asked, log } = newRecordings();
  recordings.startRecording(KEY, AGENT, FORMAT)?.end();
  await recordings.close();
  assert.deepEqual(
    asked.map((of) => (Array.isArray(of) ? of[0] : of)),
    ["start"],
  );
  assert.deepEqual(log.lines, []);
});

test("where there is a bucket, what an earlier run left is made whole and left to the next round", async () => {
  const keys = keysOf(2);
  const { recordings, asked, pathOf, leave } = newRecordings(
    { listUnfinished: () => Promise.resolve(keys) },
    // There are no requests to it before the first round.
    { uploads: { bucket: {} as unknown as Bucket, waitingBytesMax: 1 } },
  );
  leave(`${pathOf("call 0")}.part`, 400);
  await recordings.start();
  await recordings.close();
  assert.deepEqual([asked, existsSync(pathOf("call 0"))], [[], true]);
});

test("a recording is read from any place on", async () => {
  const { recordings, pathOf, leave } = newRecordings();
  leave(pathOf("call"), 10);
  const file = await recordings.open(KEY);
  assert.equal(file.sizeBytes, 54);
  const buffer = new Uint8Array(20);
  assert.equal(await file.read(buffer, 40), 14);
  assert.equal(await file.read(buffer, 8), 20);
  assert.equal(Buffer.from(buffer.subarray(0, 8)).toString(), "WAVEfmt ");
  await file.close();
  await assert.rejects(file.read(buffer, 0));
});

test("what an earlier run left is put right page by page, whatever one of them has", async () => {
  const pages = [keysOf(100), keysOf(2, 100)];
  const after: string[] = [];
  const { recordings, clock, log, asked, pathOf, leave } = newRecordings({
    listUnfinished: (afterCallId, limit) => {
      after.push(`${afterCallId} ${limit}`);
      return Promise.resolve(pages.shift() ?? []);
    },
  });
  leave(`${pathOf("call 0")}.part`, 400);
  leave(`${pathOf("call 1")}.part`, 0);
  mkdirSync(`${pathOf("call 101")}.part`);
  await recordings.start();
  await recordings.close();
  assert.deepEqual(after, [" 100", "call 99 100"]);
  assert.deepEqual(asked[0], [
    "finish",
    keysOf(1)[0],
    { bytes: 444, durationSec: 0.013 },
    clock.epochMs(),
  ]);
  assert.deepEqual(asked.slice(1, 3), [
    ["remove", "call 1"],
    ["remove", "call 2"],
  ]);
  assert.deepEqual([asked.length, existsSync(`${pathOf("call 1")}.part`)], [101, false]);
  const [fault, sum, ...others] = log.lines;
  assert.deepEqual(
    [fault?.level, fault?.message, fault?.fields["callId"]],
    ["error", "failed to repair a recording", "call 101"],
  );
  assert.deepEqual(
    [sum, others],
    [
      {
        level: "warn",
        fields: { count: 102 },
        message: "repaired recordings of an earlier run",
      },
      [],
    ],
  );
});

test("a call that is being recorded is not put right, and a start that finds nothing says nothing", async () => {
  const { recordings, log, asked, clock } = newRecordings({
    listUnfinished: () => Promise.resolve([KEY]),
  });
  const tap = recordings.startRecording(KEY, AGENT, FORMAT);
  await recordings.start();
  assert.deepEqual(
    asked.map((of) => (Array.isArray(of) ? of[0] : of)),
    ["start"],
  );
  clock.advance(10);
  tap?.end();
  await recordings.close();
  assert.deepEqual(log.lines, [
    { level: "warn", fields: { count: 1 }, message: "repaired recordings of an earlier run" },
  ]);
  const none = newRecordings();
  await none.recordings.start();
  await none.recordings.close();
  assert.deepEqual(none.log.lines, []);
});
