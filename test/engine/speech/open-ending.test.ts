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
    "I would like to",
    "Hello. I'd like",
    "I need to",
    "could you",
    "I am calling about",
    "a ticket from Berlin to",
    "it's for",
  ],
  de: [
    "Meine Nummer ist, äh",
    "meine Telefonnummer lautet",
    "ich möchte einen",
    "ähm",
    "ich hätte gern",
    "Guten Tag, ich möchte",
    "können Sie mir",
  ],
  fr: [
    "mon numéro est",
    "je voudrais une",
    "c'est pour euh",
    "je voudrais",
    "est-ce que",
    "c'est chez",
  ],
  es: ["mi número es", "quiero una", "es que pues", "me gustaría", "mi nombre es"],
  it: ["il mio numero è", "vorrei un", "allora ehm", "vorrei", "mi chiamo"],
  pt: ["o meu número é", "queria uma", "bem ahn", "eu gostaria"],
  nl: ["mijn nummer is", "ik wil een", "dat is ehm", "ik wil graag", "kunt u"],
  pl: ["mój numer to", "chciałbym w", "to jest yyy", "chciałbym", "nazywam się"],
  tr: ["bir masa ve", "numaram eee"],
  ja: ["私の番号は、えっと", "あのー", "私の番号は", "予約を"],
  zh: ["我的号码是，嗯", "我想要，因为", "我想", "我的订单号是"],
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
