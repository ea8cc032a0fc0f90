import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeState } from "../../../engine/nodes/node-list.js";

const TAKING = { isLost: 0, silentMs: 0, isDraining: 0, isTaking: 1 };

test("a server that was taken for dead is silent, as is one that has just been silent too long", () => {
  assert.equal(nodeState({ ...TAKING, isLost: 1 }), "silent");
  assert.equal(nodeState({ ...TAKING, silentMs: 15_000 }), "silent");
  assert.equal(nodeState({ ...TAKING, silentMs: 14_999 }), "taking");
});

test("a server that is to end its calls is draining, whether it has room or not", () => {
  assert.equal(nodeState({ ...TAKING, isDraining: 1 }), "draining");
  assert.equal(nodeState({ ...TAKING, isDraining: 1, isTaking: 0 }), "draining");
  assert.equal(nodeState({ ...TAKING, isTaking: 0 }), "full");
});
