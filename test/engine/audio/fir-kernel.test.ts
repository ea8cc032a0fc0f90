import assert from "node:assert/strict";
import { test } from "node:test";
import { toSample } from "../../../engine/audio/fir-filter.js";

test("a sample is the nearest of 16 bits, and what is too loud is cut off", () => {
  assert.deepEqual([0.4, 0.6, -7.6].map(toSample), [0, 1, -8]);
  assert.deepEqual([32_767.4, 32_767.6, 90_000].map(toSample), [32_767, 32_767, 32_767]);
  assert.deepEqual([-32_768.4, -32_768.6, -90_000].map(toSample), [-32_768, -32_768, -32_768]);
});
