import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Continuation, continued, GO_ON } from "../../../../engine/vendors/chain/llm-chain.js";

/** The output of both together, token by token. */
function joined(given: string, tokens: readonly string[]): string {
  const rest = new Continuation(given);
  return given + tokens.map((token) => rest.take(token)).join("") + rest.end();
}

const CASES: readonly (readonly [string, string, readonly string[], string])[] = [
  ["the last word again", "We open at", ["at", " nine."], "We open at nine."],
  ["half a word made whole", "We op", ["open", " at nine."], "We open at nine."],
  ["the next word at once", "We open at", ["nine", "."], "We open at nine."],
  ["the next word behind a space", "We open at ", ["nine", "."], "We open at nine."],
  ["the next word with its space", "We open at", [" nine", "."], "We open at nine."],
  ["the whole reply again", "We open at", ["We", " open", " at", " nine."], "We open at nine."],
  [
    "the last sentence again",
    "Good morning! We open at",
    ["We open", " at nine."],
    "Good morning! We open at nine.",
  ],
  ["another reply", "We open at", ["Sorry, ", "what?"], "We open at Sorry, what?"],
  ["the end of a word", "We open at", ["e open at", " one."], "We open at e open at one."],
  ["nothing but a repetition", "We open.", ["We op", "en."], "We open."],
  ["nothing at all", "We open.", [], "We open."],
  ["a repetition that breaks off", "We open at nine.", ["We open"], "We open at nine. We open"],
];

for (const [title, given, tokens, whole] of CASES) {
  test(`a reply that broke off is joined: ${title}`, () => {
    assert.equal(joined(given, tokens), whole);
  });
}

test("wherever a reply breaks off, and however the rest is cut, an obedient model loses and doubles nothing", () => {
  const word = fc.stringMatching(/^[a-z]{1,9}[.!?,]?$/);
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 2, maxLength: 20 }),
      fc.nat(),
      fc.integer({ min: 1, max: 5 }),
      (words, place, tokenChars) => {
        const whole = words.join(" ");
        const given = whole.slice(0, 1 + (place % (whole.length - 1)));
        const said = given.trimEnd();
        const rest = whole.slice(said.lastIndexOf(" ") + 1);
        const tokens = rest.match(new RegExp(`.{1,${tokenChars}}`, "g")) ?? [];
        assert.equal(joined(given, tokens).replaceAll(/\s+/g, " "), whole);
      },
    ),
  );
});

test("certainly new text is passed on immediately, and possibly repeated text waits", () => {
  const rest = new Continuation("Good day. We open at");
  assert.deepEqual(
    ["", " ", "a", "t", " ni", "ne"].map((token) => rest.take(token)),
    ["", "", "", "", " ni", "ne"],
  );
  const other = new Continuation("We open at");
  assert.deepEqual([other.take("n"), other.take("ine")], [" n", "ine"]);
});

test("the next model gets the conversation, the reply so far, and the instruction to continue", () => {
  const asked = { role: "user", content: "When?" } as const;
  assert.deepEqual(continued([asked], "We open"), [
    asked,
    { role: "assistant", content: "We open" },
    { role: "user", content: GO_ON },
  ]);
});
