import assert from "node:assert/strict";
import { test } from "node:test";
import { isOpenEnded } from "../../../engine/speech/open-ending.js";

const OPEN: Readonly<Record<string, readonly string[]>> = {
  en: [
    "My order number is, uhm",
    "my name is",
    "I would like a room and",
    "uhm",
    "it's because",
    "the total is",
  ],
  de: ["Meine Nummer ist, äh", "meine Telefonnummer lautet", "ich möchte einen", "ähm"],
  fr: ["mon numéro est", "je voudrais une", "c'est pour euh"],
  es: ["mi número es", "quiero una", "es que pues"],
  it: ["il mio numero è", "vorrei un", "allora ehm"],
  pt: ["o meu número é", "queria uma", "bem ahn"],
  nl: ["mijn nummer is", "ik wil een", "dat is ehm"],
  pl: ["mój numer to", "chciałbym w", "to jest yyy"],
  tr: ["bir masa ve", "numaram eee"],
  ja: ["私の番号は、えっと", "あのー"],
  zh: ["我的号码是，嗯", "我想要，因为"],
  hi: ["मेरा नंबर है उम", "मुझे चाहिए और"],
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
    "I think so",
  ],
  de: ["ja", "das ist gut", "wie spät ist", "nein danke"],
  fr: ["oui", "je ne sais pas", "quel est"],
  ja: ["はい", "お願いします"],
  zh: ["好的", "我想要这个"],
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
