import assert from "node:assert/strict";
import { test } from "node:test";
import { alternate } from "../../bench/alternation.js";

test("what is compared is measured there and back again", async () => {
  const order: string[] = [];
  const measure = (name: string) => () => {
    order.push(name);
    return Promise.resolve(`${name}${order.length}`);
  };
  const results = await alternate(3, ["a", "b", "c"].map(measure));
  assert.equal(order.join(""), "abccbaabc");
  assert.deepEqual(results, [
    ["a1", "a6", "a7"],
    ["b2", "b5", "b8"],
    ["c3", "c4", "c9"],
  ]);
});
