import assert from "node:assert/strict";
import { test } from "node:test";
import { passagesOf } from "../../../engine/knowledge/passages.js";
import { plainTerms, searchTerms } from "../../../engine/knowledge/search-terms.js";

test("a passage contains the headings above it, and short paragraphs below one heading are joined", () => {
  const text = "# Hotel\nWelcome.\n\n## Cars\nForty spaces.\n\nNo vans.\n\n## Dogs\nAllowed.";
  assert.deepEqual(passagesOf(text), [
    "Hotel\nWelcome.",
    "Hotel > Cars\nForty spaces.\nNo vans.",
    "Hotel > Dogs\nAllowed.",
  ]);
});

test("a long paragraph is split at sentences, and a text without sentences between words", () => {
  const sentences = passagesOf("This is a sentence. ".repeat(100));
  assert.ok(sentences.every((each) => each.length <= 700 && each.endsWith(".")));
  const table = passagesOf("123 ".repeat(1_000));
  assert.ok(table.every((each) => each.length <= 700));
  assert.equal(table.join(" ").split(" ").length, 1_000);
});

test("no surrogate pair is split", () => {
  for (const passage of passagesOf("😀".repeat(2_000))) assert.doesNotMatch(passage, /\p{Cs}/u);
});

function shared(one: string, other: string): number {
  const terms = new Set(searchTerms("org", one));
  return searchTerms("org", other).filter((term) => terms.has(term)).length;
}

test("compounds and inflected forms share terms, in scripts with and without spaces", () => {
  assert.ok(shared("Rückgaberecht", "die Rückgabe") > 2);
  assert.ok(shared("Straße", "strasse") > 1);
  assert.ok(shared("東京駅の営業時間", "営業時間は何時ですか") > 2);
  assert.ok(shared("दुकान सुबह खुलती है", "दुकान कब खुलती") > 2);
  assert.equal(shared("apple", "train"), 0);
});

test("terms in Hindi keep the vowel signs", () => {
  assert.ok([...plainTerms("दुकान")].includes(" दुकान "));
});

test("organizations never share terms", () => {
  const own = new Set(searchTerms("org", "the same words here"));
  assert.ok(searchTerms("other", "the same words here").every((term) => !own.has(term)));
  assert.ok([...own].every((term) => /^[0-9a-z]{8}$/.test(term)));
});
