import assert from "node:assert/strict";
import { test } from "node:test";
import { isClosing } from "../../../engine/speech/closing-words.js";

const FAREWELLS: Readonly<Record<string, readonly string[]>> = {
  en: [
    "Bye.",
    "okay thanks bye",
    "Thank you so much, you too!",
    "No, that's all. Thanks.",
    "alright, have a good one",
  ],
  de: [
    "Tschüss!",
    "okay danke, schönen Tag noch",
    "Vielen Dank, Ihnen auch",
    "nein das war's danke",
  ],
  es: ["Adiós.", "muchas gracias, hasta luego", "no, eso es todo, gracias"],
  fr: ["Au revoir.", "merci beaucoup, bonne journée", "d'accord merci, vous aussi"],
  it: ["Ciao ciao", "grazie mille, buona giornata", "va bene, arrivederci"],
  pt: ["Tchau, obrigado", "está bem, até logo"],
  nl: ["Dank u wel, fijne dag", "oké doei"],
  pl: ["dziękuję, do widzenia", "dobrze, miłego dnia"],
  tr: ["teşekkürler, iyi günler", "tamam görüşürüz"],
  hi: ["धन्यवाद", "ठीक है, बाय"],
  ja: ["ありがとうございました。", "はい、失礼します。"],
  zh: ["谢谢，再见。", "好的，拜拜"],
};
const REQUESTS: Readonly<Record<string, readonly string[]>> = {
  en: [
    "wait",
    "No!",
    "one more thing",
    "thanks, but when do you open",
    "okay and the price",
    "bye? no wait",
  ],
  de: ["Moment", "ach ja, noch eine Frage", "danke, und wann", "nein"],
  es: ["espere", "gracias, pero otra cosa"],
  fr: ["attendez", "merci, et demain"],
  it: ["un momento", "grazie, però"],
  pt: ["espera", "obrigado, mas"],
  nl: ["wacht", "bedankt, nog iets"],
  pl: ["chwileczkę", "dziękuję, ale"],
  tr: ["bir dakika", "teşekkürler ama"],
  hi: ["रुकिए", "धन्यवाद, एक और बात"],
  ja: ["ちょっと待って", "ありがとう、あと一つ"],
  zh: ["等一下", "谢谢，还有一个问题"],
};

for (const [language, farewells] of Object.entries(FAREWELLS)) {
  test(`what lets a goodbye be one is told from what asks for more (${language})`, () => {
    for (const words of farewells) assert.ok(isClosing(words, language), words);
    for (const words of REQUESTS[language] ?? []) assert.ok(!isClosing(words, language), words);
  });
}
