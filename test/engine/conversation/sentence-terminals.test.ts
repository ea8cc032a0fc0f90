import assert from "node:assert/strict";
import { test } from "node:test";
import {
  EMPTY_SPLITTER,
  sentencesOf,
  splitEnd,
  splitReplyToken,
  splitStalled,
  splitToken,
} from "../../../engine/conversation/sentences.js";

test("a danda and an Urdu full stop end a sentence, with or without a space after them", () => {
  for (const [one, two] of [
    ["आपकी मेज़ शुक्रवार के लिए बुक है।", "क्या मैं और कुछ कर सकता हूँ?"],
    ["धर्मक्षेत्रे कुरुक्षेत्रे समवेता॥", "मामकाः पाण्डवाश्चैव किमकुर्वत।"],
    ["آپ کی میز جمعہ کے لیے بک ہے۔", "کیا میں اور کچھ کر سکتا ہوں؟"],
    ["আপনার টেবিল শুক্রবারের জন্য বুক করা আছে।", "আর কিছু লাগবে কি আপনার?"],
    ["ጠረጴዛዎ ለዓርብ ተይዟል።", "ሌላ ነገር ልርዳዎት እችላለሁ?"],
  ] as const) {
    for (const between of ["", " "]) {
      assert.deepEqual(sentencesOf(`${one}${between}${two}`), [one, two]);
    }
  }
});

/** As a model gives it, one code unit after the other. */
function inTokens(text: string): readonly string[] {
  let state = EMPTY_SPLITTER;
  const sentences: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const step = splitToken(state, text.charAt(at));
    state = step.state;
    sentences.push(...step.sentences);
  }
  return [...sentences, splitEnd(state) ?? ""];
}

test("a model that stalls behind a mark outside of the basic plane has said a whole sentence", () => {
  const text = "𑄃𑄟𑄬 𑄇𑄧𑄟𑄴𑅁";
  const step = splitReplyToken(EMPTY_SPLITTER, text);
  assert.deepEqual(step.sentences, [text]);
  const begun = splitToken({ ...EMPTY_SPLITTER, begun: true }, text);
  assert.deepEqual(splitStalled(begun.state, 5_000)?.sentences, [text]);
});

test("so does every terminal of Unicode that is nothing else, in any token", () => {
  const others = new Set([
    ".",
    "!",
    "?",
    "\u2024",
    "\ufe52",
    "\uff0e",
    "\u203c",
    "\u2047",
    "\u2048",
    "\u2049",
  ]);
  let count = 0;
  for (let code = 0x80; code <= 0x1ffff; code += 1) {
    const mark = String.fromCodePoint(code);
    if (!/\p{Sentence_Terminal}/u.test(mark) || others.has(mark)) continue;
    const one = `one word after the other${mark}`;
    assert.deepEqual(
      sentencesOf(`${one}another of them`),
      [one, "another of them"],
      code.toString(16),
    );
    const next = "another of them";
    assert.deepEqual(sentencesOf(one + mark + next), [one + mark, next]);
    assert.deepEqual(inTokens(one + next), [one, next], code.toString(16));
    count += 1;
  }
  assert.ok(count > 150, String(count));
});

test("within a number, before a list's item, or in front of its quote the mark ends nothing yet", () => {
  assert.deepEqual(sentencesOf("قیمت ۳۔۵ ہے"), ["قیمت ۳۔۵ ہے"]);
  assert.deepEqual(sentencesOf("۱۔ پہلا کام یہ ہے"), ["۱۔ پہلا کام یہ ہے"]);
  assert.deepEqual(sentencesOf("उसने कहा «मैं आऊँगा।» फिर वह चला गया"), [
    "उसने कहा «मैं आऊँगा।»",
    "फिर वह चला गया",
  ]);
  assert.deepEqual(sentencesOf("क्या सच में।।। हाँ बिलकुल सच है"), ["क्या सच में।।।", "हाँ बिलकुल सच है"]);
});
