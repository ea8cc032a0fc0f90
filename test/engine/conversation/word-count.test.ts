import assert from "node:assert/strict";
import { test } from "node:test";
import { wordCount } from "../../../engine/conversation/transcript-buffer.js";

test("words are counted as a person would count them", () => {
  const cases: readonly (readonly [text: string, words: number])[] = [
    ["", 0],
    ["...", 0],
    ["stop", 1],
    ["No, thanks!", 2],
    ["don't uh-huh", 2],
    ["¿Qué hora es?", 3],
    ["3.14 at jane@example.com", 3],
    ["привет как дела", 3],
    ["नमस्ते आप कैसे हैं", 4],
    ["안녕하세요 여러분", 2],
  ];
  for (const [text, words] of cases) assert.equal(wordCount(text), words, text);
});

test("in scripts without spaces a short word is one and a phrase is more", () => {
  assert.equal(wordCount("好"), 1);
  assert.equal(wordCount("你好"), 1);
  assert.equal(wordCount("等一下"), 2);
  assert.equal(wordCount("はい"), 1);
  assert.equal(wordCount("ちょっと待って"), 4);
  assert.equal(wordCount("ครับ"), 1);
  assert.equal(wordCount("我要 two 杯 coffee"), 4);
});
