import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { LoopbackPlatform, type Tenancy } from "../http/loopback-platform.js";
import { callRecord } from "./call-drafts.js";
import { recordCall } from "./recorded-call.js";

const SECONDS = 10;
const SIZE_BYTES = 44 + SECONDS * 32_000;
const callId = randomUUID();
let platform: LoopbackPlatform;
let owner: Tenancy;
let stranger: Tenancy;
let whole: Buffer;

before(async () => {
  platform = await LoopbackPlatform.start();
  owner = await platform.newTenancy();
  stranger = await platform.newTenancy();
  const { orgId } = owner;
  const startedAtMs = platform.clock.epochMs();
  const call = callRecord({ id: callId, orgId, agentId: "agent", startedAtMs });
  await platform.database.calls.start(call, "run");
  await recordCall(platform, { orgId, callId }, SECONDS);
  whole = Buffer.from(await (await ask(owner.byToken)).arrayBuffer());
});

after(() => platform.close());

function ask(headers: Readonly<Record<string, string>>, method = "GET", id: string = callId) {
  const url = `http://127.0.0.1:${platform.port}/api/dashboard/calls/${id}/recording`;
  return fetch(url, { method, headers });
}

test("the whole file is sent with its length and type", async () => {
  const answer = await ask(owner.byKey);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "audio/wav");
  assert.equal(answer.headers.get("accept-ranges"), "bytes");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.headers.get("content-length"), String(SIZE_BYTES));
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), whole);
  assert.equal(whole.length, SIZE_BYTES);
});

test("HEAD returns the length without the file", async () => {
  const answer = await ask(owner.byKey, "HEAD");
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-length"), String(SIZE_BYTES));
  assert.equal((await answer.arrayBuffer()).byteLength, 0);
});

for (const [range, from, to] of [
  ["bytes=0-43", 0, 43],
  ["bytes=100000-", 100_000, SIZE_BYTES - 1],
  ["bytes=-1000", SIZE_BYTES - 1_000, SIZE_BYTES - 1],
  ["bytes=44-99999999", 44, SIZE_BYTES - 1],
] as const) {
  test(`a part of the file is sent for ${range}`, async () => {
    const answer = await ask({ ...owner.byKey, range });
    assert.equal(answer.status, 206);
    assert.equal(answer.headers.get("content-range"), `bytes ${from}-${to}/${SIZE_BYTES}`);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), whole.subarray(from, to + 1));
  });
}

test("a range outside the file is refused, and an invalid range is ignored", async () => {
  for (const range of [`bytes=${SIZE_BYTES}-`, "bytes=-0"]) {
    const answer = await ask({ ...owner.byKey, range });
    assert.equal(answer.status, 416, range);
    assert.equal(answer.headers.get("content-range"), `bytes */${SIZE_BYTES}`);
  }
  for (const range of ["bytes=0-1,5-6", "bytes=5-4", "lines=1-2", "bytes=-"]) {
    const answer = await ask({ ...owner.byKey, range });
    assert.equal(answer.status, 200, range);
    await answer.arrayBuffer();
  }
});

test("without permission the recording is not found", async () => {
  assert.equal((await ask({})).status, 401);
  assert.equal((await ask(stranger.byKey)).status, 404);
  assert.equal((await ask(owner.byKey, "GET", randomUUID())).status, 404);
  assert.equal((await ask(owner.byKey, "GET", "..%2F..%2Ftest")).status, 404);
});

test("a client that disconnects during a download leaves no file open", async () => {
  const stop = new AbortController();
  const url = `http://127.0.0.1:${platform.port}/api/dashboard/calls/${callId}/recording`;
  const answer = await fetch(url, { headers: owner.byKey, signal: stop.signal });
  stop.abort();
  await assert.rejects(answer.arrayBuffer());
  assert.equal((await ask(owner.byKey)).status, 200);
});
