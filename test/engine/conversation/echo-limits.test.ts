import assert from "node:assert/strict";
import { test } from "node:test";
import { type Echo, echoOf, type PlayedWord } from "../../../engine/conversation/echo.js";
import { wordsOf } from "../../../engine/conversation/lexicon.js";

const WORD_MS = 300;

/** Words that were played evenly; a bar parts two sentences. */
function played(text: string): readonly PlayedWord[] {
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

/** As heard so long after the last word that was played. */
function heard(words: string, lagMs: number, text: string): Echo {
  const all = played(text);
  return echoOf(words, (all.at(-1)?.endsAtMs ?? 0) + lagMs, all);
}

/** The times, of those on both sides of each border, at which it is an echo for certain. */
function certainAt(words: string, text: string, lagsMs: readonly number[]): readonly number[] {
  return lagsMs.filter((lagMs) => heard(words, lagMs, text) === "certain");
}

test("words of the agent's come back from 1.5 s before they are thought to be over to 2.5 s after", () => {
  const text = "alpha beta gamma delta epsilon|zeta";
  const echo = (lagMs: number) => heard("alpha beta gamma delta epsilon", lagMs - WORD_MS, text);
  assert.deepEqual([-1_501, -1_500, 2_500, 2_501].map(echo), [
    "none",
    "certain",
    "possible",
    "none",
  ]);
  const last = (lagMs: number) => heard("beta gamma", lagMs, "alpha beta gamma");
  assert.deepEqual([2_500, 2_501].map(last), ["possible", "none"]);
});

test("who repeats five words needs a second for it, who repeats more never more than 1.5 s", () => {
  const five = "alpha beta gamma delta epsilon";
  const text = `${five} zeta eta theta iota`;
  const at = (words: string) => {
    const all = played(text);
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
  const all = played("alpha beta gamma delta epsilon");
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
  const all = played(text);
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
    heard(`${"mine ".repeat(own)}${words.slice(own).join(" ")}`, 100, text);
  assert.equal(echo(1), "certain");
  assert.equal(heard(`mine ${words.slice(2).join(" ")}`, 100, text), "certain");
});

test("a letter is no piece of a word, and two are", () => {
  const all = played("alpha beta gamma");
  const atMs = 3 * WORD_MS + 2_000;
  assert.equal(echoOf("alpha beta ga", atMs, all, { standsStill: true }), "certain");
  assert.equal(echoOf("alpha beta g", atMs, all, { standsStill: true }), "none");
});

test("words that were said before a pause took no time since", () => {
  const text = "alpha beta gamma delta epsilon zeta";
  const all = played(text);
  const atMs = 6 * WORD_MS + 700;
  assert.equal(echoOf(text, atMs, all), "certain");
  assert.equal(echoOf(text, atMs, all, { newestText: "epsilon zeta" }), "possible");
});

test("of twenty words three are misheard at most", () => {
  const words = Array.from({ length: 20 }, (_, at) => `word${String.fromCharCode(97 + at)}`);
  const misheard = (count: number) =>
    words.map((word, at) => (at % 5 === 2 && at < 5 * count ? `other${at}` : word)).join(" ");
  const text = words.join(" ");
  assert.deepEqual(
    [3, 4].map((count) => heard(misheard(count), 0, `omega|${text}|zeta`)),
    ["certain", "possible"],
  );
});

test("on a loudspeaker four words of which one was misheard are back within 800 ms", () => {
  const all = played("alpha beta gamma delta epsilon zeta");
  const onLoudspeaker = { isOnLoudspeaker: true };
  const echo = (lagMs: number) =>
    echoOf("beta gamma other epsilon", 5 * WORD_MS + lagMs, all, onLoudspeaker);
  assert.deepEqual([800, 801].map(echo), ["certain", "none"]);
});

test("a word behind all that was played is an answer, and before more of it a misheard one", () => {
  const question = "alpha beta gamma delta epsilon zeta eta theta";
  const onLoudspeaker = { isOnLoudspeaker: true };
  for (const text of [question, "alpha beta gamma"]) {
    const endsAtMs = wordsOf(text).length * WORD_MS;
    const echo = (all: readonly PlayedWord[]) =>
      echoOf(`${text} other`, endsAtMs + 400, all, onLoudspeaker);
    assert.equal(echo(played(text)), "possible", text);
    assert.equal(echo(played(`${text}|iota kappa`)), "certain", text);
  }
  assert.equal(echoOf(`${question} other`, 8 * WORD_MS + 400, played(question)), "possible");
});

test("a yes or no behind words that came back may be an answer, whatever the agent goes on to say", () => {
  const all = played("alpha beta gamma delta epsilon zeta eta theta|iota kappa");
  for (const answer of ["yes", "no", "ja", "sorry"]) {
    const words = `alpha beta gamma delta epsilon zeta eta theta ${answer}`;
    assert.equal(echoOf(words, 8 * WORD_MS + 400, all), "possible", answer);
  }
});

test("words of which another part of the agent's is a mishearing are an answer where it said them as they are", () => {
  const all = played("would you like the red one or the blue one");
  const lastMs = all.at(-1)?.endsAtMs ?? 0;
  const echo = (words: string, lagMs: number) =>
    echoOf(words, lastMs + lagMs, all, { isOnLoudspeaker: true });
  assert.equal(echo("the red one", 200), "possible");
  assert.equal(echo("the blew one", 200), "certain");
  assert.equal(echo("the blue one", 200), "certain");
});

test("on a loudspeaker words with a misheard one may have come 300 ms before they are thought to be over", () => {
  const all = played("alpha beta gamma delta epsilon zeta");
  const echo = (words: string, lagMs: number) =>
    echoOf(words, 4 * WORD_MS + lagMs, all, { isOnLoudspeaker: true });
  assert.deepEqual(
    [-300, -301].map((lagMs) => echo("alpha other gamma delta", lagMs)),
    ["certain", "possible"],
  );
  assert.equal(echo("alpha beta gamma delta", -301), "certain");
});

test("on a loudspeaker half of the letters of misheard words are the agent's", () => {
  const all = played("in the evening of the day|omega");
  const echo = (words: string) => echoOf(words, 3 * WORD_MS + 100, all, { isOnLoudspeaker: true });
  assert.deepEqual(["in the noise", "in the abcdef"].map(echo), ["certain", "possible"]);
});

test("words before and behind a pause are an echo together where each has words of the agent's", () => {
  const all = played("alpha beta gamma delta epsilon zeta eta theta iota kappa");
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

test("where the sound stands still a first word is waited behind for as long as the echo takes", () => {
  const all = played("alpha beta gamma");
  const echo = (lagMs: number) =>
    echoOf("other", 3 * WORD_MS + lagMs, all, { isOnLoudspeaker: true, standsStill: true });
  assert.deepEqual([600, 601].map(echo), ["possible", "none"]);
});

test("the end of a word is no piece that broke off with the sound", () => {
  const all = played("alpha beta goodbye");
  const echo = (word: string) => echoOf(word, 3 * WORD_MS + 900, all, { standsStill: true });
  assert.deepEqual(["goodb", "bye"].map(echo), ["certain", "possible"]);
});

test("on a loudspeaker three words of five are enough", () => {
  const all = played("alpha beta gamma delta epsilon zeta");
  const echo = (words: string) => echoOf(words, 5 * WORD_MS + 200, all, { isOnLoudspeaker: true });
  assert.equal(echo("alpha other gamma other epsilon"), "certain");
});
