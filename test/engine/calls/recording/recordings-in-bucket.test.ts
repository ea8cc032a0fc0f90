import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { PCM_8K } from "../../../../engine/audio/audio-format.js";
import { Bucket } from "../../../../engine/bucket/bucket.js";
import { Recordings } from "../../../../engine/calls/recording/recordings.js";
import { RequestError } from "../../../../engine/request-error.js";
import { Changes } from "../../../doubles/changes.js";
import { RecordingLogger } from "../../../doubles/recording-logger.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { callRecord, insertProviders } from "../../../storage/sample-records.js";
import { temporaryDatabase } from "../../../storage/temporary-file.js";
import { objectStore } from "../../bucket/object-store-stand.js";
import { readStereoFile } from "../stereo-file.js";

const ROUND_MS = 30_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
const AGENT = { recording: { enabled: true, retentionDays: 7 } };
const FORMAT = { input: PCM_8K, speech: PCM_8K, isPaced: true } as const;
const FRAME = new Uint8Array(new Int16Array(160).fill(1_000).buffer);
const keyOf = (callId: string) => ({ orgId: "org", callId });
const KEY = keyOf("call");

async function stand(context: TestContext, waitingBytesMax = 1_000_000_000) {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-uploads-"));
  context.after(() => rm(dataDir, { recursive: true }));
  const database = await temporaryDatabase(context);
  await insertProviders(database);
  const changes = new Changes();
  const { store, settings } = await objectStore(context, changes.tell);
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const bucket = new Bucket(settings, { clock, authorities: [] });
  context.after(() => bucket.close());
  const audioPool = () => ({
    convert: () => Promise.reject(new Error("no MP3 here")),
    open: () => {
      throw new Error("nothing here has another rate");
    },
  });
  const deps = { dataDir, store: database.recordings, audioPool, clock, log };
  const uploads = { bucket, waitingBytesMax };
  const newRecordings = () => new Recordings({ ...deps, uploads });
  const folder = join(dataDir, "recordings", "org");
  const waiting = () => readdir(folder).catch((): string[] => []);
  const factsOf = async (callId = "call") =>
    (await database.calls.findById("org", callId))?.metadata["recording"];
  /** One call of five seconds, to its end; nothing is waited for. */
  const record = async (recordings: Recordings, callId = "call") => {
    await database.calls.start(callRecord({ id: callId, orgId: "org" }), "run");
    const tap = recordings.startRecording(keyOf(callId), AGENT, FORMAT);
    if (tap === undefined) return false;
    for (let frame = 0; frame < 250; frame += 1) {
      clock.advance(20);
      tap.caller(FRAME);
    }
    tap.end();
    return true;
  };
  const inFolder = () => new Recordings(deps);
  const made = { newRecordings, inFolder, record, waiting, factsOf };
  return { ...made, database, changes, store, clock, log, folder };
}

async function bytesOf(recordings: Recordings): Promise<Buffer> {
  const file = await recordings.open(KEY);
  const bytes = new Uint8Array(file.sizeBytes);
  for (let at = 0; at < bytes.length; at += await file.read(bytes.subarray(at), at));
  await file.close();
  return Buffer.from(bytes);
}

test("a recording is sent when its call is over, is read from the bucket, and leaves nothing in the folder", async (context) => {
  const { newRecordings, record, waiting, factsOf, store } = await stand(context);
  const recordings = newRecordings();
  await record(recordings);
  await recordings.close();
  assert.deepEqual([...store.objects.keys()], ["one/org/call.wav"]);
  assert.deepEqual(await waiting(), []);
  assert.deepEqual(await factsOf(), { bytes: 160_044, durationSec: 5 });
  assert.equal(readStereoFile(await bytesOf(recordings)).left.length, 40_000);
  const other = recordings.open({ ...KEY, orgId: "other" });
  await assert.rejects(
    other,
    (error) => error instanceof RequestError && error.code === "not_found",
  );
});

test("a recording that ends while the bucket is unreachable waits, is logged once, and is uploaded by a later round", async (context) => {
  const { newRecordings, record, waiting, factsOf, store, clock, log, changes } =
    await stand(context);
  const recordings = newRecordings();
  await recordings.start();
  await store.stop();
  await record(recordings);
  await changes.until("the trouble to be told", async () => {
    await new Promise(setImmediate);
    changes.tell();
    return log.ofLevel("error").length > 0;
  });
  await record(recordings, "next");
  assert.equal(await factsOf(), undefined, "it cannot be heard yet");
  await store.resume();
  clock.advance(ROUND_MS);
  await changes.until("both to be sent", () => store.objects.size === 2);
  await recordings.close();
  assert.deepEqual(await waiting(), []);
  assert.ok(await factsOf());
  assert.ok(await factsOf("next"));
  assert.equal(log.ofLevel("error").length, 1);
  assert.equal(log.ofLevel("info").length, 1);
});

test("what a server left is sent by the next one, and so is a folder of before there was a bucket", async (context) => {
  const { newRecordings, inFolder, record, waiting, store, changes, database } =
    await stand(context);
  const before = inFolder();
  await record(before);
  await before.close();
  assert.deepEqual(await waiting(), ["call.wav"]);
  await database.calls.closeAbandoned("next run", 0);
  const recordings = newRecordings();
  assert.equal((await bytesOf(recordings)).length, 160_044, "it is read where it still is");
  await recordings.start();
  await changes.until("it to be sent", () => store.objects.size === 1);
  await recordings.close();
  assert.deepEqual(await waiting(), []);
  assert.equal((await bytesOf(recordings)).length, 160_044);
});

test("a recording is deleted from the bucket when its days are over, and not forgotten while the bucket is away", async (context) => {
  const { newRecordings, record, factsOf, store, clock, database } = await stand(context);
  const recordings = newRecordings();
  await record(recordings);
  await recordings.close();
  clock.advance(7 * DAY_MS);
  await store.stop();
  await assert.rejects(recordings.sweep(), /cannot be reached/);
  assert.equal(await database.recordings.isKnown(KEY), true);
  await store.resume();
  assert.equal(await recordings.sweep(), 1);
  assert.equal(store.objects.size, 0);
  assert.equal(await factsOf(), undefined);
});

test("while too many recordings wait no call is recorded, and that is logged", async (context) => {
  const { newRecordings, inFolder, record, waiting, store, log } = await stand(context, 200_000);
  store.fault = { kind: "answer", status: 503, code: "SlowDown" };
  const before = inFolder();
  for (const callId of ["1", "2"]) assert.equal(await record(before, callId), true);
  await before.close();
  const recordings = newRecordings();
  await recordings.start();
  assert.equal(await record(recordings, "3"), false);
  assert.ok(log.ofLevel("error").some(({ message }) => /too many recordings wait/.test(message)));
  await recordings.close();
  assert.deepEqual((await waiting()).sort(), ["1.wav", "2.wav"]);
});

test("a recording whose row is gone is not sent, and not kept", async (context) => {
  const { newRecordings, inFolder, record, waiting, store, database, log, changes } =
    await stand(context);
  const before = inFolder();
  await record(before);
  await before.close();
  await database.recordings.remove(KEY);
  await record(before, "later");
  await before.close();
  const recordings = newRecordings();
  await recordings.start();
  await changes.until("the other to be sent", () => store.objects.size === 1);
  await recordings.close();
  assert.deepEqual([...store.objects.keys()], ["one/org/later.wav"]);
  assert.deepEqual(await waiting(), []);
  assert.equal(log.ofLevel("warn").length, 1);
});

test("a request for a recording while the bucket is unreachable gets an error", async (context) => {
  const { newRecordings, record, store } = await stand(context);
  const recordings = newRecordings();
  await record(recordings);
  await recordings.close();
  await store.stop();
  await assert.rejects(
    recordings.open(KEY),
    (error) =>
      error instanceof RequestError && error.code === "unavailable" && error.retryAfterSec === 10,
  );
});
