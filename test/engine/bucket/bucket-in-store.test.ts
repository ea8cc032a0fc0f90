import assert from "node:assert/strict";
import { test } from "node:test";
import { BucketError, placeOf, STALL_MAX_MS } from "../../../engine/bucket/bucket.js";
import { httpService } from "../../doubles/http-service.js";
import { passInUndici } from "../../doubles/undici-clock.js";
import { bucketInStore } from "./object-store-stand.js";

function fault(kind: "away" | "refused", message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof BucketError, String(error));
    assert.match(error.message, message);
    assert.equal(error.kind, kind);
    return true;
  };
}

test("servers that start at the same time do not delete each other's check objects", async (context) => {
  const { store, bucket } = await bucketInStore(context);
  await Promise.all([bucket.check(), bucket.check()]);
  const written = store.requests.filter((request) => request.startsWith("PUT "));
  assert.equal(new Set(written).size, 2);
  assert.equal(store.objects.size, 0);
});

test("a store that stalls times out", async (context) => {
  const { store, bucket, clock, changes } = await bucketInStore(context);
  store.fault = { kind: "silence" };
  const sizeOf = bucket.sizeOf("call.wav");
  const refused = assert.rejects(sizeOf, fault("away", /no progress for 30 seconds/));
  await changes.until("the request", () => store.requests[0]);
  passInUndici(3_600_000);
  // If undici timed out, the connection would be closed after these turns.
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  clock.advance(STALL_MAX_MS);
  await refused;
  assert.equal(clock.pendingTimerCount, 0);
});

test("an unreachable store and a temporary error are retryable", async (context) => {
  const { store, bucket } = await bucketInStore(context);
  store.fault = { kind: "answer", status: 503, code: "SlowDown" };
  await assert.rejects(bucket.check(), fault("away", /answers 503 \(SlowDown\)/));
  await store.stop();
  await assert.rejects(bucket.check(), fault("away", /cannot be reached/));
});

for (const [what, wrong, message] of [
  ["bucket", { name: "letters" }, /there is no such bucket/],
  ["key", { accessKeyId: "unknown" }, /does not know RECORDINGS_ACCESS_KEY_ID/],
  ["secret", { secretAccessKey: "wrong" }, /RECORDINGS_SECRET_ACCESS_KEY does not belong/],
  ["region", { region: "us-west-2" }, /set RECORDINGS_REGION; the bucket says it is in eu-c/],
] as const) {
  test(`a wrong ${what} is reported in plain words, without a secret`, async (context) => {
    const { bucket } = await bucketInStore(context, wrong);
    await assert.rejects(bucket.check(), (error) => {
      assert.ok(!String(error).includes("secret-of"));
      return fault("refused", message)(error);
    });
  });
}

test("the first 16 KiB of an error response are read, in any number of chunks", async (context) => {
  const code = "<Code>SlowDown</Code>";
  for (const [before, message] of [
    [0, /answers 503 \(SlowDown\)$/],
    [16_384 - code.length, /answers 503 \(SlowDown\)$/],
    [16_385 - code.length, /answers 503$/],
  ] as const) {
    const text = " ".repeat(before) + code;
    const endpoint = await httpService(context, (_request, response) => {
      response.writeHead(503);
      // Each write is an HTTP chunk, which arrives separately.
      response.write(text.slice(0, before + 8));
      response.end(text.slice(before + 8));
    });
    const { bucket } = await bucketInStore(context, { endpoint });
    await assert.rejects(bucket.check(), fault("away", message));
  }
});

test("a read-only key gets an error with the missing permission", async (context) => {
  const { store, bucket } = await bucketInStore(context);
  store.fault = { kind: "answer", status: 403, code: "AccessDenied" };
  await assert.rejects(bucket.check(), fault("refused", /s3:PutObject/));
});

test("an upload whose source fails stores nothing, and its connection is closed", async (context) => {
  const { store, bucket } = await bucketInStore(context);
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(new Uint8Array(100_000));
    throw new Error("the disk cannot be read");
  }
  await assert.rejects(bucket.put("call.wav", broken(), 1_000_000, "audio/wav"), {
    message: "the disk cannot be read",
  });
  assert.equal(store.objects.size, 0);
  await bucket.check();
});

test("a bucket is named in the form that its operator configures", async (context) => {
  const { bucket } = await bucketInStore(context, {
    name: "calls",
    prefix: "a/",
    endpoint: undefined,
  });
  assert.equal(placeOf(bucket.settings), "s3://calls/a/");
  const elsewhere = { ...bucket.settings, endpoint: "https://store.example.com" };
  assert.equal(placeOf(elsewhere), "s3://calls/a/ at https://store.example.com");
});
