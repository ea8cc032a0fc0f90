import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as check, property, uint8Array } from "fast-check";
import { WholeSamples } from "../../../engine/audio/whole-samples.js";

test("however audio is cut, whole samples come out, in order and without a gap", () => {
  check(
    property(array(uint8Array({ maxLength: 9 }), { maxLength: 40 }), (pieces) => {
      const wholeSamples = new WholeSamples();
      const taken = pieces.map((piece) => Buffer.from(wholeSamples.take(piece)));
      for (const piece of taken) assert.equal(piece.length % 2, 0);
      const given = Buffer.concat(pieces);
      assert.deepEqual(Buffer.concat(taken), given.subarray(0, given.length - (given.length % 2)));
    }),
  );
});

test("what is whole already is not copied", () => {
  const piece = Uint8Array.of(1, 2, 3, 4);
  assert.equal(new WholeSamples().take(piece), piece);
});
