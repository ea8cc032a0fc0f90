import assert from "node:assert/strict";

const ANYTHING = "…";

/** Fails unless the lines of `expected` are in `printed`, one after another; `…` stands for anything within a line. */
export function expectPrinted(printed: string, expected: string): void {
  let rest = printed;
  for (const line of expected.split("\n")) {
    const found = patternOf(line).exec(rest);
    assert.ok(found, `printed no further line "${line}", but\n${rest}`);
    rest = rest.slice(found.index + found[0].length);
  }
}

function patternOf(line: string): RegExp {
  const parts = line.split(ANYTHING).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const start = line.startsWith(ANYTHING) ? "" : "^";
  const end = line.endsWith(ANYTHING) ? "" : "$";
  return new RegExp(start + parts.join(".*?") + end, "m");
}
