import assert from "node:assert/strict";
import { test } from "node:test";
import { beginsAgreement, isAgreement } from "../../../engine/conversation/backchannel.js";
import { CALLER_WORDS } from "./agreement-lists.js";

const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "hi", "ja", "zh"];

/** The least share of agreements that is known, and the largest of interruptions that are taken for them. */
const RECOGNIZED_SHARE_MIN = 0.9;
const MISSED_SHARE_MAX = 0.02;

for (const language of LANGUAGES) {
  test(`words of agreement are told from interruptions (${language})`, () => {
    const { agreements = [], interruptions = [] } = CALLER_WORDS[language] ?? {};
    assert.ok(agreements.length >= 20 && interruptions.length >= 20);
    const unknown = agreements.filter((words) => !isAgreement(words, language));
    const missed = interruptions.filter((words) => isAgreement(words, language));
    const recognized = agreements.length - unknown.length;
    assert.ok(recognized >= agreements.length * RECOGNIZED_SHARE_MIN, unknown.join(" | "));
    assert.ok(missed.length <= interruptions.length * MISSED_SHARE_MAX, missed.join(" | "));
  });
}

test("what is no word at all, and what is long, is no agreement", () => {
  assert.ok(!isAgreement("", "en"));
  assert.ok(!isAgreement("...", "en"));
  assert.ok(!isAgreement("yes ".repeat(13), "en"));
  assert.ok(!isAgreement("okay?", "en"));
});

test("one language's agreement is another's refusal", () => {
  assert.ok(isAgreement("no", "pl"));
  assert.ok(!isAgreement("no", "en"));
});

test("the beginning of an agreement is known before its last word", () => {
  for (const words of ["of", "makes", "oh i", "yeah that"]) assert.ok(beginsAgreement(words, "en"));
  for (const words of ["", "but", "of all", "i have", "of?"]) {
    assert.ok(!beginsAgreement(words, "en"), words);
  }
});

test("for a language that is not known the English list is used", () => {
  assert.ok(isAgreement("uh-huh, sure", "xx"));
});
