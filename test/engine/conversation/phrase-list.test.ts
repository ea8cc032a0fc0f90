import assert from "node:assert/strict";
import { test } from "node:test";
import { PhraseList, tablePhrases } from "../../../engine/conversation/lexicon.js";

const LIST = new PhraseList(
  tablePhrases(`yes, of course it is, ok,, mm,
    はい, ん, 好的, I’m in`),
);

test("words that are one phrase after another are made of them, and no others", () => {
  for (const text of ["yes", "Yes, of course it is! OK", "ok ok ok", "of course it is", "im in"]) {
    assert.ok(LIST.makesUp(text), text);
  }
  for (const text of ["", "...", "course it is", "of course", "yes no", "no yes", "of", "yes it"]) {
    assert.ok(!LIST.makesUp(text), text);
  }
});

test("a question is made of none", () => {
  for (const text of ["yes?", "好的？", "ok؟"]) assert.ok(!LIST.makesUp(text), text);
});

test("the beginning of a phrase, behind whole ones, may become one", () => {
  for (const text of ["of", "of course", "yes of course it", "I'm", "好"]) {
    assert.ok(LIST.begins(text), text);
  }
  for (const text of ["", "yes", "course", "no of", "of of", "of course it is"]) {
    assert.ok(!LIST.begins(text), text);
  }
});

test("a drawn-out sound is the sound, and two letters are no drawn-out one", () => {
  assert.ok(LIST.makesUp("mmmmm"));
  assert.ok(!LIST.makesUp("m"));
  assert.ok(!LIST.makesUp("yess"));
});

test("twelve words are listened to, and thirty-two characters where there are no spaces", () => {
  assert.ok(LIST.makesUp("yes ".repeat(12)));
  assert.ok(!LIST.makesUp("yes ".repeat(13)));
  assert.ok(LIST.makesUp("はい".repeat(16)));
  assert.ok(!LIST.makesUp(`${"はい".repeat(16)}ん`));
  assert.ok(LIST.begins(`${"yes ".repeat(11)}of`));
  assert.ok(!LIST.begins(`${"yes ".repeat(12)}of`));
});
