import assert from "node:assert/strict";
import { test } from "node:test";
import { isOpenEnded } from "../../../engine/conversation/endpointing.js";

const OPEN: Readonly<Record<string, readonly string[]>> = {
  en: [
    "My order number is, uhm",
    "my name is",
    "I would like a room and",
    "uhm",
    "it's because",
    "the total is",
    "I would like to",
    "I am calling about",
    "a ticket from Berlin to",
    "it's for",
  ],
  de: ["Meine Nummer ist, äh", "meine Telefonnummer lautet", "ich möchte einen", "ähm"],
  fr: ["mon numéro est", "je voudrais une", "c'est pour euh", "est-ce que", "c'est chez"],
  es: ["mi número es", "quiero una", "es que pues", "mi nombre es"],
  it: ["il mio numero è", "vorrei un", "allora ehm"],
  pt: ["o meu número é", "queria uma", "bem ahn"],
  nl: ["mijn nummer is", "ik wil een", "dat is ehm"],
  pl: ["mój numer to", "chciałbym w", "to jest yyy"],
  tr: ["bir masa ve", "numaram eee"],
  ja: ["私の番号は、えっと", "あのー", "私の番号は", "予約を"],
  zh: ["我的号码是，嗯", "我想要，因为", "我的订单号是"],
  hi: ["मेरा नंबर है उम", "मुझे चाहिए और", "मेरा नंबर है", "होटल में एक कमरे के लिए मुझे"],
};
const CLOSED: Readonly<Record<string, readonly string[]>> = {
  en: [
    "yes it is",
    "what is",
    "I don't know what my number is",
    "no",
    "a",
    "well",
    "who are you?",
    "and you are the?",
    "uhm!",
    "",
    "I think so",
    "what is it for",
    "where do I send it to",
    "that is what I came for",
    "I don't want to",
    "I have",
    "I want that",
  ],
  de: ["ja", "das ist gut", "wie spät ist", "nein danke", "es geht", "das passt gut an"],
  fr: ["oui", "je ne sais pas", "quel est"],
  es: ["quiero", "sí, tengo"],
  pt: ["quero", "tem"],
  ja: ["はい", "お願いします", "えっと？", "", "ええ", "こんにちは", "こんばんは"],
  zh: ["好的", "我想要这个", "可以"],
  xx: ["yes it is"],
};

for (const [language, texts] of Object.entries(OPEN)) {
  test(`a sentence that is left open is heard to be, in ${language}`, () => {
    for (const text of texts) assert.ok(isOpenEnded(text, language), text);
  });
}

for (const [language, texts] of Object.entries(CLOSED)) {
  test(`a whole answer is not waited on, in ${language}`, () => {
    for (const text of texts) assert.ok(!isOpenEnded(text, language), text);
  });
}

test("a language without a list of its own is heard as English", () => {
  assert.ok(isOpenEnded("my name is uhm", "sw"));
});

/** How callers think aloud, and whole answers beside them. Some of the phrases are entries of the lists. */
const THOUGHT_ALOUD: Readonly<Record<string, readonly string[]>> = {
  en: [
    "so, I would, hmm, let's say",
    "on Monday, that is",
    "well, I need, uh,",
    "a big one, for example",
  ],
  de: ["also, ich würde, hm, sagen wir", "Freitag, und zwar", "etwas Größeres, zum Beispiel"],
  fr: [
    "alors, je voudrais, euh, disons",
    "jeudi, c'est-à-dire",
    "quelque chose de grand, par exemple",
  ],
  es: ["pues, quisiera, eh, digamos", "el jueves, es decir", "algo más grande, por ejemplo"],
  it: ["allora, vorrei, ehm, diciamo", "giovedì, cioè", "qualcosa di grande, per esempio"],
  nl: ["nou, ik zou, eh, laten we zeggen", "donderdag, en wel", "iets groters, bijvoorbeeld"],
  pl: ["no, chciałbym, yyy, powiedzmy", "w czwartek, to znaczy", "coś większego, na przykład"],
};
const WHOLE_ANSWERS: Readonly<Record<string, readonly string[]>> = {
  en: [
    "I would like a room",
    "maybe",
    "on Monday",
    "yes I think so",
    "let's say Monday",
    "probably on Friday then",
  ],
  de: [
    "ich möchte ein Zimmer",
    "vielleicht",
    "am Freitag",
    "sagen wir Montag",
    "ja gerne",
    "das geht dann so",
  ],
  fr: ["je voudrais une chambre", "peut-être", "disons lundi", "jeudi matin"],
  es: ["quisiera una habitación", "quizás", "digamos el lunes", "muy bien"],
  it: ["vorrei una camera", "forse", "diciamo lunedì", "va bene"],
  nl: ["ik wil een kamer", "misschien", "laten we zeggen maandag", "graag"],
  pl: ["chciałbym pokój", "może", "powiedzmy w poniedziałek"],
};

for (const [language, texts] of Object.entries(THOUGHT_ALOUD)) {
  test(`a caller who thinks aloud is waited for, in ${language}`, () => {
    assert.deepEqual(
      texts.filter((text) => !isOpenEnded(text, language)),
      [],
    );
    const whole = WHOLE_ANSWERS[language] ?? [];
    assert.deepEqual(
      whole.filter((text) => isOpenEnded(text, language)),
      [],
    );
  });
}

test("a mark that no sentence ends with tells that it goes on, in any language", () => {
  for (const text of [
    "mi chiamo Paola e,",
    "haluaisin varata pöydän,",
    "jag skulle vilja …",
    "the red one -",
  ]) {
    assert.ok(isOpenEnded(text, "xx"), text);
  }
  for (const text of ["ja,", "no...", "varaan pöydän."]) assert.ok(!isOpenEnded(text, "xx"), text);
});
