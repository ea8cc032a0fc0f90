import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BARGE_IN_ACTIONS,
  BARGE_IN_REASONS,
  BARGE_INS_PER_TURN_MAX,
  CONTINUATIONS,
  END_OF_TURN_REASONS,
} from "../../engine/conversation/reasons.js";
import { readPages } from "./pages.js";

function pageText(path: string): string {
  return readPages().find((page) => page.path === path)?.text ?? "";
}

const SECTION =
  pageText("docs/guides/how-a-turn-works.md")
    .split(/^## /m)
    .find((each) => each.startsWith("Why it ended, stopped or went on\n")) ?? "";

/** The first cells of each of its tables. */
const TABLES = SECTION.split(/^\| Reason \|.*\n/m)
  .slice(1)
  .map((text) => Array.from(text.matchAll(/^\| `(\w+)` \|/gm), ([, reason]) => reason));

test("the page of a turn has every reason once, in the order of the lists, and no other", () => {
  assert.deepEqual(TABLES, [[...END_OF_TURN_REASONS], [...BARGE_IN_REASONS]]);
});

test("the page of a turn has every action, every reason to wait longer, and the limit", () => {
  for (const word of [...BARGE_IN_ACTIONS, ...CONTINUATIONS]) {
    assert.ok(SECTION.includes(`\`${word}\``), word);
  }
  assert.ok(SECTION.includes(`at most ${BARGE_INS_PER_TURN_MAX}: the first 15`));
  const events = `at\n  most ${BARGE_INS_PER_TURN_MAX + 1} \`bargeIn\` events`;
  assert.ok(pageText("docs/reference/rest.md").includes(events));
});
