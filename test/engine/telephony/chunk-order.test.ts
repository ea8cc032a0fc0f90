import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { ChunkOrder } from "../../../engine/telephony/media-stream.js";

const CHUNKS_HELD_MAX = 5;
/** The numbers that come out, for the numbers that go in. */
function ordered(order: ChunkOrder, chunks: readonly number[]): readonly number[] {
  return chunks.flatMap((chunk) => {
    const out = order.add(chunk, Uint8Array.of(chunk & 0xff)) ?? [];
    for (const [number, bytes] of out) assert.deepEqual([...bytes], [number & 0xff]);
    return out.map(([number]) => number);
  });
}

test("pieces that changed places by less than the window come out in order, none lost", () => {
  const delays = fc.array(fc.integer({ min: 0, max: CHUNKS_HELD_MAX - 1 }), { maxLength: 60 });
  fc.assert(
    fc.property(delays, (late) => {
      const sent = late.map((_, n) => n + 1);
      const arrived = sent.toSorted(
        (one, other) => one + (late[one - 1] ?? 0) - (other + (late[other - 1] ?? 0)),
      );
      const order = new ChunkOrder();
      const out = [...ordered(order, arrived), ...order.end().map(([number]) => number)];
      assert.deepEqual(out, sent);
    }),
  );
});

test("a lost piece holds up no more than the window", () => {
  const order = new ChunkOrder();
  assert.deepEqual(ordered(order, [1, 3, 4, 5, 6, 7]), [1]);
  assert.deepEqual(ordered(order, [8]), [3, 4, 5, 6, 7, 8]);
  assert.deepEqual(ordered(order, [9]), [9]);
});

test("numbers that begin elsewhere or begin anew are followed", () => {
  const order = new ChunkOrder();
  const first = ordered(order, [100, 101, 102, 103, 104, 105, 106]);
  assert.deepEqual(first, [100, 101, 102, 103, 104, 105, 106]);
  assert.deepEqual(ordered(order, [1, 2, 3, 4, 5]), []);
  assert.deepEqual(ordered(order, [6, 7, 8]), [6, 7, 8]);
});

test("what was held of before is not heard behind numbers that begin anew", () => {
  const order = new ChunkOrder();
  assert.deepEqual(
    ordered(order, [100, 101, 102, 103, 104, 105, 107]),
    [100, 101, 102, 103, 104, 105],
  );
  assert.deepEqual(ordered(order, [1, 2, 3, 4, 5, 6]), [6]);
  assert.deepEqual(order.end(), []);
});

test("a stream that counts from below one is followed after as many pieces as one that begins anew", () => {
  const order = new ChunkOrder();
  assert.deepEqual(ordered(order, [-7, -6, -5, -4, -3]), []);
  assert.deepEqual(ordered(order, [-2, -1]), [-2, -1]);
});

test("whatever the numbers are, they come out rising or not at all, and no more are held than the window has", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(30), { maxLength: 100 }), (chunks) => {
      const order = new ChunkOrder();
      const out = ordered(order, chunks);
      assert.ok(out.length <= chunks.length);
      assert.ok(order.end().length <= CHUNKS_HELD_MAX);
    }),
  );
});

test("a held piece does not change when its frame's memory is used again", () => {
  const order = new ChunkOrder();
  const memory = Uint8Array.of(2);
  order.add(2, memory);
  memory[0] = 9;
  assert.deepEqual(order.add(1, Uint8Array.of(1)), [
    [1, Uint8Array.of(1)],
    [2, Uint8Array.of(2)],
  ]);
});

test("what still waits is told at the end, in order and once", () => {
  const order = new ChunkOrder();
  assert.deepEqual(ordered(order, [9, 7, 12, 8]), []);
  assert.deepEqual(
    order.end().map(([number]) => number),
    [7, 8, 9, 12],
  );
  assert.deepEqual(order.end(), []);
});

test("a piece that comes twice is late the second time, whether the first one waits or is out", () => {
  const order = new ChunkOrder();
  const piece = Uint8Array.of(1);
  assert.deepEqual(order.add(3, piece), []);
  assert.equal(order.add(3, piece), undefined);
  assert.equal(order.add(1, piece)?.length, 1);
  assert.equal(order.add(1, piece), undefined);
});

test("late pieces between those that come in time never make the numbers begin anew", () => {
  const order = new ChunkOrder();
  for (let number = 1; number <= 20; number += 1) {
    assert.deepEqual(ordered(order, [number, 1]), [number], `${number}`);
  }
});
