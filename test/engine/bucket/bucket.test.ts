import assert from "node:assert/strict";
import dns from "node:dns";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { Bucket, StallWatch } from "../../../engine/bucket/bucket.js";
import type { BucketSettings } from "../../../engine/bucket/bucket-settings.js";
import { Changes } from "../../doubles/changes.js";
import { httpService } from "../../doubles/http-service.js";
import { passInUndici } from "../../doubles/undici-clock.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { STORE_KEY } from "./object-store-stand.js";

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

function bucketOf(context: TestContext, changes: Partial<BucketSettings> = {}) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
  const settings = { name: "calls", prefix: "one/", endpoint: undefined, ...STORE_KEY, ...changes };
  const bucket = new Bucket(settings, { clock, authorities: [] });
  context.after(() => bucket.close());
  return { bucket, clock };
}

/** A store that answers as the test defines, with its bucket. */
async function answering(context: TestContext, answer: Answer) {
  const changes = new Changes();
  const requests: IncomingMessage[] = [];
  const endpoint = await httpService(context, (request, response) => {
    requests.push(request);
    answer(response, request);
    changes.tell();
  });
  return { ...bucketOf(context, { endpoint }), endpoint, requests, changes };
}

async function* pieces(count: number): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n += 1) yield await Promise.resolve(new Uint8Array(10).fill(n));
}

test("each request contains its path, headers and time", async (t) => {
  const told: unknown[] = [];
  const { bucket } = await answering(t, (response, request) => {
    const { method, url, headers } = request;
    const { range, "content-type": type, "content-length": length } = headers;
    void text(request).then((body) => {
      const sent = [method, url, headers["x-amz-date"], range, type, length, body.length];
      told.push(sent.filter((one) => one !== undefined && one !== 0).join(" "));
      response.writeHead(method === "GET" ? 206 : 200, { "content-length": 5 });
      response.end(method === "HEAD" ? undefined : "12345");
    });
  });
  await bucket.put("call.wav", pieces(3), 30, "audio/wav");
  assert.equal(await bucket.sizeOf("call.wav"), 5);
  assert.equal(String(await bucket.read("call.wav", 10, 5)), "49,50,51,52,53");
  await bucket.remove("call.wav");
  assert.deepEqual(told, [
    "PUT /calls/one/call.wav 20260102T030405Z audio/wav 30 30",
    "HEAD /calls/one/call.wav 20260102T030405Z",
    "GET /calls/one/call.wav 20260102T030405Z bytes=10-14",
    "DELETE /calls/one/call.wav 20260102T030405Z",
  ]);
});

test("reading, measuring or removing a missing object does nothing and leaves no timer", async (t) => {
  const { bucket, clock } = await answering(t, (response) => {
    response.writeHead(404).end();
  });
  assert.equal(await bucket.read("call.wav", 0, 10), undefined);
  assert.equal(await bucket.sizeOf("call.wav"), undefined);
  await bucket.remove("call.wav");
  await assert.rejects(bucket.put("call.wav", pieces(1), 10, "audio/wav"), /it answers 404$/);
  assert.equal(clock.pendingTimerCount, 0);
});

test("a status up to 299 is a success", async (t) => {
  let status = 299;
  const { bucket } = await answering(t, (response) => {
    response.writeHead(status).end();
  });
  await bucket.remove("call.wav");
  status = 300;
  await assert.rejects(bucket.remove("call.wav"), /it answers 300$/);
});

test("a store that reports no object size, or returns other content, is refused", async (t) => {
  let length: number | undefined;
  const { bucket, endpoint } = await answering(t, (response, { method }) => {
    if (method === "HEAD" && length !== undefined) response.setHeader("content-length", length);
    response.end();
  });
  await assert.rejects(bucket.sizeOf("call.wav"), {
    kind: "refused",
    message: `${endpoint}/calls/ does not report the size of its objects`,
  });
  length = "Parley checks whether it may write here.\n".length;
  await bucket.check();
  length += 1;
  await assert.rejects(bucket.check(), {
    kind: "refused",
    message: `${endpoint}/calls/ does not return what was stored there`,
  });
});

test("the rest of a response that is longer than requested is not awaited", async (t) => {
  const { bucket, clock } = await answering(t, (response) => {
    response.writeHead(206);
    response.write("123");
    void afterReading(() => response.write("456789"));
  });
  assert.equal(Buffer.from((await bucket.read("call.wav", 0, 5)) ?? []).toString(), "12345");
  assert.equal(clock.pendingTimerCount, 0);
});

test("only the first 16 KiB of an endless error response are read", async (t) => {
  const code = "<Code>SlowDown</Code>";
  for (const [before, message] of [
    [16_384 - code.length, /answers 503 \(SlowDown\)$/],
    [16_385 - code.length, /answers 503$/],
  ] as const) {
    const words = " ".repeat(before) + code;
    const { bucket } = await answering(t, (response) => {
      response.writeHead(503);
      response.write(words.slice(0, 10));
      void afterReading(() => response.write(words.slice(10, 16_383)));
      void afterReading(() => response.write(words.slice(16_383)), 20);
    });
    await assert.rejects(bucket.remove("call.wav"), { kind: "away", message });
  }
});

/** Gives the client time to read what was written before, so that the next write arrives as a separate chunk. */
async function afterReading(write: () => void, turns = 10): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
  write();
}

test("long responses that are not read occupy no connection", { timeout: 20_000 }, async (t) => {
  const long = "x".repeat(100_000);
  const { bucket, requests } = await answering(t, (response) => void response.end(long));
  await Promise.all(Array.from({ length: 17 }, () => bucket.remove("call.wav")));
  assert.equal(requests.length, 17);
});

test("sixteen requests run at the same time, and the next one waits for a connection", async (t) => {
  const held: ServerResponse[] = [];
  const { bucket, requests, changes } = await answering(t, (response) => void held.push(response));
  const removed = Array.from({ length: 17 }, () => bucket.remove("call.wav"));
  await changes.until("sixteen requests", () => held.length >= 16);
  for (const response of held) response.end();
  await changes.until("the last request", () => held.length === 17);
  held[16]?.end();
  await Promise.all(removed);
  assert.equal(new Set(requests.map(({ socket }) => socket)).size, 16);
});

test("an idle connection is closed after ten seconds, even if the store would keep it longer", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const hint of [{}, { "keep-alive": "timeout=3600" }]) {
    const { bucket, requests } = await answering(t, (response) => {
      response.writeHead(204, { connection: "keep-alive", ...hint }).end();
    });
    for (const passedMs of [0, 9_999, 10_000]) {
      t.mock.timers.tick(passedMs);
      await bucket.remove("call.wav");
      // undici needs a few turns to mark the connection as idle.
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    }
    const [first, second, third] = requests.map(({ socket }) => socket);
    assert.deepEqual([second === first, third === first], [true, false]);
  }
});

test("an upload may take any time while it makes progress, and is aborted after thirty seconds without", async (t) => {
  const { bucket, clock } = await answering(t, (_response, request) => void request.resume());
  let pieceCount = 0;
  async function* slow(): AsyncGenerator<Uint8Array> {
    for (let n = 0; n < 3; n += 1) {
      pieceCount += 1;
      clock.advance(29_999);
      yield await Promise.resolve(new Uint8Array(10));
    }
    clock.advance(30_000);
  }
  await assert.rejects(bucket.put("call.wav", slow(), 40, "audio/wav"), {
    kind: "away",
    message: /no progress for 30 seconds$/,
  });
  assert.deepEqual([pieceCount, clock.pendingTimerCount], [3, 0]);
});

test("each part of a download counts as progress", async (t) => {
  const touches = t.mock.method(StallWatch.prototype, "touch");
  const { bucket } = await answering(t, (response) => void response.end("12345"));
  await bucket.read("call.wav", 0, 5);
  assert.ok(touches.mock.callCount() > 1, "the first call belongs to the request itself");
});

test("closing the bucket aborts requests in progress", async (t) => {
  const { bucket, requests, changes } = await answering(t, () => {});
  const removed = assert.rejects(bucket.remove("call.wav"), { kind: "away" });
  await changes.until("the request", () => requests[0]);
  await bucket.close();
  await removed;
});

test("Amazon's buckets have their own host names, if a certificate covers the name", async (t) => {
  const asked: unknown[] = [];
  t.mock.method(dns, "lookup", (host: string, ...rest: readonly unknown[]) => {
    asked.push(host);
    const told = rest.at(-1);
    if (typeof told === "function") told(new Error("no such host"));
  });
  for (const name of ["calls", "calls.example.com"]) {
    const { bucket } = bucketOf(t, { name });
    await assert.rejects(bucket.remove("call.wav"), { kind: "away", message: /: no such host$/ });
  }
  assert.deepEqual(asked, ["calls.s3.eu-central-1.amazonaws.com", "s3.eu-central-1.amazonaws.com"]);
});

test("a store that accepts no connection times out after five seconds", async (t) => {
  const begun = new Promise<void>((resolve) => {
    t.mock.method(dns, "lookup", () => resolve());
  });
  const { bucket } = bucketOf(t);
  const removed = assert.rejects(bucket.remove("call.wav"), { message: /timeout: 5000ms/ });
  await begun;
  passInUndici(6_000);
  passInUndici(6_000);
  await removed;
});
