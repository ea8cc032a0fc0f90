import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Circumstances,
  type Echo,
  echoOf,
  type PlayedWord,
} from "../../../engine/conversation/echo.js";
import { wordsOf } from "../../../engine/conversation/lexicon.js";

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

/** As heard so long after the last of the words was played. */
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

/** As `heard`, from a caller who is known to have a loudspeaker on. */
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

test("where the sound stands still, a word that broke off with it is an echo's, however late it is heard", () => {
  const all = played("We have a table");
  const endsAtMs = all.at(-1)?.endsAtMs ?? 0;
  assert.equal(echoOf("we have a tab", endsAtMs + 2_000, all, { standsStill: true }), "certain");
  assert.equal(echoOf("we have a tab", endsAtMs + 2_000, all), "possible");
  assert.equal(echoOf("we have a table", endsAtMs + 2_000, all, { standsStill: true }), "possible");
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

test("on a loudspeaker a first word is waited behind, unless it asks to stop, or is settled while the agent speaks on", () => {
  assert.equal(heardOnLoudspeaker("murmur", 150, true), "possible");
  assert.equal(heardOnLoudspeaker("murmur", 150), "none");
  const standsStill = { isOnLoudspeaker: true, standsStill: true };
  assert.equal(heard("murmur", 150, SPEAKING, standsStill), "possible");
  assert.equal(heard("fable for", 150, SPEAKING, standsStill), "possible");
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

test("a word that asks to stop is the caller's behind and amid words that came back, and not where the agent said it", () => {
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

test("an answer behind a question that came back waits, whatever the agent goes on to say, and may be the first of three offers", () => {
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
