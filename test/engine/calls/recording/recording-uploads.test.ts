import assert from "node:assert/strict";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { type Bucket, BucketError } from "../../../../engine/bucket/bucket.js";
import { wavHeader } from "../../../../engine/calls/recording/recording-file.js";
import { RecordingUploads } from "../../../../engine/calls/recording/recordings.js";
import type { RecordingStore } from "../../../../storage/calls/recording-store.js";
import { RecordingLogger } from "../../../doubles/recording-logger.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { temporaryFile } from "../../../storage/temporary-file.js";

const SOUND_BYTES = 4_000;
const FILE_BYTES = 44 + SOUND_BYTES;
const AWAY = new BucketError("away", "it is away");

/** A folder with this many waiting recordings, and a bucket that the test controls. */
function waitingUploads(count: number, waitingBytesMax = 1_000_000) {
  const folder = join(dirname(temporaryFile()), "recordings");
  mkdirSync(join(folder, "org"), { recursive: true });
  writeFileSync(join(folder, "a letter"), "in nobody's folder");
  for (let call = 0; call < count; call += 1) {
    const sound = Buffer.concat([wavHeader(8_000, SOUND_BYTES), Buffer.alloc(SOUND_BYTES)]);
    writeFileSync(join(folder, "org", `${call}.wav`), sound);
  }
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const sent: string[] = [];
  const place = {
    put: (): Promise<void> => Promise.resolve(),
    sizeOf: (): Promise<number> => Promise.resolve(FILE_BYTES),
  };
  const removed: string[] = [];
  const finished: unknown[] = [];
  // Only what is called.
  const bucket = {
    settings: { endpoint: "https://bucket.example", name: "calls", prefix: "" },
    put: (key: string) => {
      sent.push(key);
      return place.put();
    },
    sizeOf: () => place.sizeOf(),
    remove: (key: string) => Promise.resolve(removed.push(key)),
  } as unknown as Bucket;
  const known = { isKnown: () => Promise.resolve(true) };
  const store = {
    isKnown: () => known.isKnown(),
    finish: (...given: readonly unknown[]) => Promise.resolve(finished.push(given)),
  } as unknown as RecordingStore;
  const uploads = new RecordingUploads({ folder, bucket, store, clock, log, waitingBytesMax });
  const left = () => readdirSync(join(folder, "org")).length;
  return { uploads, folder, clock, log, sent, place, known, removed, finished, left };
}

test("a round sends all that waits, and leaves alone what is no recording", async () => {
  const { uploads, sent, left, log } = waitingUploads(5);
  await uploads.sendWaiting();
  assert.deepEqual(
    sent.toSorted(),
    [0, 1, 2, 3, 4].map((call) => `org/${call}.wav`),
  );
  assert.deepEqual([left(), log.lines], [0, []]);
});

test("a bucket that refuses three in a row is left alone until the next round", async () => {
  const { uploads, sent, left, place, log } = waitingUploads(5);
  place.put = () => Promise.reject(AWAY);
  await uploads.sendWaiting();
  assert.deepEqual([sent.length, left(), log.ofLevel("error").length], [3, 5, 1]);
  place.put = () => Promise.resolve();
  await uploads.sendWaiting();
  assert.deepEqual([left(), log.ofLevel("info").length], [0, 1]);
});

test("a server that stops finishes the file that it is at, and says nothing of one that fails then", async () => {
  const { uploads, sent, left, place, log } = waitingUploads(3);
  let fail: (error: Error) => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    place.put = () => {
      resolve();
      return new Promise((_done, reject) => (fail = reject));
    };
  });
  const round = uploads.sendWaiting();
  await asked;
  const closed = uploads.close();
  fail(AWAY);
  await Promise.all([round, closed]);
  assert.deepEqual([sent.length, left(), log.lines], [1, 3, []]);
  await uploads.send({ orgId: "org", callId: "0" });
  assert.equal(sent.length, 1);
});

test("no call is recorded while more waits than may, as was seen at the last look", async () => {
  const { uploads, clock } = waitingUploads(2, 2 * FILE_BYTES);
  await uploads.run();
  assert.equal(uploads.isFull, false, "as much as may wait");
  const full = waitingUploads(2, 2 * FILE_BYTES - 1);
  await full.uploads.run();
  assert.equal(full.uploads.isFull, true);
  assert.equal(clock.pendingTimerCount, 0);
});

test("of recordings that complete together four are uploaded at once, and none shortly after failures", async () => {
  const { uploads, clock, sent, place } = waitingUploads(6);
  const held: (() => void)[] = [];
  place.put = () => new Promise((resolve) => held.push(resolve));
  const send = (call: number) => uploads.send({ orgId: "org", callId: `${call}` });
  const sending = Array.from({ length: 5 }, (_, call) => send(call));
  await sending[4];
  while (held.length < 4) await new Promise(setImmediate);
  assert.equal(sent.length, 4);
  for (const done of held) done();
  await Promise.all(sending);
  place.put = () => Promise.reject(AWAY);
  await send(4);
  clock.advance(29_999);
  await send(5);
  assert.equal(sent.length, 5);
  clock.advance(1);
  await send(5);
  assert.equal(sent.length, 6);
});

test("the waiting size is measured every thirty seconds while calls begin, and after each round", async (t) => {
  const { uploads, clock } = waitingUploads(2, FILE_BYTES);
  const looks = t.mock.method(uploads, "run");
  for (const [passedMs, count] of [
    [0, 1],
    [0, 1],
    [29_999, 1],
    [1, 2],
    [29_999, 2],
  ] as const) {
    clock.advance(passedMs);
    void uploads.isFull;
    assert.equal(looks.mock.callCount(), count);
  }
  for (const { result } of looks.mock.calls) await result;
  assert.equal(uploads.isFull, true);
  await uploads.sendWaiting();
  assert.equal(uploads.isFull, false);
});

test("a missing folder has nothing waiting, and an unreadable one is logged", async () => {
  const none = waitingUploads(2, 0);
  rmSync(none.folder, { recursive: true });
  await none.uploads.run();
  assert.equal(none.uploads.isFull, false);
  const { uploads, folder, log } = waitingUploads(0);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "no folder");
  await assert.rejects(uploads.run(), { code: "ENOTDIR" });
  assert.equal(uploads.isFull, false);
  while (log.lines.length === 0) await new Promise(setImmediate);
  const [line] = log.lines;
  assert.deepEqual(
    [line?.level, line?.message, none.log.lines],
    ["error", "failed to read the folder of pending recordings", []],
  );
});

test("a recording counts as finished, with its facts, once the bucket has it", async () => {
  const { uploads, clock, sent, finished, left, removed } = waitingUploads(1);
  const key = { orgId: "org", callId: "0" };
  await uploads.send(key);
  assert.deepEqual(finished, [[key, { bytes: FILE_BYTES, durationSec: 0.125 }, clock.epochMs()]]);
  assert.deepEqual([sent, left(), removed], [["org/0.wav"], 0, []]);
});

test("a recording that expires during its upload is removed from the bucket again", async () => {
  const { uploads, known, left, removed } = waitingUploads(1);
  let count = 0;
  known.isKnown = () => Promise.resolve(++count === 1);
  await uploads.send({ orgId: "org", callId: "0" });
  assert.deepEqual([removed, left()], [["org/0.wav"], 0]);
});

test("a recording without a call is deleted, and that is logged", async () => {
  const { uploads, known, sent, left, log } = waitingUploads(1);
  known.isKnown = () => Promise.resolve(false);
  await uploads.send({ orgId: "org", callId: "0" });
  assert.deepEqual([sent, left()], [[], 0]);
  assert.deepEqual(log.lines, [
    {
      level: "warn",
      fields: { callId: "0" },
      message: "a pending recording no longer belongs to a call",
    },
  ]);
});

test("a recording that is not whole, or is there no more, is not sent", async () => {
  const { uploads, folder, sent, log } = waitingUploads(0);
  writeFileSync(join(folder, "org", "silent.wav.part"), wavHeader(8_000, 0));
  await uploads.send({ orgId: "org", callId: "silent" });
  await uploads.send({ orgId: "org", callId: "gone" });
  assert.deepEqual([sent, log.lines], [[], []]);
});

test("failures of the bucket are logged at their start and end, and other failures each time", async () => {
  const { uploads, clock, place, log } = waitingUploads(3);
  const mistake = new TypeError("a mistake");
  const send = (call: number) => uploads.send({ orgId: "org", callId: `${call}` });
  const told = () => log.lines.splice(0);
  place.put = () => Promise.reject(mistake);
  await send(0);
  await send(0);
  const line = { level: "error", fields: { callId: "0", error: mistake } };
  const mistold = { ...line, message: "failed to upload a recording; it stays pending" };
  assert.deepEqual(told(), [mistold, mistold]);
  place.put = () => Promise.reject(AWAY);
  await send(0);
  clock.advance(30_000);
  await send(0);
  assert.deepEqual(told(), [
    {
      level: "error",
      fields: { reason: "it is away" },
      message: "recordings cannot be uploaded to their bucket; they wait in the data folder",
    },
  ]);
  place.put = () => Promise.resolve();
  clock.advance(30_000);
  await send(0);
  await send(1);
  assert.deepEqual(told(), [
    {
      level: "info",
      fields: { bucket: "s3://calls/ at https://bucket.example" },
      message: "recordings are uploaded to their bucket again",
    },
  ]);
});

test("a recording is uploaded once, however often that is requested meanwhile", async () => {
  const { uploads, sent, place } = waitingUploads(1);
  let done = () => {};
  const asked = new Promise<void>((resolve) => {
    place.put = () => {
      resolve();
      return new Promise((whenDone) => (done = whenDone));
    };
  });
  const sending = uploads.send({ orgId: "org", callId: "0" });
  const round = uploads.sendWaiting();
  assert.equal(uploads.sendWaiting(), round);
  await asked;
  await round;
  done();
  await sending;
  assert.deepEqual(sent, ["org/0.wav"]);
});

test("only refusals one after the other end a round", async () => {
  const { uploads, sent, place } = waitingUploads(6);
  place.put = () => (sent.length % 3 === 0 ? Promise.resolve() : Promise.reject(AWAY));
  await uploads.sendWaiting();
  assert.equal(sent.length, 6);
});

test("a recording that another process has sent before it was measured takes no room", async (t) => {
  const { uploads } = waitingUploads(1, 0);
  t.mock.method(promises, "stat", () => Promise.reject(new Error("it is gone")));
  syncBuiltinESMExports();
  await uploads.run();
  t.mock.restoreAll();
  syncBuiltinESMExports();
  assert.equal(uploads.isFull, false);
});

test("an unreachable bucket is reported to a client that requests a recording; a bug stays one", async () => {
  const { uploads, place, log } = waitingUploads(0);
  const key = { orgId: "org", callId: "call" };
  assert.equal((await uploads.open(key))?.sizeBytes, FILE_BYTES);
  place.sizeOf = () => Promise.reject(AWAY);
  await assert.rejects(uploads.open(key), { code: "unavailable", retryAfterSec: 10, cause: AWAY });
  assert.equal(log.ofLevel("error").length, 1);
  const mistake = new TypeError("a mistake");
  place.sizeOf = () => Promise.reject(mistake);
  await assert.rejects(uploads.open(key), mistake);
});
