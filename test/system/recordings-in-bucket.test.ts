import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { adminCommand } from "../../api/commands/admin-command.js";
import { parseConfig } from "../../config.js";
import { decodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";
import { ran } from "../api/commands/recording-terminal.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { BUCKET, objectStore, STORE_KEY } from "../engine/bucket/object-store-stand.js";
import { readStereoFile } from "../engine/calls/stereo-file.js";
import { temporaryFile } from "../storage/temporary-file.js";
import { fetchRecording, recordedCall } from "./call-recordings.js";
import { ended } from "./events.js";
import { type Customer, TestServer } from "./test-server.js";

const RECORDING = { enabled: true, retentionDays: 7 };

async function bucketOf(context: TestContext) {
  const { store } = await objectStore(context);
  const environment = {
    RECORDINGS_URL: `s3://${BUCKET}/phones/2026`,
    RECORDINGS_ENDPOINT: store.url,
    RECORDINGS_REGION: STORE_KEY.region,
    RECORDINGS_ACCESS_KEY_ID: STORE_KEY.accessKeyId,
    RECORDINGS_SECRET_ACCESS_KEY: STORE_KEY.secretAccessKey,
  };
  return { store, environment };
}

async function recordOne(server: TestServer, customer: Customer): Promise<void> {
  const caller = await server.call(customer);
  await caller.until(ended);
  await caller.say("say thank you");
  await caller.until(ended);
  await caller.hangUp();
}

test("a call's recording is in the bucket, and the API serves it completely and in parts", async (context) => {
  const { store, environment } = await bucketOf(context);
  const server = await TestServer.start({ environment });
  context.after(() => server.stop());
  const customer = await server.customer();
  await server.agent(customer, { recording: RECORDING, persona: { greeting: "Hello there." } });
  await recordOne(server, customer);
  const call = await recordedCall(server, customer);
  const kept = store.objects.get(`phones/2026/${call.orgId}/${call.id}.wav`);
  assert.ok(kept);
  const answer = await fetchRecording(server, call.id, customer);
  assert.equal(answer.headers.get("content-length"), String(kept.length));
  const file = Buffer.from(await answer.arrayBuffer());
  assert.ok(file.equals(kept));
  const { rateHz, left } = readStereoFile(file);
  assert.equal(decodeSpeech(left, rateHz), "say thank you");
  const part = await fetchRecording(server, call.id, customer, { range: "bytes=1000-1999" });
  assert.equal(part.status, 206);
  assert.ok(Buffer.from(await part.arrayBuffer()).equals(kept.subarray(1_000, 2_000)));
  await store.stop();
  const refused = await fetchRecording(server, call.id, customer);
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("retry-after"), "10");
});

test("a call is recorded while the bucket is unavailable, and the next start uploads it", async (context) => {
  const { store, environment } = await bucketOf(context);
  await store.stop();
  const log = new RecordingLogger();
  const first = await TestServer.start({ environment, log });
  const customer = await first.customer();
  await first.agent(customer, { recording: RECORDING, persona: { greeting: "Hello there." } });
  await recordOne(first, customer);
  const ending = await first.endedCall(customer);
  const { dataDir, sandbox } = first;
  context.after(() => first.stop());
  await first.parley.stop();
  assert.ok(
    log.ofLevel("warn").some(({ message }) => /recordings bucket is unreachable/.test(message)),
  );
  const folder = join(dataDir, "recordings", ending.orgId);
  assert.deepEqual(await readdir(folder), [`${ending.id}.wav`]);
  await store.resume();
  const second = await TestServer.start({ environment, dataDir, sandbox });
  context.after(() => second.stop());
  await recordedCall(second, customer);
  assert.equal(store.objects.size, 1);
  assert.equal((await fetchRecording(second, ending.id, customer)).status, 200);
});

test("a wrong bucket is reported at the start and by `admin check`, in plain text", async (context) => {
  const { store, environment } = await bucketOf(context);
  const server = await TestServer.start({ environment });
  context.after(() => server.stop());
  const settings = { ...parseConfig({ ...environment, DATA_DIR: server.dataDir }) };
  const good = await ran(
    adminCommand(() => settings),
    "check",
  );
  assert.equal(good.errors, "");
  assert.match(good.output, /^Recordings can be written to s3:\/\/calls\/phones\/2026\/ at http/m);
  const wrong = { ...environment, RECORDINGS_URL: "s3://letters" };
  const bad = await ran(
    adminCommand(() => ({ ...parseConfig({ ...wrong, DATA_DIR: server.dataDir }) })),
    "check",
  );
  assert.equal(bad.exitCode, 1);
  assert.match(
    bad.errors,
    /s3:\/\/letters\/ at .*: there is no such bucket: create it, or correct/,
  );
  const { sandbox } = server;
  const dataDir = dirname(temporaryFile());
  const start = TestServer.start({ environment: wrong, sandbox, dataDir });
  await assert.rejects(start, /there is no such bucket/);
  assert.equal(store.objects.size, 0);
});
