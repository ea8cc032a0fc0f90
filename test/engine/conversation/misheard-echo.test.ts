import assert from "node:assert/strict";
import { test } from "node:test";
import { echoOf, type PlayedWord } from "../../../engine/conversation/echo.js";
import { wordsOf } from "../../../engine/conversation/lexicon.js";
import { SeededRandom } from "../../simulation/seeded-random.js";

const REPLIES = [
  "Sure! We have a table for two at eight, or you could come on Friday. Which one would you like?",
  "Your order was shipped on Monday and should arrive within three days. Can I help you with anything else?",
  "I'm sorry to hear that. Let me look into your account and see what happened with the last invoice.",
  "The office is open from nine in the morning to six in the evening, and closed on Sundays.",
  "To reset your password, open the settings page and choose security. Then press the button at the bottom.",
];
const ROUNDS = 200;
const CHAR_MS = 60;
const LAG_MS = 250;
/** Where words are in a sentence is an estimate. */
const PLACE_ERROR_MS = 100;
const GUESS_EVERY_MS = 400;
const MISHEARD = "murmur";

interface Recognizer {
  readonly mishears: number;
  readonly leavesOut: number;
}

/** Callers' own phrases, in small words that agents say too. */
const PHRASES = [
  "in the morning",
  "at the hotel",
  "on the phone",
  "to the manager",
  "for the children",
  "from the airport",
  "with the doctor",
  "on Monday please",
  "in the office",
  "the other one",
  "is it open",
  "in the afternoon",
  "can you repeat",
  "what about Sunday",
  "for three days",
  "at the door",
  "to the station",
  "of the invoice",
];
const PIECE_WORDS_MIN = 3;
const PIECE_WORDS_MORE_MAX = 6;

interface HeardWord {
  readonly word: string;
  readonly endsAtMs: number;
}

/** What a loudspeaker plays of a reply, and what STT returns of it a quarter of a second later. */
function playedAndHeard(text: string, { mishears, leavesOut }: Recognizer, random: SeededRandom) {
  const played: PlayedWord[] = [];
  const heard: HeardWord[] = [];
  let endsAtMs = 0;
  for (const words of text.split(/(?<=[.!?])\s*/).map(wordsOf)) {
    for (const [index, word] of words.entries()) {
      endsAtMs += CHAR_MS * (word.length + 1);
      const estimatedMs = endsAtMs + (random.fraction() * 2 - 1) * PLACE_ERROR_MS;
      const place = { beginsSentence: index === 0, endsSentence: index === words.length - 1 };
      played.push({ word, endsAtMs: estimatedMs, ...place });
      const chance = random.fraction();
      const isMisheard = chance < leavesOut + mishears;
      if (chance < leavesOut) continue;
      heard.push({ word: isMisheard ? MISHEARD : word, endsAtMs: endsAtMs + LAG_MS });
    }
  }
  return { played, heard };
}

/** Whether any of the STT's interim results for a reply, each longer than the last, counts as the caller's words. */
function interruptsItself(
  played: readonly PlayedWord[],
  heard: readonly HeardWord[],
  isOnLoudspeaker: boolean,
): boolean {
  const endMs = heard.at(-1)?.endsAtMs ?? 0;
  for (let atMs = GUESS_EVERY_MS; atMs < endMs + GUESS_EVERY_MS; atMs += GUESS_EVERY_MS) {
    const guess = heard.filter(({ endsAtMs }) => endsAtMs <= atMs);
    const text = guess.map(({ word }) => word).join(" ");
    const circumstances = { isOnLoudspeaker, mayGoOn: true };
    const isCallers =
      guess.length > 0 &&
      echoOf(text, guess.at(-1)?.endsAtMs ?? 0, played, circumstances) === "none";
    if (isCallers) return true;
  }
  return false;
}

/** The share of replies in which an agent interrupts itself, where the loudspeaker is known and where it is not. */
function shares(recognizer: Recognizer) {
  const random = new SeededRandom(1);
  let [unknown, known, count] = [0, 0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const reply of REPLIES) {
      const { played, heard } = playedAndHeard(reply, recognizer, random);
      count += 1;
      if (interruptsItself(played, heard, false)) unknown += 1;
      if (interruptsItself(played, heard, true)) known += 1;
    }
  }
  return { unknown: unknown / count, known: known / count };
}

test("an echo that is heard word by word never interrupts the agent", () => {
  assert.deepEqual(shares({ mishears: 0, leavesOut: 0 }), { unknown: 0, known: 0 });
});

test("on a known loudspeaker a recognizer that mishears makes the agent interrupt itself in far fewer replies", (context) => {
  for (const [mishears, leavesOut, part] of [
    [0.03, 0.02, 1 / 3],
    [0.06, 0.04, 1 / 2],
    [0.1, 0.05, 2 / 3],
  ] as const) {
    const { unknown, known } = shares({ mishears, leavesOut });
    const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
    const told = `misheard ${percent(mishears)}, left out ${percent(leavesOut)}: ${percent(unknown)} of replies, known ${percent(known)}`;
    context.diagnostic(told);
    assert.ok(known < unknown * part, told);
  }
});

/** The share of moments at which a caller's own phrase is dropped as an echo. */
function droppedPhrases(isOnLoudspeaker: boolean): number {
  let [dropped, count] = [0, 0];
  for (const reply of REPLIES) {
    const { played } = playedAndHeard(reply, { mishears: 0, leavesOut: 0 }, new SeededRandom(1));
    const endMs = played.at(-1)?.endsAtMs ?? 0;
    for (const phrase of PHRASES) {
      for (let atMs = 2 * GUESS_EVERY_MS; atMs < endMs; atMs += GUESS_EVERY_MS / 2) {
        count += 1;
        if (echoOf(phrase, atMs, played, { isOnLoudspeaker }) === "certain") dropped += 1;
      }
    }
  }
  return dropped / count;
}

test("on a known loudspeaker few of the caller's own phrases are dropped, and none else", (context) => {
  const [unknown, known] = [droppedPhrases(false), droppedPhrases(true)];
  const told = `${(100 * known).toFixed(1)} % of phrases are dropped`;
  context.diagnostic(told);
  assert.equal(unknown, 0);
  assert.ok(known < 1 / 25, told);
});

test("on a known loudspeaker most settled pieces of an echo are dropped in which a word was misheard", (context) => {
  const random = new SeededRandom(1);
  let [dropped, count] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const reply of REPLIES) {
      const recognizer = { mishears: 0.06, leavesOut: 0.04 };
      const { played, heard } = playedAndHeard(reply, recognizer, random);
      for (let at = 0; at + PIECE_WORDS_MIN <= heard.length; at += PIECE_WORDS_MIN) {
        const length = PIECE_WORDS_MIN + Math.floor(random.fraction() * PIECE_WORDS_MORE_MAX);
        const piece = heard.slice(at, at + length);
        const text = piece.map(({ word }) => word).join(" ");
        if (piece.length < PIECE_WORDS_MIN || !text.includes(MISHEARD)) continue;
        count += 1;
        const circumstances = { isOnLoudspeaker: true };
        if (echoOf(text, piece.at(-1)?.endsAtMs ?? 0, played, circumstances) === "certain")
          dropped += 1;
      }
    }
  }
  const told = `${((100 * dropped) / count).toFixed(1)} % of pieces are dropped`;
  context.diagnostic(told);
  assert.ok(dropped > count * 0.8, told);
});
