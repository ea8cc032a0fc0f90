import assert from "node:assert/strict";
import { test } from "node:test";
import { pieces, split } from "./streamed-text.js";

const SENTENCE_WEIGHT_MAX = 300;

const THAI = [
  "สวัสดีค่ะ ยินดีให้บริการค่ะ",
  "ห้องพักของเรามีวิวทะเลสาบที่สวยงามมาก ราคาคืนละสองพันบาทรวมอาหารเช้าแล้ว",
  "คุณสามารถเช็คอินได้ตั้งแต่บ่ายสองโมงเป็นต้นไป และเช็คเอาท์ก่อนเที่ยง",
  "หากต้องการเปลี่ยนแปลงการจองกรุณาแจ้งล่วงหน้าอย่างน้อยหนึ่งวัน ขอบคุณค่ะ",
].join(" ");

test("a long reply in Thai comes in pieces that end where a speaker pauses", () => {
  const sentences = split(pieces(THAI, 5));
  assert.ok(sentences.length >= 3, sentences.join("|"));
  assert.ok((sentences[0]?.length ?? 0) <= 100);
  assert.equal(sentences.join(" "), THAI);
});

test("Thai without a single space is cut between words", () => {
  const text = THAI.replaceAll(" ", "");
  const sentences = split(pieces(text.repeat(2), 7));
  assert.ok(sentences.length >= 4);
  assert.equal(sentences.join(""), text.repeat(2));
  const words = new Set(
    Array.from(new Intl.Segmenter("th", { granularity: "word" }).segment(text), (at) => at.segment),
  );
  const torn = sentences.slice(0, -1).filter((sentence) => {
    const last = Array.from(new Intl.Segmenter("th", { granularity: "word" }).segment(sentence)).at(
      -1,
    );
    return last === undefined || !words.has(last.segment);
  });
  assert.deepEqual(torn, []);
});

test("Burmese, Khmer, Armenian and Amharic sentences end with their own marks", () => {
  for (const [first, second] of [
    ["မင်္ဂလာပါ ခင်ဗျာ။", "ဘာကူညီရမလဲ။"],
    ["សួស្តី​អ្នក​ទាំងអស់គ្នា។", "តើខ្ញុំអាចជួយអ្វីបាន។"],
    ["Բարև ձեզ բոլորիդ։", "Ինչով կարող եմ օգնել։"],
    ["ሰላም እንደምን አለህ።", "ምን ልርዳህ እችላለሁ።"],
  ] as const) {
    assert.deepEqual(split(pieces(`${first} ${second}`, 3)), [first, second]);
  }
});

test("no script makes a piece longer than the limit", () => {
  for (const text of ["ก".repeat(2_000), "ကခဂ".repeat(700), "កខគ ".repeat(500)]) {
    for (const sentence of split(pieces(text, 11))) {
      assert.ok(sentence.length <= SENTENCE_WEIGHT_MAX);
    }
  }
});
