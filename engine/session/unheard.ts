import { wholeWords } from "../speech/heard-text.js";
import type { TurnOutcome } from "./effects.js";
import { heldBack } from "./playback/playback-ledger.js";
import { isWaitingWord, type Turn } from "./turn.js";

/** So much of what the caller never heard is kept with the turn: some three minutes of speech. */
const UNHEARD_CHARACTERS_MAX = 3_000;

/** What was not heard of what was to be said; the sentence that was cut from the word on at which it was. */
export function unheardSentences(turn: Turn, atMs: number): readonly string[] {
  const { index, heard } = heldBack(turn.ledger, atMs);
  const [cut, ...rest] = turn.sentences.slice(index);
  if (cut === undefined) return [];
  const begun = heard === undefined ? cut.text : cut.text.slice(heard.text.length).trimStart();
  return [{ ...cut, text: begun }, ...rest]
    .filter((sentence) => !isWaitingWord(sentence))
    .map((sentence) => sentence.text);
}

/** What a caller who interrupted or hung up never heard of a turn, for its record; undefined of every other turn. */
export function unheardText(turn: Turn, outcome: TurnOutcome, atMs: number): string | undefined {
  if (outcome !== "interrupted" && outcome !== "cutOff") return undefined;
  const text = wholeWords(unheardSentences(turn, atMs).join(" ").trim(), UNHEARD_CHARACTERS_MAX);
  return text === "" ? undefined : text;
}
