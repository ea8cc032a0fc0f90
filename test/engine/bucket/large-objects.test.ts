import assert from "node:assert/strict";
import { test } from "node:test";
import { ObjectReader } from "../../../engine/bucket/object-reader.js";
import { httpService } from "../../doubles/http-service.js";
import { passInUndici } from "../../doubles/undici-clock.js";
import { bucketInStore } from "./object-store-stand.js";

const SIZE_BYTES = 1_000_000;
const BYTES = Uint8Array.from({ length: SIZE_BYTES }, (_, index) => index % 251);

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

test("an object that is uploaded in parts can be read from any position until it is removed", async (context) => {
  const { store, bucket, clock } = await bucketInStore(context);
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

test("a download that breaks off resumes twice and then fails", async (context) => {
  const { store, bucket } = await bucketInStore(context);
  await bucket.put("call.wav", pieces(), SIZE_BYTES, "audio/wav");
  const reader = await ObjectReader.open(bucket, "call.wav");
  assert.ok(reader);
  store.fault = { kind: "break", behindBytes: 100_000 };
  assert.ok((await readAll(reader)).equals(BYTES));
  store.fault = { kind: "break", behindBytes: 0 };
  const requestsBefore = store.requests.length;
  await assert.rejects(reader.read(new Uint8Array(10), 0), {
    kind: "away",
    message: /cannot be reached/,
  });
  assert.equal(store.requests.length - requestsBefore, 3);
});

test("a slow reader of recordings does not block others from the bucket", {
  timeout: 20_000,
}, async (context) => {
  const { bucket } = await bucketInStore(context);
  await bucket.put("call.wav", pieces(), SIZE_BYTES, "audio/wav");
  for (let reader = 0; reader < 20; reader += 1) {
    const slow = await ObjectReader.open(bucket, "call.wav");
    assert.equal(await slow?.read(new Uint8Array(10), 0), 10);
  }
  await bucket.put("next.wav", pieces(), SIZE_BYTES, "audio/wav");
});

test("a download that pauses continues, within the process's time limit", async (context) => {
  // More than the socket buffers hold, so the client has read most of it when the write is done.
  const first = Buffer.alloc(16_000_000, 1);
  const rest = Buffer.alloc(1_000, 2);
  const endpoint = await httpService(context, (_request, response) => {
    response.writeHead(206, { "content-length": first.length + rest.length });
    response.write(first, () => {
      passInUndici(3_600_000);
      response.end(rest);
    });
  });
  const { bucket } = await bucketInStore(context, { endpoint });
  const read = await bucket.read("call.wav", 0, first.length + rest.length);
  assert.ok(read !== undefined && Buffer.concat([first, rest]).equals(read));
});
