import assert from "node:assert/strict";
import { test } from "node:test";
import { isBackchannelPhrase } from "../../../engine/conversation/backchannel.js";
import {
  isDictating,
  isOpenEnded,
  predictsContinuation,
} from "../../../engine/conversation/endpointing.js";
import { changed } from "../../doubles/changed-state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";
import { HELD_OUT, type HeldOutPhrases } from "./held-out-phrases.js";

/** How many of the phrases of all languages are so. */
function count(
  kind: keyof HeldOutPhrases,
  isSo: (text: string, language: string) => boolean,
): number {
  const each = Object.entries(HELD_OUT).map(
    ([language, phrases]) => phrases[kind].filter((text) => isSo(text, language)).length,
  );
  return each.reduce((sum, found) => sum + found, 0);
}

const waits = (text: string, language: string): boolean =>
  isDictating(text, "") || isOpenEnded(text, language);

/** After two turns whose ends the recognizer has marked. */
function waitsBehindMarks(text: string, language: string): boolean {
  const { state } = new RecordedCall(PLAIN_SETTINGS).actor;
  const said = (content: string) => ({ role: "user", content, createdAtMs: 0 }) as const;
  const history = [...state.record.history, said("Good morning."), said("That is right.")];
  return predictsContinuation(
    changed(state, { record: { history }, settings: { ...state.settings, language } }),
    text,
  );
}

const marked = (text: string): string => (/[?]$/.test(text) ? text : `${text}.`);

// The figures stand in docs/guides/turn-taking.md; a change that moves one of them changes both.

/** How many open sentences each language's words tell, and how many finished ones they take for open. */
const OPEN_BY_LANGUAGE = {
  en: { open: 5, closed: 0 },
  de: { open: 9, closed: 0 },
  fr: { open: 6, closed: 0 },
  es: { open: 4, closed: 0 },
  nl: { open: 8, closed: 2 },
};

test("in each language the words tell more open sentences than they take finished ones for open", () => {
  const found = Object.entries(HELD_OUT).map(([language, { open, closed }]) => {
    const countOf = (phrases: readonly string[]) =>
      phrases.filter((text) => waits(text, language)).length;
    return [language, { open: countOf(open), closed: countOf(closed) }] as const;
  });
  assert.deepEqual(Object.fromEntries(found), OPEN_BY_LANGUAGE);
});

test("of 100 callers who think aloud the words tell 32, and a recognizer that writes marks 97", () => {
  assert.equal(count("open", waits), 32);
  assert.equal(count("open", waitsBehindMarks), 97);
});

test("of 100 who dictate in pieces most are waited for, whichever language", () => {
  assert.equal(count("dictated", waits), 41);
  assert.equal(count("dictatedLater", waits), 40);
});

test("of 100 who are done nearly none is waited for", () => {
  assert.equal(count("closed", waits), 2);
  assert.equal(
    count("closed", (text, language) => waitsBehindMarks(marked(text), language)),
    2,
  );
});

test("of 100 backchannels that no list has few let the agent speak on, and of 100 interruptions none", () => {
  assert.equal(count("backchannels", isBackchannelPhrase), 22);
  assert.equal(count("interruptions", isBackchannelPhrase), 0);
});
