import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Bucket, STALL_MAX_MS } from "../../../engine/bucket/bucket.js";
import { BucketFault, placeOf } from "../../../engine/bucket/bucket-fault.js";
import type { BucketSettings } from "../../../engine/bucket/bucket-settings.js";
import { ObjectReader } from "../../../engine/bucket/object-reader.js";
import { Changes } from "../../doubles/changes.js";
import { httpService } from "../../doubles/http-service.js";
import { passInUndici } from "../../doubles/undici-clock.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { objectStore } from "./object-store-stand.js";

const SIZE_BYTES = 1_000_000;
const BYTES = Uint8Array.from({ length: SIZE_BYTES }, (_, index) => index % 251);

async function stand(context: TestContext, wrong: Partial<BucketSettings> = {}) {
  const changes = new Changes();
  const { store, settings } = await objectStore(context, changes.tell);
  const clock = new VirtualClock();
  const bucket = new Bucket({ ...settings, ...wrong }, { clock, authorities: [] });
  context.after(() => bucket.close());
  return { store, bucket, clock, changes };
}

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < SIZE_BYTES; from += 64_000) {
    yield await Promise.resolve(BYTES.subarray(from, from + 64_000));
  }
}

async function readAll(reader: ObjectReader, from = 0): Promise<Buffer> {
  const parts: Buffer[] = [];
  const buffer = new Uint8Array(50_000);
  for (let position = from; position < reader.sizeBytes; ) {
    const count = await reader.read(buffer, position);
    assert.ok(count > 0);
    parts.push(Buffer.from(buffer.subarray(0, count)));
    position += count;
  }
  return Buffer.concat(parts);
}

function fault(kind: "away" | "refused", message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof BucketFault, String(error));
    assert.match(error.message, message);
    assert.equal(error.kind, kind);
    return true;
  };
}

test("what is put in pieces is read from any place on, and is gone when it is removed", async (context) => {
  const { store, bucket, clock } = await stand(context);
  await bucket.check();
  assert.equal(store.objects.size, 0);
  await bucket.put("org/call.wav", pieces(), SIZE_BYTES, "audio/wav");
  assert.deepEqual([...store.objects.keys()], ["one/org/call.wav"]);
  const reader = await ObjectReader.open(bucket, "org/call.wav");
  assert.ok(reader);
  assert.equal(reader.sizeBytes, SIZE_BYTES);
  assert.ok((await readAll(reader)).equals(BYTES));
  assert.ok((await readAll(reader, 123_456)).equals(BYTES.subarray(123_456)));
  await reader.close();
  await bucket.remove("org/call.wav");
  await bucket.remove("org/call.wav");
  assert.equal(await ObjectReader.open(bucket, "org/call.wav"), undefined);
  assert.equal(clock.pendingTimerCount, 0);
});

test("a download that breaks off goes on where it was, twice, and then is given up", async (context) => {
  const { store, bucket } = await stand(context);
  await bucket.put("call.wav", pieces(), SIZE_BYTES, "audio/wav");
  const reader = await ObjectReader.open(bucket, "call.wav");
  assert.ok(reader);
  store.fault = { kind: "break", behindBytes: 100_000 };
  assert.ok((await readAll(reader)).equals(BYTES));
  store.fault = { kind: "break", behindBytes: 0 };
  const requestsBefore = store.requests.length;
  await assert.rejects(reader.read(new Uint8Array(10), 0), fault("away", /cannot be reached/));
  assert.equal(store.requests.length - requestsBefore, 3);
});

test("whoever reads recordings slowly keeps nobody else from the bucket", {
  timeout: 20_000,
}, async (context) => {
  const { bucket } = await stand(context);
  await bucket.put("call.wav", pieces(), SIZE_BYTES, "audio/wav");
  for (let reader = 0; reader < 20; reader += 1) {
    const slow = await ObjectReader.open(bucket, "call.wav");
    assert.equal(await slow?.read(new Uint8Array(10), 0), 10);
  }
  await bucket.put("next.wav", pieces(), SIZE_BYTES, "audio/wav");
});

test("servers that start at the same time do not delete what the other one looks for", async (context) => {
  const { store, bucket } = await stand(context);
  await Promise.all([bucket.check(), bucket.check()]);
  const written = store.requests.filter((request) => request.startsWith("PUT "));
  assert.equal(new Set(written).size, 2);
  assert.equal(store.objects.size, 0);
});

test("a store in which nothing moves is given up", async (context) => {
  const { store, bucket, clock, changes } = await stand(context);
  store.fault = { kind: "silence" };
  const sizeOf = bucket.sizeOf("call.wav");
  const refused = assert.rejects(sizeOf, fault("away", /nothing moved for 30 seconds/));
  await changes.until("the request", () => store.requests[0]);
  passInUndici(3_600_000);
  // Its connection would be gone by then.
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  clock.advance(STALL_MAX_MS);
  await refused;
  assert.equal(clock.pendingTimerCount, 0);
});

test("a download that pauses goes on, as long as the clock of the process allows it", async (context) => {
  // More than the system keeps for the two ends: what is written has been read.
  const first = Buffer.alloc(16_000_000, 1);
  const rest = Buffer.alloc(1_000, 2);
  const endpoint = await httpService(context, (_request, response) => {
    response.writeHead(206, { "content-length": first.length + rest.length });
    response.write(first, () => {
      passInUndici(3_600_000);
      response.end(rest);
    });
  });
  const { bucket } = await stand(context, { endpoint });
  const read = await bucket.read("call.wav", 0, first.length + rest.length);
  assert.ok(read !== undefined && Buffer.concat([first, rest]).equals(read));
});

test("a store that is away, or says that it may be back, may be asked again", async (context) => {
  const { store, bucket } = await stand(context);
  store.fault = { kind: "answer", status: 503, code: "SlowDown" };
  await assert.rejects(bucket.check(), fault("away", /answers 503 \(SlowDown\)/));
  await store.stop();
  await assert.rejects(bucket.check(), fault("away", /cannot be reached/));
});

for (const [what, wrong, message] of [
  ["bucket", { name: "letters" }, /there is no such bucket/],
  ["key", { accessKeyId: "unknown" }, /RECORDINGS_ACCESS_KEY_ID is not known/],
  ["secret", { secretAccessKey: "wrong" }, /RECORDINGS_SECRET_ACCESS_KEY does not belong/],
  ["region", { region: "us-west-2" }, /set RECORDINGS_REGION; the bucket says it is in eu-c/],
] as const) {
  test(`a wrong ${what} is told in words, and no secret`, async (context) => {
    const { bucket } = await stand(context, wrong);
    await assert.rejects(bucket.check(), (error) => {
      assert.ok(!String(error).includes("secret-of"));
      return fault("refused", message)(error);
    });
  });
}

test("a refusal is read in however many pieces it comes, its first 16 KiB", async (context) => {
  const code = "<Code>SlowDown</Code>";
  for (const [before, message] of [
    [0, /answers 503 \(SlowDown\)$/],
    [16_384 - code.length, /answers 503 \(SlowDown\)$/],
    [16_385 - code.length, /answers 503$/],
  ] as const) {
    const text = " ".repeat(before) + code;
    const endpoint = await httpService(context, (_request, response) => {
      response.writeHead(503);
      // Each is a chunk of HTTP, which is read by itself.
      response.write(text.slice(0, before + 8));
      response.end(text.slice(before + 8));
    });
    const { bucket } = await stand(context, { endpoint });
    await assert.rejects(bucket.check(), fault("away", message));
  }
});

test("a key that may only read is told what it lacks", async (context) => {
  const { store, bucket } = await stand(context);
  store.fault = { kind: "answer", status: 403, code: "AccessDenied" };
  await assert.rejects(bucket.check(), fault("refused", /s3:PutObject/));
});

test("an upload whose bytes break off leaves nothing, and its connection is no more in use", async (context) => {
  const { store, bucket } = await stand(context);
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(BYTES.subarray(0, 100_000));
    throw new Error("the disk cannot be read");
  }
  await assert.rejects(bucket.put("call.wav", broken(), SIZE_BYTES, "audio/wav"), {
    message: "the disk cannot be read",
  });
  assert.equal(store.objects.size, 0);
  await bucket.check();
});

test("a bucket is named as its operator knows it", async (context) => {
  const { bucket } = await stand(context, { name: "calls", prefix: "a/", endpoint: undefined });
  assert.equal(placeOf(bucket.settings), "s3://calls/a/");
  const elsewhere = { ...bucket.settings, endpoint: "https://store.example.com" };
  assert.equal(placeOf(elsewhere), "s3://calls/a/ at https://store.example.com");
});
