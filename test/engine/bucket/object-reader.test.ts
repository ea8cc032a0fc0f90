import assert from "node:assert/strict";
import { test } from "node:test";
import { BucketError } from "../../../engine/bucket/bucket.js";
import { ObjectReader } from "../../../engine/bucket/object-reader.js";

const PIECE_BYTES = 262_144;

/** A reader of an object of this size whose first `breaks` requests fail, and the requests to the store. */
async function objectOf(sizeBytes: number, breaks = 0, kind: "away" | "refused" = "away") {
  const asked: (readonly [position: number, sizeBytes: number])[] = [];
  const read = (_key: string, position: number, count: number) => {
    asked.push([position, count]);
    if (asked.length <= breaks) return Promise.reject(new BucketError(kind, "it broke off"));
    return Promise.resolve(Uint8Array.from({ length: count }, (_, n) => (position + n) % 251));
  };
  const reader = await ObjectReader.open({ read, sizeOf: () => Promise.resolve(sizeBytes) }, "key");
  assert.ok(reader);
  return { reader, asked };
}

test("an object is fetched in pieces of 256 KiB, up to its end", async () => {
  const { reader, asked } = await objectOf(PIECE_BYTES + 10);
  const buffer = new Uint8Array(8);
  assert.equal(await reader.read(buffer, 0), 8);
  assert.equal(await reader.read(buffer, PIECE_BYTES - 1), 1);
  assert.equal(await reader.read(buffer, PIECE_BYTES), 8);
  assert.equal(buffer[0], PIECE_BYTES % 251);
  assert.equal(await reader.read(buffer, PIECE_BYTES + 9), 1);
  assert.equal(await reader.read(buffer, PIECE_BYTES + 10), 0);
  assert.equal(await reader.read(buffer, PIECE_BYTES + 11), 0);
  assert.deepEqual(asked, [
    [0, PIECE_BYTES],
    [PIECE_BYTES, 10],
  ]);
  assert.equal(await reader.read(buffer, 3), 8, "bytes before the current piece");
  assert.equal(buffer[0], 3);
});

test("a fetch that breaks off is repeated twice, and one that is refused is not repeated", async () => {
  const buffer = new Uint8Array(8);
  const twice = await objectOf(10, 2);
  assert.equal(await twice.reader.read(buffer, 4), 6);
  for (const [kind, breaks, count] of [
    ["away", 3, 3],
    ["refused", 1, 1],
  ] as const) {
    const { reader, asked } = await objectOf(10, breaks, kind);
    await assert.rejects(reader.read(buffer, 4), BucketError);
    assert.deepEqual(
      asked,
      Array.from({ length: count }, () => [4, 6]),
    );
  }
});

test("a fetched piece is not requested again until the reader is closed", async () => {
  const { reader, asked } = await objectOf(10);
  const buffer = new Uint8Array(8);
  for (const position of [2, 2, 9, 9]) await reader.read(buffer, position);
  assert.deepEqual(asked, [[2, 8]]);
  await reader.close();
  assert.equal(await reader.read(buffer, 2), 8);
  await reader.close();
  assert.equal(await reader.read(buffer, 9), 1, "the last byte alone");
  assert.deepEqual(asked, [
    [2, 8],
    [2, 8],
    [9, 1],
  ]);
});
