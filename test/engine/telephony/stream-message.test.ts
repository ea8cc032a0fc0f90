import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { Parameters, parseJson, WireNumber } from "../../../engine/telephony/stream-message.js";

test("whole numbers are read as numbers and as texts, from nothing to fifteen digits", () => {
  const read = (value: unknown) => {
    const parsed = v.safeParse(WireNumber, value);
    return parsed.success ? parsed.output : undefined;
  };
  assert.deepEqual(
    [0, "0", 7, "007", "999999999999999"].map(read),
    [0, 0, 7, 7, 999_999_999_999_999],
  );
  for (const wrong of [-1, "-1", 0.5, "0.5", "", "1000000000000000", 2 ** 53, "x", null, true]) {
    assert.equal(read(wrong), undefined, String(wrong));
  }
});

test("of parameters, numbers and truth values are texts, and what is nested is left out", () => {
  const given = { a: "1", b: 2, c: false, d: { e: 1 }, f: null, g: ["h"] };
  assert.deepEqual(v.parse(Parameters, given), { a: "1", b: "2", c: "false" });
});

test("a text that is no JSON tells nothing", () => {
  assert.deepEqual(parseJson('{"a":1}'), { a: 1 });
  assert.equal(parseJson("{"), undefined);
});
