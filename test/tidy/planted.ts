import assert from "node:assert/strict";
import type { FileRule } from "./source-file.js";

export type Planted = readonly [path: string, text: string];

/** Each of `wrong` must be found by the rule, none of `right`. */
export function check(rule: FileRule, wrong: readonly Planted[], right: readonly Planted[]): void {
  for (const [path, text] of wrong) {
    assert.ok(rule({ path, text }).length > 0, `not found in ${path}: ${text}`);
  }
  for (const [path, text] of right) assert.deepEqual(rule({ path, text }), [], `${path}: ${text}`);
}
