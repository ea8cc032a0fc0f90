import assert from "node:assert/strict";
import { test } from "node:test";
import { EMPTY_SPLITTER, splitReplyToken } from "../../../engine/conversation/sentences.js";

/** The sentences that are known before the token that stands in brackets has come. */
function given(...tokens: readonly string[]): readonly string[] {
  let state = EMPTY_SPLITTER;
  const sentences: string[] = [];
  for (const token of tokens) {
    const step = splitReplyToken(state, token);
    sentences.push(...step.sentences);
    state = step.state;
  }
  return sentences;
}

test("a first sentence goes with its last token when its mark can be nothing else", () => {
  for (const tokens of [
    ["I", " can", " help", "."],
    ["Can", " I", " help", "?"],
    ["Sure", "!"],
    ["¡Hola", "!"],
    ["你好", "。"],
    ["Das", " geht", " leider", " nicht", "."],
    ["It ends in one token."],
    ["That is a self-made", " cake", "."],
    ["Selbst", "verständlich", "."],
    ["I", " can", "'t", "."],
    ["We", " don’t", "."],
    ["هل", " أنت", " هنا", "؟"],
    ["यह", " ठीक", " है", "।"],
    ["Այո", "։"],
  ]) {
    assert.deepEqual(given(...tokens), [tokens.join("")]);
  }
});

test("after a number, an abbreviation, an initial, an address or dots the next token decides", () => {
  for (const tokens of [
    ["It", " costs", " 3", "."],
    ["Ask", " Dr", "."],
    ["It", " is", " in", " the", " U", "."],
    ["It is open until 5 p.m", "."],
    ["See", " no", "."],
    ["Go", " to", " www.example", "."],
    ["Write to jane@example", "."],
    ["Well", "..."],
    ["Well…"],
    ["He", " said", ' "go', '."'],
    ["The file is notes.txt", "."],
    ["..."],
    ["?!"],
    ["One line\n"],
  ]) {
    assert.deepEqual(
      given(...tokens).filter((sentence) => sentence.endsWith(".")),
      [],
      tokens.join("|"),
    );
  }
});

test("what comes after it is the second sentence, whatever it begins with", () => {
  assert.deepEqual(given("Sure", "!", " I", " am", " here", " for", " you", ".", " And"), [
    "Sure!",
    "I am here for you.",
  ]);
});

test("later sentences wait for the character after them, since nobody waits for them", () => {
  assert.deepEqual(given("Sure", "!", " I am here for you", "."), ["Sure!"]);
});

test("a first sentence that went at once counts for how long the next piece may be", () => {
  const first = `${"s".repeat(39)}.`;
  const clause = `${"c".repeat(24)},`;
  const next = (letters: number) => given(first, ` ${clause} ${"w".repeat(letters)}.`, " And");
  // 1.3 times as long as what stands before its mark.
  assert.deepEqual(next(24), [first, `${clause} ${"w".repeat(24)}.`]);
  assert.deepEqual(next(25), [first, clause, `${"w".repeat(25)}.`]);
  assert.deepEqual(given("Yes.", '"', " I am here", " now. And"), ["Yes.", '" I am here now.']);
});
