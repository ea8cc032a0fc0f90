import assert from "node:assert/strict";
import { test } from "node:test";
import { isDictating } from "../../../engine/conversation/endpointing.js";
import {
  DAYS,
  isNumberJoint,
  LEXICONS,
  numberSaidBy,
  SPELT_WORDS,
  stockPhrases,
  tablePhrases,
  tableWords,
} from "../../../engine/conversation/lexicon.js";

test("a number stands once in each language, and all of it is dictated as well as counted", () => {
  for (const [language, { ones, tens, magnitudes, moreNumbers }] of Object.entries(LEXICONS)) {
    const words = [ones, tens, magnitudes, moreNumbers].flatMap(tableWords);
    assert.deepEqual(words, [...new Set(words)], language);
    for (const word of words) assert.ok(SPELT_WORDS.has(word), `${language} ${word}`);
    for (const word of [ones, tens].flatMap(tableWords)) {
      assert.notEqual(numberSaidBy(word), undefined, `${language} ${word}`);
    }
  }
});

test("words that only one of two lists had before are numbers everywhere now", () => {
  assert.deepEqual(
    ["octante", "पाँच", "छः", "बीस", "नब्बे"].map((word) => numberSaidBy(word)),
    [80, 5, 6, 20, 90],
  );
  assert.ok(isDictating("um dois três quatro", ""), "four in Portuguese");
  assert.ok(isDictating("yksi kaksi kolme neljä", ""), "Finnish");
  assert.ok(isDictating("ett två tre fyra", ""), "Swedish");
  assert.ok(["doppel", "zweimal", "tripla", "duplo"].every((word) => SPELT_WORDS.has(word)));
  assert.ok(["og", "och", "i", "ve", "cem", "सौ"].every(isNumberJoint));
  assert.ok(!SPELT_WORDS.has("bin"), "a thousand in Turkish, and 'am' in German");
  assert.ok(!DAYS.has("zeroth") && DAYS.has("twentieth") && DAYS.has("primeiro"));
});

test("a language says all stock phrases itself or none, and no table has an empty phrase", () => {
  const fields = Object.keys(stockPhrases("en")).sort();
  for (const [language, lexicon] of Object.entries(LEXICONS)) {
    const { stockPhrases: phrases } = lexicon;
    if (phrases !== undefined) {
      assert.deepEqual(Object.keys(phrases).sort(), fields, language);
      assert.ok(
        Object.values(phrases).every((phrase) => phrase.length > 0),
        language,
      );
    }
    assert.ok([...tablePhrases(lexicon.backchannels)].every((phrase) => phrase !== ""));
  }
});

test("Brazil has stock phrases of its own, other regions those of their language, other languages the English ones", () => {
  assert.equal(stockPhrases("pt-BR").stillThere, "Você ainda está aí?");
  assert.equal(stockPhrases("pt-PT"), stockPhrases("pt"));
  assert.notEqual(stockPhrases("pt-BR").waiting[1], stockPhrases("pt").waiting[1]);
  assert.equal(stockPhrases("de-AT"), stockPhrases("de"));
  assert.equal(stockPhrases("sv-SE"), stockPhrases("en"));
  assert.equal(stockPhrases("constructor"), stockPhrases("en"));
});

test("the Polish agent asks whether the caller is still there, not whether somebody else is", () => {
  assert.equal(stockPhrases("pl-PL").stillThere, "Halo, czy nadal jesteśmy połączeni?");
});
