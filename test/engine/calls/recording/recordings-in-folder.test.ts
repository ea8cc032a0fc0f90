import assert from "node:assert/strict";
import { appendFile, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { PCM_8K } from "../../../../engine/audio/audio-format.js";
import type { RecordedFormat } from "../../../../engine/calls/recording/recording.js";
import { RecordingFile } from "../../../../engine/calls/recording/recording-file.js";
import { Recordings } from "../../../../engine/calls/recording/recordings.js";
import type { CallAudioTap } from "../../../../engine/conversation/actor.js";
import { RequestError } from "../../../../engine/request-error.js";
import { RecordingLogger } from "../../../doubles/recording-logger.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { callRecord, insertProviders } from "../../../storage/sample-records.js";
import { temporaryDatabase } from "../../../storage/temporary-file.js";
import { readStereoFile } from "../stereo-file.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
const KEY = { orgId: "org", callId: "call" };
const FORMAT: RecordedFormat = { input: PCM_8K, speech: PCM_8K, isPaced: true };
const AGENT = { recording: { enabled: true, retentionDays: 7 } };
const FRAME = new Uint8Array(new Int16Array(160).fill(1_000).buffer);

async function stand(context: TestContext) {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-recordings-"));
  context.after(() => rm(dataDir, { recursive: true }));
  const database = await temporaryDatabase(context);
  await insertProviders(database);
  await database.calls.start(callRecord({ id: KEY.callId, orgId: KEY.orgId }), "run");
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const audioPool = () => ({
    convert: () => Promise.reject(new Error("no MP3 here")),
    open: () => {
      throw new Error("nothing here has another rate");
    },
  });
  const options = { dataDir, store: database.recordings, audioPool, clock, log };
  const path = join(dataDir, "recordings", KEY.orgId, `${KEY.callId}.wav`);
  const factsOf = async () =>
    (await database.calls.findById(KEY.orgId, KEY.callId))?.metadata["recording"];
  return { database, clock, log, path, factsOf, newRecordings: () => new Recordings(options) };
}

function begin(recordings: Recordings): CallAudioTap {
  const tap = recordings.startRecording(KEY, AGENT, FORMAT);
  assert.ok(tap);
  return tap;
}

function talk(tap: CallAudioTap, clock: VirtualClock, seconds: number): void {
  for (let frame = 0; frame < seconds * 50; frame += 1) {
    clock.advance(20);
    tap.caller(FRAME);
    tap.agent(FRAME);
  }
}

test("a recording is whole once its call is over, and only then can it be opened", async (context) => {
  const { clock, path, factsOf, newRecordings } = await stand(context);
  const recordings = newRecordings();
  const tap = begin(recordings);
  talk(tap, clock, 10);
  const isNotFound = (error: unknown) =>
    error instanceof RequestError && error.code === "not_found";
  await assert.rejects(recordings.open(KEY), isNotFound);
  tap.end();
  await recordings.close();
  const file = await readFile(path);
  const { left, right } = readStereoFile(file);
  assert.deepEqual([left.length, right.length], [80_000, 80_000]);
  assert.deepEqual(await factsOf(), { bytes: file.length, durationSec: 10 });
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const opened = await recordings.open(KEY);
  assert.equal(opened.sizeBytes, file.length);
  await opened.close();
  await assert.rejects(recordings.open({ ...KEY, orgId: "other" }), isNotFound);
});

test("an agent that does not record costs nothing: there is no tap, timer, row or file", async (context) => {
  const { clock, database, newRecordings } = await stand(context);
  const off = { recording: { enabled: false, retentionDays: 7 } };
  assert.equal(newRecordings().startRecording(KEY, off, FORMAT), undefined);
  assert.equal(clock.pendingTimerCount, 0);
  assert.deepEqual(await database.recordings.listUnfinished("", 10), []);
});

test("what a killed server left is put right at the next start, and what is empty is removed", async (context) => {
  const { clock, database, path, factsOf, newRecordings, log } = await stand(context);
  const killed = newRecordings();
  const tap = begin(killed);
  talk(tap, clock, 10);
  tap.end();
  await killed.close();
  // As it was before its end: sizes of nothing, another name, and half a sample.
  const whole = await readFile(path);
  await rm(path);
  const header = Buffer.from(whole.subarray(0, 44));
  header.writeUInt32LE(0, 40);
  await appendFile(`${path}.part`, Buffer.concat([header, whole.subarray(44, 44 + 4_001)]));
  await database.recordings.remove(KEY);
  await database.recordings.start(KEY, clock.epochMs() + DAY_MS);
  const other = { ...KEY, callId: "silent" };
  await database.calls.start(callRecord({ id: other.callId, orgId: other.orgId }), "run");
  await database.recordings.start(other, clock.epochMs() + DAY_MS);
  const next = newRecordings();
  const inProgress = await database.recordings.listUnfinished("", 10);
  assert.deepEqual(inProgress, [], "another server may be recording them");
  await database.calls.closeAbandoned("next run", clock.epochMs());
  await next.start();
  const repaired = await readFile(path);
  assert.equal(readStereoFile(repaired).left.length, 1_000);
  assert.deepEqual(await factsOf(), { bytes: 4_044, durationSec: 0.125 });
  assert.deepEqual(await database.recordings.listUnfinished("", 10), []);
  assert.equal(log.ofLevel("warn").length, 1);
  await next.close();
});

test("a recording is deleted when its days are over, and its call says so", async (context) => {
  const { clock, path, factsOf, newRecordings } = await stand(context);
  const recordings = newRecordings();
  await recordings.start();
  const tap = begin(recordings);
  talk(tap, clock, 5);
  tap.end();
  await recordings.close();
  clock.advance(7 * DAY_MS - 60_000);
  assert.equal(await recordings.sweep(), 0);
  assert.ok(await factsOf());
  clock.advance(60_000);
  assert.equal(await recordings.sweep(), 1);
  assert.equal(await factsOf(), undefined);
  await assert.rejects(stat(path), { code: "ENOENT" });
  await assert.rejects(recordings.open(KEY), RequestError);
});

test("a disk that refuses is logged once, and the call continues", async (context) => {
  const { clock, log, path, factsOf, newRecordings } = await stand(context);
  const recordings = newRecordings();
  // A folder where the file is to be.
  const blocked = new RecordingFile(join(path, "\0"), 8_000, Promise.resolve(), () => {});
  assert.equal(await blocked.finish(), undefined);
  const tap = recordings.startRecording({ ...KEY, callId: "unknown" }, AGENT, FORMAT);
  assert.ok(tap);
  talk(tap, clock, 5);
  tap.end();
  await recordings.close();
  assert.equal(log.ofLevel("error").length, 1);
  assert.equal(await factsOf(), undefined);
});
