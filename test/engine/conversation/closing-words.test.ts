import assert from "node:assert/strict";
import { test } from "node:test";
import { isClosing } from "../../../engine/conversation/playback-end.js";

const FAREWELLS: Readonly<Record<string, readonly string[]>> = {
  en: [
    "Bye.",
    "okay thanks bye",
    "Thank you so much, you too!",
    "No, that's all. Thanks.",
    "alright, have a good one",
    "okay great, thank you so much for your help, bye now",
    "that's all I needed, thank you",
    "I really appreciate it, you have a great day",
    "no, nothing else",
  ],
  de: [
    "Tschüss!",
    "okay danke, schönen Tag noch",
    "Vielen Dank, Ihnen auch",
    "nein das war's danke",
    "vielen Dank und auf Wiederhören",
    "das wäre alles, danke für die Hilfe",
    "schönes Wochenende, tschüss dann",
  ],
  es: [
    "Adiós.",
    "muchas gracias, hasta luego",
    "no, eso es todo, gracias",
    "muy amable, que le vaya bien",
  ],
  fr: [
    "Au revoir.",
    "merci beaucoup, bonne journée",
    "d'accord merci, vous aussi",
    "non, rien d'autre, merci, bonne fin de journée",
  ],
  it: [
    "Ciao ciao",
    "grazie mille, buona giornata",
    "va bene, arrivederci",
    "no, nient'altro, grazie di tutto",
  ],
  pt: ["Tchau, obrigado", "está bem, até logo", "é só isso, obrigado pela ajuda"],
  nl: ["Dank u wel, fijne dag", "oké doei", "nee, dat is alles, bedankt voor de hulp"],
  pl: ["dziękuję, do widzenia", "dobrze, miłego dnia", "dziękuję za pomoc, miłego weekendu"],
  tr: ["teşekkürler, iyi günler", "tamam görüşürüz", "hayır, başka bir şey yok, iyi günler"],
  hi: ["धन्यवाद", "ठीक है, बाय", "नहीं, और कुछ नहीं, धन्यवाद"],
  ja: [
    "ありがとうございました。",
    "はい、失礼します。",
    "いいえ、大丈夫です。どうもありがとうございました。",
  ],
  zh: ["谢谢，再见。", "好的，拜拜", "没有别的了，谢谢，那就这样吧"],
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
