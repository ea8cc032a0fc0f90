import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  escapeText,
  parametersOf,
  unescapeText,
} from "../../../storage/postgres/postgres-values.js";

const PIECES = ["\u0000", "\u001a", "0", "1", "\\", "u0000", "u001a", '"', "é", "word"];

test("every value is read back as written, and PostgreSQL never receives the character NUL", () => {
  const texts = fc.array(fc.constantFrom(...PIECES)).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(texts, (text) => {
      assert.equal(unescapeText(escapeText(text)), text);
      assert.ok(!escapeText(text).includes("\u0000"));
      const json = escapeText(JSON.stringify({ text }));
      assert.deepEqual(JSON.parse(unescapeText(json)), { text });
      assert.ok(!Object.values<string>(JSON.parse(json)).some((value) => value.includes("\u0000")));
    }),
  );
});

test("only strings among a statement's values are changed", () => {
  assert.deepEqual(parametersOf(["a\u0000", 1, null, true]), ["a\u001a0", 1, null, true]);
});

test("a text without such characters is not changed", () => {
  const text = "“¿Sí?” \\u00e9 \\u0001 今日は";
  assert.equal(escapeText(text), text);
});
