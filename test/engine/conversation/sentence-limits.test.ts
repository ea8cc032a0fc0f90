import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  EMPTY_SPLITTER,
  EMPTY_STREAMED_SPLITTER,
  splitToken,
  weightOf,
} from "../../../engine/conversation/sentences.js";
import { pieces, split } from "./streamed-text.js";

const FIRST_SENTENCE_WEIGHT = 80;
const SENTENCE_WEIGHT_MAX = 300;

test("a long first sentence is cut at the end of a clause, a later one once enough is ahead of the caller", () => {
  const long =
    "When you have found the little red box behind the door of the office, please open it and take the keys.";
  assert.deepEqual(split(pieces(long, 4)), [
    "When you have found the little red box behind the door of the office,",
    "please open it and take the keys.",
  ]);
  const soon = split(pieces(`Of course. ${long}`, 4));
  assert.deepEqual(soon[0], "Of course.");
  assert.ok(soon.length > 2, "the second would leave a hole after so short a first");
  const ahead = "This is a sentence of some length that the caller is hearing. ".repeat(5).trim();
  assert.deepEqual(split(pieces(`${ahead} ${long}`, 4)).at(-1), long);
});

test("a clause is cut at a semicolon, a dash, a conjunction and the wide marks, never inside a number", () => {
  const beginnings = [
    [
      "The office is open every day from eight to six;",
      "on Sundays it is closed the whole day long.",
    ],
    [
      "The office is open every day from eight to six —",
      "on Sundays it is closed the whole day long.",
    ],
    [
      "The office is open every day from eight to six -",
      "on Sundays it is closed the whole day long.",
    ],
    [
      "The office is open every day from eight to six",
      "and on Sundays it is closed the whole day long.",
    ],
    [
      "La oficina abre todos los días de ocho a seis",
      "y los domingos está cerrada durante todo el día.",
    ],
    ["因为今天的天气非常好，", "所以我们想和所有的朋友一起去那个很大的公园里散步。"],
  ] as const;
  for (const [first, second] of beginnings) {
    const joint = first.endsWith("，") ? "" : " ";
    assert.deepEqual(split(pieces(`${first}${joint}${second}`, 2)), [first, second]);
  }
  const number = `The price of all of these things that you have asked for together is about 1,000,000 euros today.`;
  assert.deepEqual(split([number]), [number]);
});

test("a clause of twenty characters is not cut off, one of twenty-one is", () => {
  const rest = "word ".repeat(16).trim();
  const begun = (characters: number) => `${"a".repeat(characters - 1)},`;
  assert.deepEqual(split([`${begun(21)} ${rest}.`]), [begun(21), `${rest}.`]);
  assert.deepEqual(split([`${begun(20)} ${rest}.`]), [`${begun(20)} ${rest}.`]);
});

test("a later sentence of eleven characters is joined with the next one, one of twelve is separate", () => {
  const [first, next] = ["This is how it begins.", "And this one follows it."];
  assert.deepEqual(split([`${first} It is so ok. ${next}`]), [first, "It is so ok.", next]);
  assert.deepEqual(split([`${first} It is so o. ${next}`]), [first, `It is so o. ${next}`]);
});

test("without any end a sentence is cut at a word when it reaches the limit", () => {
  const sentences = split(pieces("Of course. ".concat("word ".repeat(200)), 5));
  assert.equal(sentences[0], "Of course.");
  for (const sentence of sentences.slice(1)) {
    assert.ok(sentence.length <= SENTENCE_WEIGHT_MAX, `${sentence.length} characters`);
    assert.match(sentence, /^(?:word ?)+$/);
  }
});

test("a word longer than the limit is cut between whole characters", () => {
  const family = "👩‍👩‍👧‍👦";
  for (const sign of ["a", "u\u0308", "字", "𠀀", family]) {
    const text = `x${sign.repeat(400)}x`.repeat(2);
    const sentences = split([text]);
    for (const sentence of sentences) {
      assert.ok(sentence.length <= SENTENCE_WEIGHT_MAX);
      assert.equal(sentence.replaceAll(sign, "").replace(/^x{0,2}|x{0,2}$/g, ""), "", sign);
    }
  }
});

test("half a character at the limit waits for its other half", () => {
  for (const sentence of split(pieces("𠀀".repeat(200), 1))) assert.match(sentence, /^(?:𠀀)+$/u);
});

test("what is not settled within forty characters is no boundary", () => {
  assert.deepEqual(split([`We met in the U.S.${" ".repeat(39)}The end.`]), [
    "We met in the U.S.",
    "The end.",
  ]);
  const far = `We met in the U.S.${" ".repeat(40)}The end.`;
  assert.deepEqual(split([far]), [far]);
  const marks = `We met there${"!".repeat(60)} The end.`;
  assert.equal(split([marks]).join(" "), marks);
});

test("an LLM that writes endless punctuation is spoken meanwhile", () => {
  const { sentences } = splitToken(EMPTY_SPLITTER, `We met there${"!".repeat(400)}`);
  assert.match(sentences[0] ?? "", /^We met there!+$/);
});

test("what holds no letter and no digit is never given to speech", () => {
  for (const text of ["", "  \n ", "...", "***", "--- !?", "。！", "😀 👍", "-".repeat(5_000)]) {
    assert.deepEqual(split(pieces(text, 3)), [], text);
  }
  assert.deepEqual(split(["Done and dusted. ***"]), ["Done and dusted."]);
});

test("a reply of 10,000 words in one piece is split in time proportional to its length", () => {
  const sentences = split(["The quick brown fox jumps over it. ".repeat(1_400)]);
  assert.equal(sentences.length, 1_400);
  assert.ok(split(["a".repeat(200_000)]).length >= 200_000 / SENTENCE_WEIGHT_MAX);
  assert.deepEqual(split([" ".repeat(200_000)]), []);
  assert.ok(split([".".repeat(50_000)]).length === 0);
});

test("the caller never waits for more than the first clause once there is one", () => {
  const text = "well, ".repeat(100);
  const [first] = split([text]);
  assert.ok((first ?? "").length <= FIRST_SENTENCE_WEIGHT);
});

const talk = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "Hello",
        "Dr.",
        "e.g.",
        "3.14",
        "5 p.m.",
        "U.S.",
        "你好。",
        "「はい。」",
        "¿Qué?",
        "https://a.b/c.d",
        "...",
        "…",
        "!",
        "?",
        ". ",
        ".\n",
        "\n1. ",
        ", ",
        " - ",
        " and ",
        '."',
        ") ",
        "**",
        "👍🏽",
        "x".repeat(90),
      ),
      fc.string({ unit: "grapheme", maxLength: 12 }),
      fc.constant(" "),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""));

test("nothing is lost, doubled or moved: only spaces and what cannot be spoken", () => {
  fc.assert(
    fc.property(talk, (text) => {
      const ink = (value: string) => value.replace(/\s/g, "");
      const whole = ink(text);
      let at = 0;
      for (const sentence of split([text])) {
        const found = whole.indexOf(ink(sentence), at);
        assert.ok(found >= 0, `"${sentence}" is not in the text`);
        assert.doesNotMatch(whole.slice(at, found), /[\p{L}\p{N}]/u);
        at = found + ink(sentence).length;
      }
      assert.doesNotMatch(whole.slice(at), /[\p{L}\p{N}]/u);
    }),
    { numRuns: 300 },
  );
});

test("the sentences do not depend on how the stream is cut", () => {
  fc.assert(
    fc.property(talk, fc.array(fc.nat(9), { minLength: 1 }), (text, sizes) => {
      const characters = Array.from(text);
      const parts: string[] = [];
      for (let index = 0; characters.length > 0; index += 1) {
        parts.push(characters.splice(0, 1 + (sizes[index % sizes.length] ?? 0)).join(""));
      }
      assert.deepEqual(split(parts), split([text]));
    }),
    { numRuns: 300 },
  );
});

test("every sentence is trimmed, can be spoken and stays within the limit", () => {
  fc.assert(
    fc.property(talk, (text) => {
      for (const sentence of split(pieces(text, 4))) {
        assert.equal(sentence, sentence.trim());
        assert.match(sentence, /[\p{L}\p{N}]/u);
        assert.ok(sentence.length <= SENTENCE_WEIGHT_MAX + 60, `${sentence.length}`);
      }
    }),
    { numRuns: 300 },
  );
});

test("after a short first sentence the next piece ends with the last clause of its first thirty characters", () => {
  const clause = `${"a".repeat(25)},`;
  assert.deepEqual(split([`Yes. ${clause} bbb, ccc ccc.`]), ["Yes.", clause, "bbb, ccc ccc."]);
});

/** About 15 s of speech: 1.3 times what follows a piece of any length, and a fifth more where a single word is longer. */
const UNMARKED_WEIGHT_MAX = 234;
/** A piece that is played while it comes may be longer: only its text is waited for. */
const STREAMED_WEIGHT_MAX = 300;

const unmarked = fc
  .array(
    fc.constantFrom(
      "table",
      "and",
      "for",
      "Donaudampfschifffahrt",
      "本日は",
      "部屋",
      "您预订",
      "ห้องพักของเรา",
      "방은",
      "0123456789",
      "x".repeat(150),
      "a.b/c",
      "👍🏽",
      "𠀀",
      " ",
    ),
    { minLength: 40, maxLength: 200 },
  )
  .chain((words) => fc.constantFrom(" ", "").map((joint) => words.join(joint)));

test("a reply without a mark comes in pieces within a limit, with nothing lost and nothing twice, however it comes", () => {
  fc.assert(
    fc.property(
      unmarked,
      fc.integer({ min: 1, max: 9 }),
      fc.boolean(),
      (text, size, isStreamed) => {
        const begin = isStreamed ? EMPTY_STREAMED_SPLITTER : EMPTY_SPLITTER;
        const max = isStreamed ? STREAMED_WEIGHT_MAX : UNMARKED_WEIGHT_MAX;
        const parts = split(pieces(text, size), begin);
        assert.deepEqual(parts, split([text], begin));
        const ink = (value: string) => value.replace(/[^\p{L}\p{N}]/gu, "");
        assert.equal(ink(parts.join("")), ink(text));
        for (const part of parts) {
          let weight = 0;
          for (let at = 0; at < part.length; at += 1) weight += weightOf(part.charCodeAt(at));
          assert.ok(weight <= max, `${weight}: ${part}`);
        }
      },
    ),
    { numRuns: 200 },
  );
});
