import assert from "node:assert/strict";
import { test } from "node:test";
import {
  beginsBackchannelPhrase,
  isBackchannelPhrase,
} from "../../../engine/conversation/backchannel.js";
import { CALLER_WORDS } from "./backchannel-lists.js";

const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "hi", "ja", "zh"];

/** The least share of agreements that is known, and the largest of interruptions that are taken for them. */
const RECOGNIZED_SHARE_MIN = 0.9;
const MISSED_SHARE_MAX = 0.02;

for (const language of LANGUAGES) {
  test(`words of backchannel are told from interruptions (${language})`, () => {
    const { agreements = [], interruptions = [] } = CALLER_WORDS[language] ?? {};
    assert.ok(agreements.length >= 20 && interruptions.length >= 20);
    const unknown = agreements.filter((words) => !isBackchannelPhrase(words, language));
    const missed = interruptions.filter((words) => isBackchannelPhrase(words, language));
    const recognized = agreements.length - unknown.length;
    assert.ok(recognized >= agreements.length * RECOGNIZED_SHARE_MIN, unknown.join(" | "));
    assert.ok(missed.length <= interruptions.length * MISSED_SHARE_MAX, missed.join(" | "));
  });
}

test("what is no word at all, and what is long, is no backchannel", () => {
  assert.ok(!isBackchannelPhrase("", "en"));
  assert.ok(!isBackchannelPhrase("...", "en"));
  assert.ok(!isBackchannelPhrase("yes ".repeat(13), "en"));
  assert.ok(!isBackchannelPhrase("okay?", "en"));
});

test("one language's backchannel is another's refusal", () => {
  assert.ok(isBackchannelPhrase("no", "pl"));
  assert.ok(!isBackchannelPhrase("no", "en"));
});

test("the beginning of an backchannel is known before its last word", () => {
  for (const words of ["of", "makes", "oh i", "yeah that"])
    assert.ok(beginsBackchannelPhrase(words, "en"));
  for (const words of ["", "but", "of all", "i have", "of?"]) {
    assert.ok(!beginsBackchannelPhrase(words, "en"), words);
  }
});

test("for a language that is not known the English list is used", () => {
  assert.ok(isBackchannelPhrase("uh-huh, sure", "xx"));
});
