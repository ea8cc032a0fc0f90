import assert from "node:assert/strict";
import { test } from "node:test";
import {
  agentEcho,
  type Circumstances,
  type Echo,
  echoOf,
  noteEcho,
  type PlayedWord,
} from "../../../engine/conversation/echo.js";
import { wordsOf } from "../../../engine/conversation/lexicon.js";
import { EMPTY_LEDGER, recordSent } from "../../../engine/conversation/playback-ledger.js";
import { newConversation, newTurn } from "../../../engine/conversation/state.js";
import { changed } from "../../doubles/changed-state.js";
import { PLAIN_SETTINGS } from "../../doubles/recorded-call.js";

/** What was said in 3,000 ms, from the beginning of the call on. */
const SENTENCE = {
  text: "We have three rooms with a view of the lake.",
  durationMs: 3_000,
  expectedMs: 3_000,
  isWhole: true,
};

/** The agent's second sentence began at 3,000 ms; its audio stopped, or paused, at `untilMs`. */
function echoOfSecond(untilMs: number, isHeld: boolean, text = "breakfast is free", atMs = 3_400) {
  const first = recordSent(EMPTY_LEDGER, SENTENCE, 0);
  const second = { text: "Breakfast is free. This is all.", durationMs: 800, expectedMs: 800 };
  const ledger = recordSent(first, { ...second, isWhole: true }, 3_000);
  const state = changed(newConversation(PLAIN_SETTINGS, []), { user: { endedAtMs: atMs } });
  if (!isHeld) {
    const spokenBefore = { ledger, untilMs, turnBeforeAtMs: undefined };
    return agentEcho(changed(state, { echo: { spokenBefore } }), text);
  }
  const asked = { userText: "", callerEndedAtMs: 0, decidedAtMs: 0, attempt: 1 };
  const turn = { ...newTurn({ id: 1, kind: "reply", ...asked }), ledger };
  return agentEcho(changed(state, { turn, outputPausedAtMs: untilMs }), text);
}

test("words may be an echo that were to be said within half a second of where the agent's sound stopped, later ones not", () => {
  for (const isHeld of [true, false]) {
    assert.equal(echoOfSecond(3_000, isHeld), "possible");
    assert.equal(echoOfSecond(2_999, isHeld), "none");
    assert.equal(echoOfSecond(3_299, isHeld, "this is all", 3_800), "none");
    assert.equal(echoOfSecond(3_300, isHeld, "this is all", 3_800), "certain");
  }
});

test("five words that came back tell of a loudspeaker, on which one in four may be misheard, for a minute", () => {
  const ledger = recordSent(EMPTY_LEDGER, SENTENCE, 100_000);
  const spokenBefore = { ledger, untilMs: 103_000, turnBeforeAtMs: undefined };
  const user = { endedAtMs: 101_600 };
  const state = changed(newConversation(PLAIN_SETTINGS, []), { echo: { spokenBefore }, user });
  const echoAfter = (words: number, ago: number) => {
    const noted = changed(state, {});
    noteEcho(noted, words, 101_600 - ago);
    return agentEcho(noted, "we have free rooms");
  };
  assert.equal(agentEcho(state, "we have free rooms"), "none");
  assert.equal(echoAfter(5, 60_000), "certain");
  assert.equal(echoAfter(5, 60_001), "none");
  assert.equal(echoAfter(4, 0), "none");
});

const WORD_MS = 300;
const SPEAKING =
  "Sure! We have a table for two at eight, or you could come on Friday. Don't wait too long.";

/** What was played, evenly, from the call's beginning on. */
function played(text: string): readonly PlayedWord[] {
  const sentences = text.split(/(?<=[.!?。，])\s*/).map(wordsOf);
  let endsAtMs = 0;
  return sentences.flatMap((words) =>
    words.map((word, index) => {
      endsAtMs += WORD_MS;
      const isLast = index === words.length - 1;
      return { word, endsAtMs, beginsSentence: index === 0, endsSentence: isLast };
    }),
  );
}

/** As heard this long after the last of the words was played. */
function heard(
  words: string,
  lagMs: number,
  text = SPEAKING,
  circumstances: Circumstances = {},
): Echo {
  const all = played(text);
  const last = wordsOf(words).at(-1);
  const at = all.findLast(({ word }) => word === last)?.endsAtMs ?? all.at(-1)?.endsAtMs ?? 0;
  return echoOf(words, at + lagMs, all, circumstances);
}

/** As `heard`, from a caller with a known loudspeaker. */
function heardOnLoudspeaker(words: string, lagMs: number, mayGoOn = false, text = SPEAKING): Echo {
  return heard(words, lagMs, text, { isOnLoudspeaker: true, mayGoOn });
}

test("the agent's own words that come back at once are an echo", () => {
  for (const words of [
    "we have a table",
    "Table for two at eight",
    "have a table for two at ate or you could",
    "could come on friday",
    "sure we have a",
    "DONT WAIT TOO LONG",
    "too long",
  ]) {
    assert.equal(heard(words, 150), "certain", words);
  }
});

test("a recognizer may leave two of the agent's words out between two that came back, and no more", () => {
  assert.equal(heard("have for two at eight or", 150), "certain");
  assert.equal(heard("have two at eight or you", 150), "possible");
});

test("the more words come back, the more time it would take to repeat them", () => {
  assert.equal(heard("a table for two at eight", 1_100), "certain");
  assert.equal(heard("a table for two at eight", 1_300), "possible");
});

test("while audio is paused, a word that broke off with it is an echo, however late it is heard", () => {
  const all = played("We have a table");
  const endsAtMs = all.at(-1)?.endsAtMs ?? 0;
  assert.equal(echoOf("we have a tab", endsAtMs + 2_000, all, { isOutputPaused: true }), "certain");
  assert.equal(echoOf("we have a tab", endsAtMs + 2_000, all), "possible");
  assert.equal(
    echoOf("we have a table", endsAtMs + 2_000, all, { isOutputPaused: true }),
    "possible",
  );
});

test("a few of them may be an answer, and so may more after the time it takes to say them", () => {
  for (const words of ["friday", "a table for two", "two at eight"]) {
    assert.equal(heard(words, 600), "possible", words);
  }
  for (const words of ["a table for two at eight", "don't wait too long"]) {
    assert.equal(heard(words, 1_900), "possible", words);
  }
});

test("words with one that the agent did not say may be a correction", () => {
  const said = "Shall I book it for Tuesday at four with Doctor Miller?";
  assert.equal(heard("Tuesday at three with Doctor Miller", 300, said), "possible");
  assert.equal(heard("Tuesday at three", 300, said), "none");
});

test("the caller's own words are none", () => {
  for (const words of [
    "",
    "stop",
    "no",
    "wait",
    "no wait",
    "stop stop stop",
    "hold on a minute",
    "I would rather come on Monday",
    "can we have it outside",
    "a table for six please",
    "eight two for",
    "friday come could you",
  ]) {
    assert.equal(heard(words, 300), "none", words);
  }
});

test("words that were not played yet, and those of long ago, are the caller's", () => {
  assert.equal(heard("a table for two at eight", -1_700), "none");
  assert.equal(heard("a table for two at eight", 2_700), "none");
});

test("words of interruption are never an echo, even while the agent says them", () => {
  assert.equal(heard("wait a moment", 200, "Please wait a moment while I look."), "none");
  assert.equal(heard("no stop", 200, "There is no stop here."), "none");
  assert.equal(heard("espere un momento", 200, "Espere un momento, por favor."), "none");
});

test("in silence nothing is an echo", () => {
  assert.equal(echoOf("we have a table", 0, []), "none");
});

test("scripts without spaces are compared by characters", () => {
  assert.equal(heard("我们有一张", 150, "好的，我们有一张两人的桌子。"), "certain");
  assert.equal(heard("我不要了", 150, "好的，我们有一张两人的桌子。"), "none");
});

test("only the newest words of very long texts are compared", () => {
  const long = "word ".repeat(20_000);
  assert.equal(heard(long, 150, long), "certain");
  assert.equal(heard("this is the beginning", 150, `this is the beginning ${long}`), "none");
});

test("a piece of a word is an echo's where the sound broke off, at the ends, and not inside", () => {
  assert.equal(heard("ave a table for two", 400), "certain");
  assert.equal(heard("we ave a table", 400), "none");
});

test("on a loudspeaker three words in five may be misheard ones that are back at once, and one in two while more may come", () => {
  assert.equal(heardOnLoudspeaker("have a fable for chew at eight", 150), "certain");
  assert.equal(heard("have a fable for chew at eight", 150), "none");
  assert.equal(heardOnLoudspeaker("have fable for dew at late eight", 150), "possible");
  assert.equal(heardOnLoudspeaker("fable for", 150, true), "possible");
  assert.equal(heardOnLoudspeaker("fable for", 150), "none");
  assert.equal(heardOnLoudspeaker("table for two", 150), "certain");
  assert.equal(heardOnLoudspeaker("table for", 150), "possible");
});

test("a misheard word at the end stands for the one that the agent said then", () => {
  const all = played(SPEAKING);
  const endsAtMs = all.find(({ word }) => word === "eight")?.endsAtMs ?? 0;
  const onLoudspeaker = { isOnLoudspeaker: true };
  assert.equal(echoOf("for two at late", endsAtMs + 550, all, onLoudspeaker), "certain");
});

test("on a loudspeaker a first word waits for more, unless it asks to stop, or is final while the agent speaks on", () => {
  assert.equal(heardOnLoudspeaker("murmur", 150, true), "possible");
  assert.equal(heardOnLoudspeaker("murmur", 150), "none");
  const outputPaused = { isOnLoudspeaker: true, isOutputPaused: true };
  assert.equal(heard("murmur", 150, SPEAKING, outputPaused), "possible");
  assert.equal(heard("fable for", 150, SPEAKING, outputPaused), "possible");
  assert.equal(heardOnLoudspeaker("wait", 150, true), "none");
});

test("two words in a row that the agent did not say are the caller's on a loudspeaker too, wherever they stand", () => {
  for (const words of ["have a table help me", "have a table help me at eight or you could"]) {
    assert.equal(heardOnLoudspeaker(words, 150, true), "none", words);
  }
});

test("a correction on a loudspeaker takes the time that it takes to say", () => {
  const said = "Shall I book it for Tuesday at four with Doctor Miller?";
  assert.equal(heardOnLoudspeaker("for Tuesday at three with", 150, false, said), "certain");
  assert.equal(heardOnLoudspeaker("for Tuesday at three with", 1_001, false, said), "possible");
  assert.equal(heardOnLoudspeaker("book Tuesday at three", 801, false, said), "none");
});

test("a word that asks to stop is the caller's after and within returned words, unless the agent said it there", () => {
  for (const words of [
    "we have a table for two stop",
    "sure we have a table for two wait at eight or you",
  ]) {
    assert.equal(heard(words, 150), "none", words);
    assert.equal(heardOnLoudspeaker(words, 150), "none", words);
  }
  assert.equal(heard("friday don't wait too long", 150), "certain");
});

test("numbers that the agent's text has in digits are its own where the recognizer spells them, and the other way round", () => {
  for (const [text, ...guesses] of [
    ["We have a table at 8:30 tonight.", "at eight thirty", "a table at eight thirty tonight"],
    [
      "That comes to $427.50 in total.",
      "comes to four hundred",
      "that comes to four hundred and twenty seven dollars and fifty cents",
      "comes to four hundred and twenty seven dollars and fifty cents in total",
    ],
    ["Your number is 48213.", "number is four eight", "your number is four eight two one three"],
    ["Das macht 27 Euro im Monat.", "das macht siebenundzwanzig euro", "siebenundzwanzig euro im"],
    ["We close at eight thirty tonight.", "we close at 8:30 tonight", "close at 8:30"],
  ] as const) {
    for (const words of guesses) {
      assert.notEqual(heard(words, 200, text), "none", words);
      assert.notEqual(heardOnLoudspeaker(words, 200, true, text), "none", words);
    }
  }
  assert.equal(
    heard("table at eight forty tonight", 200, "We have a table at 8:30 tonight."),
    "possible",
  );
  assert.equal(heard("at six thirty", 200, "We have a table at 8:30 tonight."), "none");
});

test("a number that the caller says is not the agent's because its digits stand in that", () => {
  const text = "I have your number as 4155550123 on this account.";
  const echo = (words: string) => heardOnLoudspeaker(words, 200, false, text);
  assert.equal(echo("four one five five five five zero one two three"), "certain");
  assert.equal(echo("five one zero five five five"), "none");
  const order = "The order 48213 was shipped on Monday.";
  assert.notEqual(heardOnLoudspeaker("the second one", 200, false, order), "certain");
});

test("two characters of Chinese or Japanese in a row may be one misheard word, and four are the caller's", () => {
  const text = "好的，我们有一张两人的桌子在靠窗的位置。";
  assert.notEqual(heardOnLoudspeaker("我们有一双凉人的桌子", 150, true, text), "none");
  assert.equal(heardOnLoudspeaker("我们有我要取消", 150, true, text), "none");
});

test("an answer after an echoed question waits, whatever the agent says next, and may be the first of three offers", () => {
  const it = "Le va bene un tavolo per due alle otto di sera? Abbiamo anche un tavolo fuori.";
  const endsAtMs = played(it).find(({ word }) => word === "sera")?.endsAtMs ?? 0;
  const words = "le va bene un tavolo per due alle otto di sera sì";
  assert.equal(echoOf(words, endsAtMs + 400, played(it)), "possible");
  const offers = "Would you like the red one or the blue one or perhaps the nice green one?";
  assert.equal(heardOnLoudspeaker("the red one", 200, false, offers), "possible");
});

test("on a loudspeaker words that only say a number's digits do not make up for a misheard one", () => {
  const order = "The order 48213 was shipped on Monday.";
  assert.equal(heardOnLoudspeaker("order four eight murmur was", 200, false, order), "possible");
  assert.equal(
    heardOnLoudspeaker("order four eight two one three was", 200, false, order),
    "certain",
  );
});

/** Words that were played evenly; a bar parts two sentences. */
function playedSentences(text: string): readonly PlayedWord[] {
  let endsAtMs = 0;
  return text.split("|").flatMap((sentence) => {
    const words = wordsOf(sentence);
    return words.map((word, index) => {
      endsAtMs += WORD_MS;
      const endsSentence = index === words.length - 1;
      return { word, endsAtMs, beginsSentence: index === 0, endsSentence };
    });
  });
}

/** As heard this long after the last played word. */
function heardAfter(words: string, lagMs: number, text: string): Echo {
  const all = playedSentences(text);
  return echoOf(words, (all.at(-1)?.endsAtMs ?? 0) + lagMs, all);
}

/** The times, of those on both sides of each border, at which it is an echo for certain. */
function certainAt(words: string, text: string, lagsMs: readonly number[]): readonly number[] {
  return lagsMs.filter((lagMs) => heardAfter(words, lagMs, text) === "certain");
}

test("words of the agent's come back from 1.5 s before they are thought to be over to 2.5 s after", () => {
  const text = "alpha beta gamma delta epsilon|zeta";
  const echo = (lagMs: number) =>
    heardAfter("alpha beta gamma delta epsilon", lagMs - WORD_MS, text);
  assert.deepEqual([-1_501, -1_500, 2_500, 2_501].map(echo), [
    "none",
    "certain",
    "possible",
    "none",
  ]);
  const last = (lagMs: number) => heardAfter("beta gamma", lagMs, "alpha beta gamma");
  assert.deepEqual([2_500, 2_501].map(last), ["possible", "none"]);
});

test("a caller who repeats five words needs a second for it, and one who repeats more never more than 1.5 s", () => {
  const five = "alpha beta gamma delta epsilon";
  const text = `${five} zeta eta theta iota`;
  const at = (words: string) => {
    const all = playedSentences(text);
    const last = wordsOf(words).at(-1);
    const endsAtMs = all.find(({ word }) => word === last)?.endsAtMs ?? 0;
    return (lagMs: number) => echoOf(words, endsAtMs + lagMs, all);
  };
  assert.deepEqual([1_000, 1_001].map(at(five)), ["certain", "possible"]);
  assert.deepEqual([1_500, 1_501].map(at(`${five} zeta eta theta`)), ["certain", "possible"]);
});

test("a sentence of three words is one within 600 ms, and four words that begin a longer one", () => {
  const lags = [600, 601, 800, 801];
  assert.deepEqual(certainAt("alpha beta gamma", "omega|alpha beta gamma", lags), [600]);
  const all = playedSentences("alpha beta gamma delta epsilon");
  const begun = (words: string, count: number) => (lagMs: number) =>
    echoOf(words, count * WORD_MS + lagMs, all) === "certain";
  assert.deepEqual(lags.filter(begun("alpha beta gamma delta", 4)), [600, 601, 800]);
  assert.deepEqual(lags.filter(begun("alpha beta gamma", 3)), []);
  assert.deepEqual(lags.filter(begun("beta gamma delta", 4)), []);
});

test("two words that end with a sentence are an echo from 100 ms before its end to 400 ms after", () => {
  const lags = [-101, -100, 400, 401];
  assert.deepEqual(certainAt("delta epsilon", "gamma delta epsilon", lags), [-100, 400]);
  assert.deepEqual(certainAt("epsilon", "gamma delta epsilon", lags), []);
});

test("of eight words one may be misheard, of seven none, and of ten not two", () => {
  const text = "alpha beta gamma delta epsilon zeta eta theta iota kappa|omega";
  const all = playedSentences(text);
  const echo = (words: string, count: number) => echoOf(words, count * WORD_MS + 100, all);
  assert.equal(echo("alpha beta gamma delta other zeta eta theta", 8), "certain");
  assert.equal(echo("alpha beta gamma other epsilon zeta eta", 7), "possible");
  const two = "alpha other gamma delta other zeta eta theta iota kappa";
  assert.equal(echo(two, 10), "possible");
  assert.equal(echo("alpha other gamma delta epsilon", 5), "possible");
  assert.equal(echo("alpha other other delta epsilon", 5), "none");
});

test("only the caller's newest forty words are compared", () => {
  const words = Array.from({ length: 41 }, (_, n) => `word${n}x`);
  const text = words.join(" ");
  const echo = (own: number) =>
    heardAfter(`${"mine ".repeat(own)}${words.slice(own).join(" ")}`, 100, text);
  assert.equal(echo(1), "certain");
  assert.equal(heardAfter(`mine ${words.slice(2).join(" ")}`, 100, text), "certain");
});

test("a letter is no piece of a word, and two are", () => {
  const all = playedSentences("alpha beta gamma");
  const atMs = 3 * WORD_MS + 2_000;
  assert.equal(echoOf("alpha beta ga", atMs, all, { isOutputPaused: true }), "certain");
  assert.equal(echoOf("alpha beta g", atMs, all, { isOutputPaused: true }), "none");
});

test("words that were said before a pause took no time since", () => {
  const text = "alpha beta gamma delta epsilon zeta";
  const all = playedSentences(text);
  const atMs = 6 * WORD_MS + 700;
  assert.equal(echoOf(text, atMs, all), "certain");
  assert.equal(echoOf(text, atMs, all, { newestText: "epsilon zeta" }), "possible");
});

test("of twenty words at most three are misheard", () => {
  const words = Array.from({ length: 20 }, (_, at) => `word${String.fromCharCode(97 + at)}`);
  const misheard = (count: number) =>
    words.map((word, at) => (at % 5 === 2 && at < 5 * count ? `other${at}` : word)).join(" ");
  const text = words.join(" ");
  assert.deepEqual(
    [3, 4].map((count) => heardAfter(misheard(count), 0, `omega|${text}|zeta`)),
    ["certain", "possible"],
  );
});

test("on a loudspeaker four words of which one was misheard are back within 800 ms", () => {
  const all = playedSentences("alpha beta gamma delta epsilon zeta");
  const onLoudspeaker = { isOnLoudspeaker: true };
  const echo = (lagMs: number) =>
    echoOf("beta gamma other epsilon", 5 * WORD_MS + lagMs, all, onLoudspeaker);
  assert.deepEqual([800, 801].map(echo), ["certain", "none"]);
});

test("a word after everything that was played is an answer, and before more of it a misheard one", () => {
  const question = "alpha beta gamma delta epsilon zeta eta theta";
  const onLoudspeaker = { isOnLoudspeaker: true };
  for (const text of [question, "alpha beta gamma"]) {
    const endsAtMs = wordsOf(text).length * WORD_MS;
    const echo = (all: readonly PlayedWord[]) =>
      echoOf(`${text} other`, endsAtMs + 400, all, onLoudspeaker);
    assert.equal(echo(playedSentences(text)), "possible", text);
    assert.equal(echo(playedSentences(`${text}|iota kappa`)), "certain", text);
  }
  assert.equal(
    echoOf(`${question} other`, 8 * WORD_MS + 400, playedSentences(question)),
    "possible",
  );
});

test("a yes or no after returned words may be an answer, whatever the agent says next", () => {
  const all = playedSentences("alpha beta gamma delta epsilon zeta eta theta|iota kappa");
  for (const answer of ["yes", "no", "ja", "sorry"]) {
    const words = `alpha beta gamma delta epsilon zeta eta theta ${answer}`;
    assert.equal(echoOf(words, 8 * WORD_MS + 400, all), "possible", answer);
  }
});

test("words of which another part of the agent's is a mishearing are an answer where it said them as they are", () => {
  const all = playedSentences("would you like the red one or the blue one");
  const lastMs = all.at(-1)?.endsAtMs ?? 0;
  const echo = (words: string, lagMs: number) =>
    echoOf(words, lastMs + lagMs, all, { isOnLoudspeaker: true });
  assert.equal(echo("the red one", 200), "possible");
  assert.equal(echo("the blew one", 200), "certain");
  assert.equal(echo("the blue one", 200), "certain");
});

test("on a loudspeaker words with a misheard one may have come 300 ms before they are thought to be over", () => {
  const all = playedSentences("alpha beta gamma delta epsilon zeta");
  const echo = (words: string, lagMs: number) =>
    echoOf(words, 4 * WORD_MS + lagMs, all, { isOnLoudspeaker: true });
  assert.deepEqual(
    [-300, -301].map((lagMs) => echo("alpha other gamma delta", lagMs)),
    ["certain", "possible"],
  );
  assert.equal(echo("alpha beta gamma delta", -301), "certain");
});

test("on a loudspeaker half of the letters of misheard words are the agent's", () => {
  const all = playedSentences("in the evening of the day|omega");
  const echo = (words: string) => echoOf(words, 3 * WORD_MS + 100, all, { isOnLoudspeaker: true });
  assert.deepEqual(["in the noise", "in the abcdef"].map(echo), ["certain", "possible"]);
});

test("words before and after a pause are an echo together if each part contains words of the agent's", () => {
  const all = playedSentences("alpha beta gamma delta epsilon zeta eta theta iota kappa");
  const echo = (older: string, newest: string, count: number) =>
    echoOf(`${older} ${newest}`, count * WORD_MS + 200, all, {
      isOnLoudspeaker: true,
      newestText: newest,
    });
  assert.equal(echo("alpha beta", "gamma other", 4), "certain");
  assert.equal(echo("alpha beta gamma", "other", 4), "possible");
  assert.equal(echo("other", "alpha beta gamma", 3), "possible");
  assert.equal(echo("alpha other", "gamma delta", 4), "certain");
});

test("while audio is paused a first word waits for as long as the echo takes", () => {
  const all = playedSentences("alpha beta gamma");
  const echo = (lagMs: number) =>
    echoOf("other", 3 * WORD_MS + lagMs, all, { isOnLoudspeaker: true, isOutputPaused: true });
  assert.deepEqual([600, 601].map(echo), ["possible", "none"]);
});

test("the end of a word is no piece that broke off with the sound", () => {
  const all = playedSentences("alpha beta goodbye");
  const echo = (word: string) => echoOf(word, 3 * WORD_MS + 900, all, { isOutputPaused: true });
  assert.deepEqual(["goodb", "bye"].map(echo), ["certain", "possible"]);
});

test("on a loudspeaker three words of five are enough", () => {
  const all = playedSentences("alpha beta gamma delta epsilon zeta");
  const echo = (words: string) => echoOf(words, 5 * WORD_MS + 200, all, { isOnLoudspeaker: true });
  assert.equal(echo("alpha other gamma other epsilon"), "certain");
});
