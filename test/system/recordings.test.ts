import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { decodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";
import { readStereoFile } from "../engine/calls/stereo-file.js";
import { fetchRecording, recordedCall } from "./call-recordings.js";
import { ended, spoke, stopped } from "./events.js";
import { heard } from "./telephone-stand.js";
import { TestServer } from "./test-server.js";

const SILENT_SECOND = Buffer.alloc(32_000);
const RECORDING = { enabled: true, retentionDays: 7 };
let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.stop());

test("a web call's recording has the caller on the left, the agent on the right, and no audio that the caller cut off", async () => {
  const customer = await server.customer();
  await server.agent(customer, {
    recording: RECORDING,
    persona: { greeting: "Hello there." },
  });
  const caller = await server.call(customer);
  await caller.until(ended);
  await caller.say("count to 9");
  await caller.until(spoke);
  await caller.play("a second of listening", SILENT_SECOND);
  const stop = caller.until(stopped);
  await caller.say("say bye");
  await stop;
  await caller.until(ended);
  await caller.hangUp();
  const call = await recordedCall(server, customer);
  const answer = await fetchRecording(server, call.id, customer);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "audio/wav");
  const file = Buffer.from(await answer.arrayBuffer());
  assert.equal(answer.headers.get("content-length"), String(file.length));
  const { rateHz, left, right } = readStereoFile(file);
  assert.equal(rateHz, 16_000);
  const durationSec = left.length / rateHz;
  assert.deepEqual(call.metadata["recording"], {
    bytes: file.length,
    durationSec: Math.round(durationSec * 1_000) / 1_000,
  });
  assert.ok(Math.abs(durationSec - (call.durationSec ?? 0)) < 0.3, String(durationSec));
  assert.equal(decodeSpeech(left, rateHz), "count to 9 say bye");
  const heard = decodeSpeech(right, rateHz);
  assert.ok(heard.startsWith("Hello there. Number 1. "), heard);
  assert.ok(heard.endsWith(" bye"), heard);
  assert.ok(!heard.includes("Number 9."), heard);
  const path = join(server.dataDir, "recordings", call.orgId, `${call.id}.wav`);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.deepEqual(await readFile(path), file);
});

test("a telephone call's recording has both sides' words at 8 kHz", async () => {
  const customer = await server.customer();
  await server.agent(customer, { recording: RECORDING, persona: { greeting: "Hello there." } });
  const caller = await PhoneCaller.call({
    webhookUrl: `${server.url}/api/telephony/voice?api_key=${customer.apiKey}`,
  });
  await heard(caller, "there.");
  await caller.say("say thank you");
  await heard(caller, "thank you");
  await caller.hangUp();
  const call = await recordedCall(server, customer);
  const file = Buffer.from(await (await fetchRecording(server, call.id, customer)).arrayBuffer());
  const { rateHz, left, right } = readStereoFile(file);
  assert.equal(rateHz, 8_000);
  assert.equal(decodeSpeech(left, rateHz), "say thank you");
  assert.equal(decodeSpeech(right, rateHz), "Hello there. thank you");
});

test("a call whose agent does not record leaves nothing behind", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  const caller = await server.call(customer);
  await caller.hangUp();
  const call = await server.endedCall(customer);
  assert.equal(call.metadata["recording"], undefined);
  assert.equal((await fetchRecording(server, call.id, customer)).status, 404);
});
