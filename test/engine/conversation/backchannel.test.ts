import assert from "node:assert/strict";
import { test } from "node:test";
import {
  beginsBackchannelPhrase,
  isAnsweringYes,
  isBackchannel,
  isBackchannelPhrase,
  isOnlyBackchannel,
  mayShowListening,
  noteBackchannel,
  waitsForQuestion,
} from "../../../engine/conversation/backchannel.js";
import { EMPTY_LEDGER, recordSent } from "../../../engine/conversation/playback-ledger.js";
import { newSentence } from "../../../engine/conversation/playout.js";
import {
  type ConversationState,
  newConversation,
  newTurn,
} from "../../../engine/conversation/state.js";
import { wordCount } from "../../../engine/conversation/transcript-buffer.js";
import type { InterruptionSensitivity } from "../../../storage/records.js";
import { changed } from "../../doubles/changed-state.js";
import { PLAIN_SETTINGS } from "../../doubles/recorded-call.js";
import { CALLER_WORDS } from "./backchannel-lists.js";
import { playScript } from "./call-script.js";

const QUESTION = "Do you want a room with a view?";
const STATEMENT = "We have three rooms with a view of the lake.";
/** A short word is assumed to begin this long before it ends. */
const WORD_MS = 400;

type Played = readonly [text: string, fromMs: number, durationMs: number];

function ledgerOf(played: readonly Played[]) {
  return played.reduce(
    (ledger, [text, fromMs, durationMs]) =>
      recordSent(ledger, { text, durationMs, expectedMs: durationMs, isWhole: true }, fromMs),
    EMPTY_LEDGER,
  );
}

/** The agent has said this, until `untilMs`, and says nothing more; the caller's word began at `beganAtMs`. */
function after(beganAtMs: number, played: readonly Played[], untilMs: number): ConversationState {
  const spokenBefore = { ledger: ledgerOf(played), untilMs, turnBeforeAtMs: undefined };
  const user = { endedAtMs: beganAtMs + WORD_MS };
  return changed(newConversation(PLAIN_SETTINGS, []), { echo: { spokenBefore }, user });
}

/** The agent is saying this. */
function during(
  beganAtMs: number,
  played: readonly Played[],
  generating = false,
): ConversationState {
  const asked = { userText: "hello", callerEndedAtMs: 0, decidedAtMs: 0, attempt: 1 };
  const ledger = ledgerOf(played);
  const sentences = ledger.sent.map(({ text, durationMs }, slot) => ({
    ...newSentence(text, slot),
    durationMs,
    isWhole: true,
  }));
  const turn = {
    ...newTurn({ id: 1, kind: "reply", ...asked }),
    ledger,
    sentences,
    generating,
    sentCount: sentences.length,
  };
  return changed(after(beganAtMs, [], 0), { turn });
}

test("words that end within 700 ms of the agent's show that the caller has listened, later ones do not", () => {
  const endingAt = (ms: number) => after(ms - WORD_MS, [[STATEMENT, 0, 3_000]], 3_000);
  assert.deepEqual(
    [3_000, 3_700, 3_701].map((ms) => isBackchannel(endingAt(ms), "uh-huh", 9_000)),
    [true, true, false],
  );
});

test("words are no backchannel before the agent has said a word, or with another meaning", () => {
  assert.equal(isBackchannel(after(0, [], 0), "uh-huh", 500), false);
  assert.equal(isBackchannel(during(0, []), "uh-huh", 500), false);
  assert.equal(isBackchannel(during(500, [[STATEMENT, 0, 3_000]]), "uh-huh", 1_000), true);
  assert.equal(isBackchannel(during(500, [[STATEMENT, 0, 3_000]]), "what time", 1_000), false);
});

test("yes to a question of which half was heard is its answer", () => {
  const played: Played[] = [[QUESTION, 0, 2_000]];
  for (const begun of [after, during] as const) {
    const states = [999, 1_000].map((ms) =>
      begun === after ? after(ms, played, 2_000) : during(ms, played),
    );
    assert.deepEqual(
      states.map((state) => isAnsweringYes(state, "yes")),
      [false, true],
    );
    assert.deepEqual(
      states.map((state) => isBackchannel(state, "yes", 2_000)),
      [true, false],
    );
  }
});

test("only backchannel words count as such, and in a call without a question they answer nothing", () => {
  const asked = during(1_500, [[QUESTION, 0, 2_000]]);
  assert.equal(isAnsweringYes(asked, "what time is it"), false);
  assert.equal(isAnsweringYes(after(0, [], 0), "yes"), false);
  assert.equal(isAnsweringYes(during(1_500, [[STATEMENT, 0, 2_000]]), "yes"), false);
});

test("agreement within a second and a half of a question, while the agent speaks on, answers it", () => {
  const played: Played[] = [
    [QUESTION, 0, 2_000],
    [STATEMENT, 2_000, 9_000],
  ];
  assert.deepEqual(
    [3_500, 3_501].map((ms) => isAnsweringYes(during(ms, played), "yes")),
    [true, false],
  );
});

test("within six seconds of a question backchannel may be its answer, and is more than listening", () => {
  const played: Played[] = [
    [QUESTION, 0, 2_000],
    [STATEMENT, 2_000, 9_000],
  ];
  const atMs = 9_000;
  assert.deepEqual(
    [3_500, 8_000, 8_001].map((ms) => isOnlyBackchannel(during(ms, played), "yes", atMs)),
    [false, false, true],
  );
  assert.equal(isOnlyBackchannel(during(8_001, played), "what time is it", atMs), false);
  assert.equal(isOnlyBackchannel(during(8_001, [[STATEMENT, 0, 9_000]]), "yes", atMs), true);
});

test("a question two seconds before the agent continues is over, even as it begins", () => {
  const played: Played[] = [
    [QUESTION, 0, 1_000],
    [STATEMENT, 3_000, 2_000],
  ];
  assert.equal(isAnsweringYes(during(2_999, played), "yes"), true);
  assert.equal(isAnsweringYes(during(3_000, played), "yes"), false);
});

test("a question that was cut off before its first sound was not asked", () => {
  const played: Played[] = [
    [STATEMENT, 0, 1_000],
    [QUESTION, 1_000, 200],
  ];
  assert.equal(isAnsweringYes(after(1_200, played, 1_000), "yes"), false);
  assert.equal(isAnsweringYes(after(1_200, played, 1_100), "yes"), true);
});

test("words that may become backchannel are waited for while the agent speaks, others are not", () => {
  const state = during(500, [[STATEMENT, 0, 3_000]]);
  assert.equal(mayShowListening(state, "of", 1_000), true);
  assert.equal(mayShowListening(state, "what", 1_000), false);
  assert.equal(mayShowListening(after(5_000, [[STATEMENT, 0, 3_000]], 3_000), "of", 5_400), false);
});

test("an answer waits for the end of the question that is the last thing that the agent says", () => {
  const asking: Played[] = [[QUESTION, 0, 2_000]];
  assert.equal(waitsForQuestion(during(1_500, asking), "yes"), true);
  assert.equal(waitsForQuestion(during(1_500, asking), "what time is it"), false);
  assert.equal(waitsForQuestion(during(1_500, asking, true), "yes"), false);
  assert.equal(waitsForQuestion(during(1_500, [...asking, [STATEMENT, 2_000, 900]]), "yes"), false);
  assert.equal(waitsForQuestion(during(1_500, []), "yes"), false);
  assert.equal(waitsForQuestion(after(1_500, asking, 2_000), "yes"), false);
});

test("agreement resets the reminders", () => {
  const state = after(500, [[STATEMENT, 0, 3_000]], 3_000);
  state.user.reminders = 2;
  noteBackchannel(state, { role: "user", text: "uh-huh", atMs: 500 }, []);
  assert.equal(state.user.reminders, 0);
  assert.deepEqual(state.record.unsaved, [{ role: "user", text: "uh-huh", atMs: 500 }]);
});

const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "hi", "ja", "zh"];

/** The least share of agreements that is known, and the largest of interruptions that are taken for them. */
const RECOGNIZED_SHARE_MIN = 0.9;
const MISSED_SHARE_MAX = 0.02;

for (const language of LANGUAGES) {
  test(`backchannels are distinguished from interruptions (${language})`, () => {
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

/** The least share of agreements that the agent speaks on through, and the largest of interruptions that it misses. */
const SPOKEN_ON_SHARE_MIN = 0.9;

/** Whether the agent stops if the caller says this in the middle of its speech, and STT returns it word by word. */
function stops(text: string, language: string, sensitivity: InterruptionSensitivity): boolean {
  const words = text.split(" ");
  const told = words.map((_, n) => words.slice(0, n + 1).join(" "));
  const played = playScript(
    [
      `set sensitivity ${sensitivity}`,
      `set language ${language}`,
      "open resumed",
      "speech-final what do you offer",
      "reply We have three rooms with a view of the lake. Each has a bath and a desk.",
      "spoken 0 4000",
      "spoken 1 3000",
      "wait 1500",
      "voice",
      ...told.map((interim) => `interim ${interim}`),
      "wait 200",
      `speech-final ${text}`,
      "wait 800",
    ].join("\n\n"),
  );
  return /^(?:abort turn|send audioStop|hold audio)/m.test(played);
}

for (const [language, { agreements, interruptions }] of Object.entries(CALLER_WORDS)) {
  test(`what shows that the caller listens does not stop the agent (${language})`, () => {
    for (const sensitivity of ["low", "medium"] as const) {
      const stopped = agreements.filter((text) => stops(text, language, sensitivity));
      const share = 1 - stopped.length / agreements.length;
      assert.ok(share >= SPOKEN_ON_SHARE_MIN, `${sensitivity}: ${stopped.join(" | ")}`);
    }
    const passedOver = agreements.filter((text) => !stops(text, language, "high"));
    assert.deepEqual(passedOver, [], "where any word is to stop it");
  });

  test(`what interrupts the agent stops it (${language})`, () => {
    for (const sensitivity of ["low", "medium", "high"] as const) {
      // At low a single word is not to stop it.
      const wordsMin = sensitivity === "low" ? 2 : 1;
      const expected = interruptions.filter((text) => wordCount(text) >= wordsMin);
      const missed = expected.filter((text) => !stops(text, language, sensitivity));
      const isFew = missed.length <= expected.length * MISSED_SHARE_MAX;
      assert.ok(isFew, `${sensitivity}: ${missed.join(" | ")}`);
    }
  });
}
