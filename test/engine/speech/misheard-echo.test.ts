import assert from "node:assert/strict";
import { test } from "node:test";
import { echoOf, type PlayedWord } from "../../../engine/speech/echo-guard.js";
import { wordsOf } from "../../../engine/speech/spoken-words.js";
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

interface HeardWord {
  readonly word: string;
  readonly endsAtMs: number;
}

/** What a loudspeaker plays of a reply, and what a recognizer hears of it a quarter of a second later. */
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

/** Whether any of the recognizer's guesses at a reply, each longer than the last, is taken for the caller's words. */
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
