import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isSpace,
  isTerminator,
  isWideClauseMark,
  isWideTerminator,
} from "../../../engine/speech/character-class.js";

/** All of the Basic Multilingual Plane that a question says yes to. */
function charactersThat(isOne: (code: number) => boolean): string {
  const codes = Array.from({ length: 0x1_0000 }, (_, code) => code);
  return String.fromCharCode(...codes.filter(isOne));
}

test("exactly these characters can end a sentence", () => {
  assert.equal(charactersThat(isTerminator), "\n!.?։؟۔।။።។…‼⁇⁈⁉。！？｡");
});

test("exactly these end one, or a clause, without a space after them", () => {
  assert.equal(charactersThat(isWideTerminator), "。！？｡");
  assert.equal(charactersThat(isWideClauseMark), "、，：；");
});

test("a space is what trimming removes", () => {
  const trimmed = charactersThat((code) => String.fromCharCode(code).trim() === "");
  assert.equal(charactersThat(isSpace), trimmed);
});
