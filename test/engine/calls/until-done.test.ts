import assert from "node:assert/strict";
import { test } from "node:test";
import { untilDone } from "../../../engine/calls/write-queue.js";

test("work is done again until it has succeeded, and not once more", async () => {
  const outcomes = [new Error("away"), undefined];
  let count = 0;
  const work = untilDone(() => {
    count += 1;
    const fault = outcomes.shift();
    return fault === undefined ? Promise.resolve() : Promise.reject(fault);
  });
  await assert.rejects(work(), /away/);
  await work();
  await work();
  assert.equal(count, 2);
});
