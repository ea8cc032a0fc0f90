import type { SessionEffect } from "../effects.js";
import { heldBack, lengthMsOf } from "../playback/playback-ledger.js";
import { advanceSpeech, newSentence, SENTENCES_MAX } from "../speaking.js";
import type { SessionState } from "../state.js";
import { isGrowing, isWaitingWord, type Sentence, type Turn } from "../turn.js";
import { countInterruption } from "./interruption.js";

/** Only an agent that any voice interrupts is stopped by one, and not in its goodbye. */
export function mayPause(state: SessionState, turn: Turn): boolean {
  const { sensitivity } = state.settings;
  return (
    sensitivity === "high" && turn.ending === undefined && turn.sentences.length < SENTENCES_MAX
  );
}

/**
 * The client drops what it has not played. The sentence that was cut becomes two, what was heard of it and the rest; the
 * rest and what follows are spoken again, and are ready when it is known that the caller said nothing.
 */
export function pause(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const { ledger, index, heard } = heldBack(turn.ledger, atMs);
  const before = turn.sentences.slice(0, index);
  const slot = before.filter((sentence) => !isWaitingWord(sentence)).length;
  out.push({ type: "dropAudio", turnId: turn.id, index: slot });
  out.push({ type: "send", message: { type: "audioStop" } });
  out.push({ type: "cancelTimer", timer: "ahead" });
  if (isGrowing(turn)) out.push({ type: "cancelTimer", timer: "growth" });
  const [cut, ...after] = turn.sentences.slice(index);
  const said = cut === undefined || heard === undefined ? [] : [heardSentence(cut, heard)];
  const begun = heard?.text.length ?? 0;
  const isSaidAgain = cut !== undefined && !isWaitingWord(cut);
  const rest = isSaidAgain ? [cut.text.slice(begun).trimStart()] : [];
  const texts = [...rest, ...after.filter((one) => !isWaitingWord(one)).map(({ text }) => text)];
  const slotFirst = slot + (isSaidAgain ? said.length : 0);
  const again = texts.map((text, at) => newSentence(text, slotFirst + at));
  const sentences = [...before, ...said, ...again];
  const sentCount = ledger.sent.length;
  const waitingWords = sentences.filter(isWaitingWord).length;
  const playedBeforeMs = lengthMsOf(ledger);
  const askedCount = sentCount;
  const counts = { sentCount, askedCount, waitingWords, playedBeforeMs };
  const paused = { ...turn, ledger, sentences, ...counts };
  return advanceSpeech(countInterruption(state), paused, atMs, out);
}

/** What was heard of a sentence stands as one of its own. */
function heardSentence(
  { slot }: Sentence,
  { text, durationMs }: { text: string; durationMs: number },
): Sentence {
  return { ...newSentence(text, slot), durationMs, isWhole: true };
}
