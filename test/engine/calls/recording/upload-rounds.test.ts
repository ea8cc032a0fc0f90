import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { Bucket } from "../../../../engine/bucket/bucket.js";
import { BucketFault } from "../../../../engine/bucket/bucket-fault.js";
import { RecordingUploads } from "../../../../engine/calls/recording/recording-uploads.js";
import { wavHeader } from "../../../../engine/calls/recording/wav-header.js";
import type { RecordingStore } from "../../../../storage/calls/recording-store.js";
import { RecordingLogger } from "../../../doubles/recording-logger.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { temporaryFile } from "../../../storage/temporary-file.js";

const SOUND_BYTES = 4_000;
const FILE_BYTES = 44 + SOUND_BYTES;
const AWAY = new BucketFault("away", "it is away");

/** A folder with so many recordings that wait, and a bucket that does what the test says. */
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
  const place = { put: (): Promise<void> => Promise.resolve() };
  // Only what is called.
  const bucket = {
    settings: { endpoint: "https://bucket.example", bucket: "calls", prefix: "" },
    put: (key: string) => {
      sent.push(key);
      return place.put();
    },
    remove: () => Promise.resolve(),
  } as unknown as Bucket;
  const store = {
    isKnown: () => Promise.resolve(true),
    finish: () => Promise.resolve(),
  } as unknown as RecordingStore;
  const uploads = new RecordingUploads({ folder, bucket, store, clock, log, waitingBytesMax });
  return { uploads, clock, log, sent, place, left: () => readdirSync(join(folder, "org")).length };
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
  await uploads.look();
  assert.equal(uploads.isFull, false, "as much as may wait");
  const full = waitingUploads(2, 2 * FILE_BYTES - 1);
  await full.uploads.look();
  assert.equal(full.uploads.isFull, true);
  assert.equal(clock.pendingTimerCount, 0);
});

test("of recordings that become whole together four are sent at once, and none soon after trouble", async () => {
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
