import assert from "node:assert/strict";
import { test } from "node:test";
import { derivedUuid } from "../../../engine/security/derived-uuid.js";

test("any 16 bytes give a UUID of version 8, and further bytes are ignored", () => {
  const uuids = [
    Buffer.alloc(16),
    Buffer.alloc(32, 0xff),
    Buffer.from(Array.from({ length: 16 }, (_, index) => index)),
    Buffer.alloc(16, 0x67),
  ].map(derivedUuid);
  assert.deepEqual(uuids, [
    "00000000-0000-8000-8000-000000000000",
    "ffffffff-ffff-8fff-bfff-ffffffffffff",
    "00010203-0405-8607-8809-0a0b0c0d0e0f",
    "67676767-6767-8767-a767-676767676767",
  ]);
});
