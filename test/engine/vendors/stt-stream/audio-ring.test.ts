import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { AudioRing } from "../../../../engine/vendors/stt-stream/audio-feed.js";

describe("the ring of the newest audio", () => {
  it("returns what was written, as far as it reaches", () => {
    const capacity = 16;
    // Otherwise few pieces would be longer than the ring.
    const piece = fc.uint8Array({ maxLength: 40, size: "max" });
    const writes = fc.array(piece, { maxLength: 12 });
    fc.assert(
      fc.property(writes, fc.nat(60), fc.nat(60), (parts, from, length) => {
        const ring = new AudioRing(capacity);
        for (const part of parts) ring.write(part);
        const all = Buffer.concat(parts);
        assert.equal(ring.endByte, all.length);
        assert.equal(ring.startByte, Math.max(0, all.length - capacity));
        const expected = all.subarray(
          Math.max(from, ring.startByte),
          Math.max(from + length, ring.startByte),
        );
        assert.deepEqual(Buffer.from(ring.read(from, from + length)), expected);
      }),
    );
  });

  it("keeps its newest bytes and their places when its room changes, and holds more or fewer from then on", () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 });
    fc.assert(
      fc.property(parts, parts, fc.integer({ min: 1, max: 60 }), (before, later, capacity) => {
        const ring = new AudioRing(16);
        for (const part of before) ring.write(part);
        const keptFrom = Math.max(ring.startByte, ring.endByte - capacity);
        ring.resize(capacity);
        assert.equal(ring.startByte, keptFrom);
        for (const part of later) ring.write(part);
        const all = Buffer.concat([...before, ...later]);
        assert.equal(ring.endByte, all.length);
        assert.equal(ring.startByte, Math.max(keptFrom, all.length - capacity));
        assert.deepEqual(Buffer.from(ring.read(0, all.length)), all.subarray(ring.startByte));
      }),
    );
  });
});
