import assert from "node:assert/strict";
import { test } from "node:test";
import { OrganizationCounts } from "../../engine/organization-counts.js";

test("each organization has its own count, and one that has none is not remembered", () => {
  const counts = new OrganizationCounts();
  for (const orgId of ["a", "b", "a"]) counts.add(orgId);
  assert.deepEqual([counts.of("a"), counts.of("b"), counts.of("c")], [2, 1, 0]);
  counts.remove("a");
  counts.remove("b");
  counts.remove("c");
  assert.deepEqual([counts.of("a"), counts.of("b"), counts.orgIds], [1, 0, ["a"]]);
  counts.add("b");
  assert.equal(counts.of("b"), 1);
});
