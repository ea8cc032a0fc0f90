import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { AudioRing } from "../../../../engine/vendors/recognizer-stream/audio-ring.js";

describe("the ring of the newest audio", () => {
  it("gives back what was written, as far as it reaches", () => {
    const capacity = 16;
    const writes = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 });
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
});
