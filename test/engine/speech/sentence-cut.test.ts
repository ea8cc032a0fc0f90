import assert from "node:assert/strict";
import { test } from "node:test";
import { lastClauseEnd } from "../../../engine/speech/sentence-cut.js";

test("a clause ends before a conjunction that is whole by the place that is looked at last", () => {
  const text = "I came and he went";
  const behindAnd = text.indexOf(" he");
  assert.equal(lastClauseEnd(text, 0, behindAnd), text.indexOf(" and"));
  assert.equal(lastClauseEnd(text, 0, behindAnd - 1), -1);
});
