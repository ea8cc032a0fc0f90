import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { STATUS_BY_CODE } from "../../api/http/answer/http-error.js";
import {
  ERROR_CODES,
  PROCESS_ERROR_CODES,
  REQUEST_ERROR_CODES,
  VOICE_ERROR_CODES,
} from "../../storage/parley-error.js";
import { ROOT } from "./pages.js";

const PAGE = readFileSync(join(ROOT, "docs/reference/errors.md"), "utf8");

/** The cells of every row of the section's table. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const section = PAGE.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? "";
  return [...section.matchAll(/^\| `.*\|$/gm)].map(([row]) =>
    row
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
}

test("the page has every code of an answer with its status and meaning, and no other", () => {
  assert.deepEqual(
    rowsOf("Answers").map((cells) => cells.slice(0, 3)),
    Object.entries(REQUEST_ERROR_CODES).map(([code, meaning]) => [
      `\`${code}\``,
      String(Object.entries(STATUS_BY_CODE).find(([each]) => each === code)?.[1]),
      meaning,
    ]),
  );
});

test("the page has every code of calls and of logs with its meaning, and no other", () => {
  for (const [heading, codes] of [
    ["Calls", VOICE_ERROR_CODES],
    ["Logs", PROCESS_ERROR_CODES],
  ] as const) {
    assert.deepEqual(
      rowsOf(heading).map((cells) => cells.slice(0, 2)),
      Object.entries(codes).map(([code, meaning]) => [`\`${code}\``, meaning]),
    );
  }
});

test("no code is in two groups, and each is lower snake case with a sentence", () => {
  const groups = [REQUEST_ERROR_CODES, VOICE_ERROR_CODES, PROCESS_ERROR_CODES];
  const count = groups.reduce((sum, codes) => sum + Object.keys(codes).length, 0);
  assert.equal(Object.keys(ERROR_CODES).length, count);
  for (const [code, meaning] of Object.entries(ERROR_CODES)) {
    assert.match(code, /^[a-z]+(_[a-z]+)*$/);
    assert.match(meaning, /^[A-Z].*\.$/, code);
  }
});
