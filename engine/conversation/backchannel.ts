/** Recognizes backchannels ("uh-huh", "yeah, okay"), which neither stop the agent nor need a reply. */

import { clearDeadline } from "./deadlines.js";
import type { ConversationEffect, SaidMessage } from "./effects.js";
import { isQuestion, LEXICONS, PhraseList, tablePhrases, tableWords } from "./lexicon.js";
import type { SentSentence } from "./playback-ledger.js";
import { type ConversationState, isAllSent, turnOf } from "./state.js";

/** Sounds that people make in every language while they listen. */
const SOUNDS = `mhm, mhmm, m hm, mm hm, mm hmm, mmhm, mmhmm, mm, mmm, m, hm, hmm, hm hm, uh huh, uhhuh, uhuh, uh hum, aha, ah, ahh,
  ah ha, oh, ooh, ok, okay, okey, okie, oki, wow, ha, haha`;

const FALLBACK_LANGUAGE = "en";
const lists = new Map(
  Object.entries(LEXICONS).flatMap(([language, { backchannels }]) =>
    backchannels === undefined ? [] : [[language, new PhraseList(backchannelPhrases(language))]],
  ),
);

/**
 * Whether the words are only a backchannel: "uh-huh", "ja, genau". `language` is the first part of a tag; an unknown
 * one counts as English.
 */
export function isBackchannelPhrase(
  text: string,
  language: string,
  own: readonly string[] = NO_PHRASES,
): boolean {
  return listOf(language, own)?.makesUp(text) === true;
}

/** Whether the words may become a backchannel with the next one: "of", before "course". */
export function beginsBackchannelPhrase(
  text: string,
  language: string,
  own: readonly string[] = NO_PHRASES,
): boolean {
  return listOf(language, own)?.begins(text) === true;
}

function listOf(language: string, own: readonly string[]): PhraseList | undefined {
  const known = lists.has(language) ? language : FALLBACK_LANGUAGE;
  if (own.length === 0) return lists.get(known);
  return agentLists.get(own, () => [...backchannelPhrases(known), ...own]);
}

/** The lists of agents with phrases of their own, built once per call, whose settings do not change. */
class OwnLists {
  readonly #lists = new WeakMap<readonly string[], PhraseList>();

  get(own: readonly string[], phrases: () => readonly string[]): PhraseList {
    const made = this.#lists.get(own) ?? new PhraseList(phrases());
    this.#lists.set(own, made);
    return made;
  }
}

const NO_PHRASES: readonly string[] = [];
const agentLists = new OwnLists();
const agentInterruptions = new OwnLists();
const interruptions = new Map(
  Object.entries(LEXICONS).flatMap(([language, lexicon]) =>
    lexicon.interruptions === undefined
      ? []
      : [[language, new PhraseList(tableWords(lexicon.interruptions))]],
  ),
);

/** Whether the words only ask the agent to stop ("stop", "hold on"), at any sensitivity. */
export function isInterruptionPhrase({ settings }: ConversationState, text: string): boolean {
  const { language, interruptionPhrases: own } = settings;
  if (own.length === 0) return interruptions.get(language)?.makesUp(text) === true;
  const phrases = () => [...tableWords(LEXICONS[language]?.interruptions), ...own];
  return agentInterruptions.get(own, phrases).makesUp(text);
}

/** All phrases of a language; only the sounds for an unknown language. */
export function backchannelPhrases(language: string): readonly string[] {
  return tablePhrases(`${SOUNDS}, ${LEXICONS[language]?.backchannels ?? ""}`);
}

/** Words that end this soon after the agent's words started while the agent was speaking. */
const RIGHT_AFTER_MS = 700;
/** A short word begins this long before it ends. */
const SHORT_WORD_MS = 400;
/** "Yes" does not answer a question of which less than this share has been played. */
const ASKED_SHARE_MIN = 0.5;
/** For this long after its question, while the agent speaks on, "yes" still interrupts. */
const ASKED_BEFORE_MAX_MS = 1_500;
/** After this time "yes" no longer interrupts; it is answered when the agent has finished speaking. */
const MAY_ANSWER_MAX_MS = 6_000;

/** Whether the newest words only show that the caller listens to what the agent says, or has just said. */
export function isBackchannel(state: ConversationState, text: string, atMs: number): boolean {
  return isBackchannelOf(state, text) && mayBeBackchannel(state, atMs);
}

/** Whether the words are a backchannel in this agent's calls, whenever they are said. */
export function isBackchannelOf(state: ConversationState, text: string): boolean {
  const { language, backchannelPhrases: own } = state.settings;
  return isBackchannelPhrase(text, language, own) && !isInterruptionPhrase(state, text);
}

/** Whether interim words can become a backchannel with the next word. */
export function mayShowListening(state: ConversationState, text: string, atMs: number): boolean {
  const { language, backchannelPhrases: own } = state.settings;
  return beginsBackchannelPhrase(text, language, own) && mayBeBackchannel(state, atMs);
}

function mayBeBackchannel(state: ConversationState, atMs: number): boolean {
  const turn = turnOf(state);
  const { spokenBefore } = state.echo;
  const { endedAtMs: callerEndedAtMs } = state.user;
  const isSpeaking = turn !== undefined && turn.sentCount > 0;
  const endedAtMs = isSpeaking ? atMs : spokenBefore.untilMs;
  const hasSpoken = isSpeaking || spokenBefore.ledger.sent.length > 0;
  if (!hasSpoken || callerEndedAtMs > endedAtMs + RIGHT_AFTER_MS) return false;
  return !hasOpenQuestion(state, callerEndedAtMs - SHORT_WORD_MS);
}

/** "Yes" to a question that the agent is asking or has just asked. */
export function isAnsweringYes(state: ConversationState, text: string): boolean {
  if (!isBackchannelOf(state, text)) return false;
  return hasOpenQuestion(state, state.user.endedAtMs - SHORT_WORD_MS);
}

/** A backchannel that does not answer a recent question. */
export function isOnlyBackchannel(state: ConversationState, text: string, atMs: number): boolean {
  if (!isBackchannel(state, text, atMs)) return false;
  return !hasOpenQuestion(state, state.user.endedAtMs - SHORT_WORD_MS, MAY_ANSWER_MAX_MS);
}

/** The agent has said all but the end of its question: "yes" is answered after the question, which ends soon. */
export function waitsForQuestion(state: ConversationState, text: string): boolean {
  const turn = turnOf(state);
  const last = turn?.ledger.sent.at(-1);
  if (turn === undefined || last === undefined || !isQuestion(last.text)) return false;
  return isAllSent(turn) && isAnsweringYes(state, text);
}

/** A backchannel stays in the transcript and gets no reply. */
export function noteBackchannel(
  state: ConversationState,
  said: SaidMessage,
  out: ConversationEffect[],
): void {
  const { text } = said;
  out.push({ type: "send", message: { type: "transcript", role: "user", text, isFinal: true } });
  clearDeadline(state, "endpointing");
  clearDeadline(state, "falseInterruption");
  state.user.utteranceBeganAtMs = undefined;
  state.record.unsaved = [...state.record.unsaved, said];
  state.user.reminders = 0;
  state.user.repeatRequests = 0;
}

/** Whether the agent was asking a question when the caller began, or shortly before. */
function hasOpenQuestion(
  state: ConversationState,
  beganAtMs: number,
  withinMs = ASKED_BEFORE_MAX_MS,
): boolean {
  const turn = turnOf(state);
  const { spokenBefore } = state.echo;
  const before = spokenBefore.ledger.sent.filter((sent) => sent.startsAtMs < spokenBefore.untilMs);
  const played = [...before, ...(turn?.ledger.sent ?? [])].filter(
    (sent) => sent.startsAtMs <= beganAtMs,
  );
  const last = played.at(-1);
  if (last === undefined) return false;
  const isHeard = beganAtMs >= last.startsAtMs + last.expectedMs * ASKED_SHARE_MIN;
  if (isHeard && isQuestion(last.text)) return true;
  return played
    .slice(0, -1)
    .some((sent) => endOf(sent) >= beganAtMs - withinMs && isQuestion(sent.text));
}

function endOf(sent: SentSentence): number {
  return sent.startsAtMs + sent.expectedMs;
}
