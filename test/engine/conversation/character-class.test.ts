import assert from "node:assert/strict";
import { test } from "node:test";
import {
  beginsUnspaced,
  isCloser,
  isHighSurrogate,
  isOpener,
  isPausedBySpace,
  isSpace,
  isTerminator,
  isWideClauseMark,
  isWideTerminator,
} from "../../../engine/conversation/sentences.js";

/** All of the Basic Multilingual Plane that a question says yes to. */
function charactersThat(isOne: (code: number) => boolean): string {
  const codes = Array.from({ length: 0x1_0000 }, (_, code) => code);
  return String.fromCharCode(...codes.filter(isOne));
}

test("a new line, an ellipsis and every terminal of Unicode's can end a sentence, but not the stops inside of numbers", () => {
  const terminal = /^\p{Sentence_Terminal}$/u;
  const inNumbers = "\u2024\ufe52\uff0e";
  const ends = charactersThat((code) => {
    const mark = String.fromCharCode(code);
    return "\n…".includes(mark) || (terminal.test(mark) && !inNumbers.includes(mark));
  });
  assert.equal(charactersThat(isTerminator), ends);
});

test("exactly these end one, or a clause, without a space after them", () => {
  assert.equal(charactersThat(isWideTerminator), "。！？｡");
  assert.equal(charactersThat(isWideClauseMark), "、，：；");
});

test("exactly these stay with the sentence that they close, or open the next one", () => {
  assert.equal(
    charactersThat(isCloser),
    "\"')*]_`}~»’”›」』】》〉）］｝".split("").toSorted().join(""),
  );
  assert.equal(
    charactersThat(isOpener),
    "\"'(*-[_`{~¡«¿–—‘“‹「『【《〈（".split("").toSorted().join(""),
  );
});

test("a space is what trimming removes", () => {
  const trimmed = charactersThat((code) => String.fromCharCode(code).trim() === "");
  assert.equal(charactersThat(isSpace), trimmed);
});

test("every pictograph and every wide character may begin a sentence with no space before it", () => {
  const some = charactersThat(beginsUnspaced);
  assert.ok(some.startsWith("¡¿☀☁☂"));
  assert.equal(some.length, "¡¿".length + 0x1_0000 - "☀".charCodeAt(0));
});

test("a space is a pause where words are written together", () => {
  const scripts = /[\p{sc=Thai}\p{sc=Lao}\p{sc=Tibetan}\p{sc=Myanmar}\p{sc=Khmer}]/u;
  // Later additions to a script, for minority languages, come behind.
  const written = charactersThat(
    (code) => code < 0x1800 && scripts.test(String.fromCharCode(code)),
  );
  const paused = new Set(charactersThat(isPausedBySpace));
  const missing = Array.from(written).filter((character) => !paused.has(character));
  assert.equal(missing.join(""), "");
  const others = Array.from(paused).filter((one) => /\P{Cn}/u.test(one) && !scripts.test(one));
  assert.equal(others.join(""), "฿࿕࿖࿗࿘");
});

test("the first half of a surrogate pair is recognized, after which nothing may be cut", () => {
  const firstHalves = charactersThat(isHighSurrogate);
  assert.equal(firstHalves.length, 0x400);
  assert.ok(Array.from(firstHalves).every((half) => /^.$/su.test(`${half}\udc00`)));
});
