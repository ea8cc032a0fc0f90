/** The state of a call and of its current turn. This file imports no rule. */

import type {
  BackchannelHandling,
  CallMetrics,
  HistoryMessage,
  InterruptionSensitivity,
  OnProviderFailure,
  StockPhrases,
  ToolExchange,
} from "../../storage/records.js";
import type { ChatMessage, ToolCall } from "../vendors/contracts.js";
import type { Ending } from "./call-end.js";
import { type ContinuedControl, NOT_CONTROLLED } from "./control-command.js";
import { type Deadlines, noDeadlines } from "./deadlines.js";
import {
  type AnswererKind,
  type ContinuedAnswerer,
  NO_METRICS,
  type SaidMessage,
  type TurnKind,
  type TurnOutcome,
  type TurnReport,
  WAIT_PARTS,
  type WaitPart,
} from "./effects.js";
import type { ReplyDoneEvent } from "./events.js";
import { type LateTranscripts, NO_LATE_WORDS } from "./late-transcripts.js";
import { EMPTY_LEDGER, type PlaybackLedger, type WordMark } from "./playback-ledger.js";
import type { BargeIn, EndOfTurn } from "./reasons.js";
import { EMPTY_SPLITTER, EMPTY_STREAMED_SPLITTER, type SplitterState } from "./sentences.js";
import { withNewestTools } from "./tool-history.js";
import { EMPTY_TRANSCRIPT_BUFFER, type TranscriptBuffer } from "./transcript-buffer.js";

/** How a reply is split for a line that plays audio as it arrives, or for one that gets whole pieces. */
export function splitterFor({ isStreamed }: { readonly isStreamed: boolean }): SplitterState {
  return isStreamed ? EMPTY_STREAMED_SPLITTER : EMPTY_SPLITTER;
}

/** Numbers from here on are fillers. */
export const WAITING_SLOT_FIRST = 1_000;

/** One turn of the agent's, from the question to the last sentence heard. */
export interface Turn {
  id: number;
  kind: TurnKind;
  /** The words that it answers; empty for what the agent says on its own. */
  userText: string;
  /** When the caller stopped speaking, and when the turn was known to be over. */
  callerEndedAtMs: number;
  decidedAtMs: number;
  /** Why the caller's turn that it answers was over; undefined for what the agent says on its own. */
  endOfTurn: EndOfTurn | undefined;
  /** The barge-in decisions about it, at most `BARGE_INS_PER_TURN_MAX`. */
  bargeIns: readonly BargeIn[];
  /** How long before `decidedAtMs` the LLM request started; undefined without a preemptive reply. */
  preemptiveMs: number | undefined;
  /** Tokens that were wasted before it. */
  wastedTokens: number;
  /** How long the caller has waited for the same answer in earlier turns. */
  waitedBeforeMs: number;
  /** The number of LLM requests for it. */
  attempt: number;
  generating: boolean;
  splitter: SplitterState;
  /** The length of the passages in the last LLM request for it. */
  passagesChars: number;
  replyChars: number;
  sentences: Sentence[];
  /** Sentences requested from TTS, and sent to the caller, counted from the first. */
  requestedCount: number;
  sentCount: number;
  /** How many of the sent sentences are fillers. */
  fillerCount: number;
  ledger: PlaybackLedger;
  /** What the caller had heard when the client was told to drop the rest; the count restarts there. */
  playedBeforeMs: number;
  /** Gaps in its sentences, where their audio came too late. */
  underruns: number;
  /** It was paused once and no words followed: only words stop it now. */
  wasFalselyInterrupted: boolean;
  /** The time of the LLM's newest token, or of its last request. */
  progressAtMs: number;
  /** Since when a voice of the caller delays the start of the reply. */
  overlapAtMs: number | undefined;
  hasWaitedForWords: boolean;
  firstTokenAtMs: number | undefined;
  firstSentenceAtMs: number | undefined;
  firstByteAtMs: number | undefined;
  firstAudioAtMs: number | undefined;
  /** Something of it could not be generated or spoken. */
  faulty: boolean;
  /** TTS could not say sentences that the caller has not heard. */
  restLost: boolean;
  /** None of it could be spoken, and trying again would not help. */
  hopeless: boolean;
  /** The LLM's tool calls and their results, in the order of the conversation. */
  toolMessages: readonly ChatMessage[];
  /** Running tools, and how often the LLM has called tools. */
  toolsWaiting: readonly string[];
  toolRounds: number;
  /** A background tool's result has started the turn: the first, or the last time that it is to be told. */
  resultTry: "first" | "last" | undefined;
  /** The LLM is requested when the running tools of an earlier turn have returned. */
  waitsForTools: boolean;
  /** The newest DTMF tool calls, sent after all that the agent has said, and those that still wait for that. */
  dtmfCallIds: readonly string[];
  /** Tool calls that are aborted with the turn. */
  cancellableCallIds: readonly string[];
  /** What the agent says because a tool has failed; undefined where none has, or it says nothing about it. */
  failureSentence: string | undefined;
  keysToPress: readonly ToolCall[];
  /** How the call ends once this has been said. */
  ending: Ending | undefined;
}

export interface Sentence {
  /** Its number in effects and events: sentences of the answer count from 0, whatever is said between them. */
  slot: number;
  text: string;
  attempt: number;
  /** When TTS was first requested for it; undefined before that. */
  requestedAtMs: number | undefined;
  /** The length of the received audio; undefined before any arrived. */
  durationMs: number | undefined;
  /** When its newest audio arrived. */
  grewAtMs: number;
  isWhole: boolean;
  /** Where its words end in its audio, as far as TTS has reported. */
  marks: readonly WordMark[];
  /** The audio received when TTS failed and a second attempt was requested for the rest, and the time of that. */
  firstTry:
    | { readonly text: string; readonly durationMs: number; readonly atMs: number }
    | undefined;
}

export function newTurn({
  id,
  kind,
  userText,
  callerEndedAtMs,
  decidedAtMs,
  attempt,
}: Pick<Turn, "id" | "kind" | "userText" | "callerEndedAtMs" | "decidedAtMs" | "attempt">): Turn {
  return {
    id,
    kind,
    userText,
    callerEndedAtMs,
    decidedAtMs,
    endOfTurn: undefined,
    bargeIns: [],
    preemptiveMs: undefined,
    wastedTokens: 0,
    waitedBeforeMs: 0,
    attempt,
    generating: true,
    splitter: EMPTY_SPLITTER,
    passagesChars: 0,
    replyChars: 0,
    sentences: [],
    requestedCount: 0,
    sentCount: 0,
    fillerCount: 0,
    ledger: EMPTY_LEDGER,
    playedBeforeMs: 0,
    underruns: 0,
    wasFalselyInterrupted: false,
    progressAtMs: decidedAtMs,
    overlapAtMs: undefined,
    hasWaitedForWords: false,
    firstTokenAtMs: undefined,
    firstSentenceAtMs: undefined,
    firstByteAtMs: undefined,
    firstAudioAtMs: undefined,
    faulty: false,
    restLost: false,
    hopeless: false,
    toolMessages: [],
    toolsWaiting: [],
    toolRounds: 0,
    resultTry: undefined,
    waitsForTools: false,
    dtmfCallIds: [],
    cancellableCallIds: [],
    failureSentence: undefined,
    keysToPress: [],
    ending: undefined,
  };
}

export function reportOf(turn: Turn, outcome: TurnOutcome): TurnReport {
  const { underruns, fillerCount, preemptiveMs, wastedTokens, endOfTurn, bargeIns } = turn;
  const gaps = {
    ...(underruns === 0 ? {} : { underruns }),
    ...(fillerCount === 0 ? {} : { fillerCount }),
    ...(preemptiveMs === undefined ? {} : { preemptiveMs: roundMs(preemptiveMs) }),
    ...(wastedTokens === 0 ? {} : { wastedTokens }),
  };
  const decisions = {
    ...(endOfTurn === undefined ? {} : { endOfTurn }),
    ...(bargeIns.length === 0 ? {} : { bargeIns }),
  };
  const report = { turn: turn.id, kind: turn.kind, outcome, ...gaps, ...decisions };
  if (turn.kind !== "reply") return report;
  const marks = [
    turn.callerEndedAtMs,
    turn.decidedAtMs,
    firstTokenAtMs(turn),
    turn.firstSentenceAtMs,
    turn.firstByteAtMs,
    turn.firstAudioAtMs,
  ].map((mark) => (mark === undefined ? undefined : Math.max(mark, turn.callerEndedAtMs)));
  return { ...report, ...stagesBetween(marks) };
}

/** A sentence that a tool has the agent say can come before the LLM's first token: the caller waited for it. */
function firstTokenAtMs({ firstTokenAtMs: tokenAtMs, firstSentenceAtMs }: Turn) {
  return tokenAtMs === undefined ? undefined : Math.min(tokenAtMs, firstSentenceAtMs ?? tokenAtMs);
}

function stagesBetween(marks: readonly (number | undefined)[]): Partial<TurnReport> {
  const stages: Partial<Record<WaitPart | "totalMs", number>> = {};
  let sumMs = 0;
  for (const [index, stage] of WAIT_PARTS.entries()) {
    const from = marks[index];
    const to = marks[index + 1];
    if (from === undefined || to === undefined) return stages;
    const durationMs = roundMs(to - from);
    stages[stage] = durationMs;
    sumMs += durationMs;
  }
  stages.totalMs = roundMs(sumMs);
  return stages;
}

/** Tenths of a millisecond: finer would be noise. */
export function roundMs(durationMs: number): number {
  return Math.round(durationMs * 10) / 10;
}

/** The sentence is a filler. */
export function isFiller({ slot }: Sentence): boolean {
  return slot >= WAITING_SLOT_FIRST;
}

/** The number of known sentences of the answer itself. */
export function answersOf(turn: Turn): number {
  return turn.sentences.length - turn.fillerCount;
}

/** The number of sentences of the answer itself that were sent to the caller. */
export function answersSent(turn: Turn): number {
  return turn.sentCount - turn.fillerCount;
}

/** Everything that the turn will say was sent to the caller, and only has to be played. */
export function isAllSent(turn: Turn): boolean {
  return !turn.generating && turn.sentCount === turn.sentences.length && !isGrowing(turn);
}

/** The position of the sentence with that number in the turn; -1 if there is none. */
export function placeOf(turn: Turn, slot: number): number {
  if (turn.fillerCount === 0) return slot < turn.sentences.length ? slot : -1;
  return turn.sentences.findIndex((sentence) => sentence.slot === slot);
}

/** Whether more audio of the last sent sentence is expected. */
export function isGrowing(turn: Turn): boolean {
  return turn.sentCount > 0 && turn.sentences[turn.sentCount - 1]?.isWhole === false;
}

/** The sentence as the ledger keeps it. */
export function asSent(
  { text, durationMs = 0, isWhole, marks, firstTry }: Sentence,
  voiceMsPerChar: number,
) {
  const chars = text.length - (firstTry?.text.length ?? 0);
  const estimateMs = (firstTry?.durationMs ?? 0) + chars * voiceMsPerChar;
  const expectedMs = isWhole ? durationMs : Math.max(durationMs, estimateMs);
  return { text, durationMs, expectedMs, isWhole, marks };
}

/** The contract's limit on the stored history, in messages. */
export const HISTORY_MESSAGES_MAX = 20;

/**
 * The stored part of a longer conversation: its end, from a caller's message on. An answer without its question
 * misleads an LLM.
 */
export function historyWindow(history: readonly HistoryMessage[]): readonly HistoryMessage[] {
  if (history.length <= HISTORY_MESSAGES_MAX) return history;
  const kept = history.slice(-HISTORY_MESSAGES_MAX);
  return kept.slice(kept.findIndex((message) => message.role === "user"));
}

/** The conversation with these messages appended, cut to the limit. */
export function withMessages(
  history: readonly HistoryMessage[],
  added: readonly HistoryMessage[],
): readonly HistoryMessage[] {
  return withNewestTools(historyWindow(added.reduce(withMessage, history)));
}

/** As `withMessages`, plus the messages that left the window. */
export function keptAndCut(
  history: readonly HistoryMessage[],
  added: readonly HistoryMessage[],
): { kept: readonly HistoryMessage[]; cut: readonly HistoryMessage[] } {
  const all = added.reduce(withMessage, history);
  const kept = historyWindow(all);
  return { kept, cut: all.slice(0, all.length - kept.length) };
}

/** One question and its answer with the tools that it used; empty texts are left out. */
export function turnMessages(
  userText: string,
  assistantText: string,
  tools: readonly ToolExchange[] = [],
): readonly HistoryMessage[] {
  const both = [
    { role: "user", content: userText },
    { role: "assistant", content: assistantText, ...(tools.length > 0 && { tools }) },
  ] as const;
  return both.filter(({ content }) => content !== "");
}

export function joinWords(first: string, second: string): string {
  if (first === "") return second;
  return second === "" ? first : `${first} ${second}`;
}

/** Vendors require alternating roles: two messages of one role become one. */
function withMessage(
  history: readonly HistoryMessage[],
  message: HistoryMessage,
): readonly HistoryMessage[] {
  const { role, content } = message;
  const last = history.at(-1);
  if (last?.role !== role) return [...history, message];
  const tools = [...(last.tools ?? []), ...(message.tools ?? [])];
  const joined = { role, content: joinWords(last.content, content) };
  return [...history.slice(0, -1), { ...joined, ...(tools.length > 0 && { tools }) }];
}

/** What depends on the language that the agent speaks. */
export interface LanguageSettings {
  readonly languageTag: string;
  /** The first part of the tag, in lower case. */
  readonly language: string;
  /** Spoken when a reply could not be generated. */
  readonly apology: string;
  /** Spoken before a transfer that a member of the organization has ordered. */
  readonly transferring: string;
  /** Spoken when the vendor refuses the transfer. */
  readonly cannotTransfer: string;
  /** Spoken before the call of a suspended organization ends. */
  readonly suspended: string;
  /** Spoken before a member of the organization ends the call. */
  readonly callEndedByOrganization: string;
  /** Phrases that the agent says on its own; undefined for an agent that says only what its author or its LLM wrote. */
  readonly phrases: StockPhrases | undefined;
  /** Spoken when the caller spoke and the STT returned no words; empty where the agent ignores that. */
  readonly repeatRequest: string;
  /** The same tools in all languages, with the sentences that their author has written for this one. */
  readonly tools: readonly ConversationTool[];
}

/** The agent's settings for a call; only those of its language change while it lasts. */
export interface ConversationSettings extends LanguageSettings {
  readonly greeting: string;
  /** All that the call may change to, its first one included; empty for an agent with one language. */
  readonly languages: readonly LanguageSettings[];
  readonly sensitivity: InterruptionSensitivity;
  /**
   * How backchannels while the agent speaks, or right after, are handled: ignored, or answered when it has
   * finished.
   */
  readonly backchannels: BackchannelHandling;
  /** The agent's own backchannels and stop words, beside those of its language. */
  readonly backchannelPhrases: readonly string[];
  readonly interruptionPhrases: readonly string[];
  /** The LLM request starts before the end of the caller's turn is certain. */
  readonly preemptiveGeneration: boolean;
  /** Whether a call without working vendors is transferred, if a tool has a target. */
  readonly onProviderFailure: OnProviderFailure;
  readonly silenceTimeoutMs: number;
  /** How long a caller may pause while dictating, or after an open sentence. */
  readonly maxEndpointingDelayMs: number;
  /** Number of DTMF digits that completes an answer; 0 if unknown. */
  readonly dtmfDigits: number;
  /** Plays a filler after this many ms without agent audio; 0 disables. */
  readonly fillerAfterMs: number;
  /** Caller silence in ms after which the agent asks whether the caller is still there; 0: never. */
  readonly idleTimeoutMs: number;
  readonly durationMaxMs: number;
  /** The server paces the audio itself: it can pause it, and gets reports of what was played. */
  readonly isPaced: boolean;
  /** The caller gets a sentence's audio as it arrives; otherwise each sentence waits until it is whole. */
  readonly isStreamed: boolean;
  /** Only of a call that the agent has placed. */
  readonly outbound?: OutboundSettings | undefined;
  /** Part of the token estimate of a reply that was stopped before the vendor reported its usage. */
  readonly systemPromptChars: number;
}

/** What the agent does on a call that it has placed, before it talks to a person. */
export interface OutboundSettings {
  /** The vendor will say whether a person or a machine has answered: until then at most the greeting is said. */
  readonly awaitsVerdict: boolean;
  /** The greeting waits for a person. */
  readonly greetsPersonOnly: boolean;
  /** Left on an answering machine; empty: the call ends. */
  readonly voicemailMessage: string;
  /** The vendor also reports the beep of a machine. */
  readonly isBeepReported: boolean;
  /** Said to a machine that screens calls. */
  readonly screeningAnswer: string;
  /** Who was at the other end of the broken call that this one continues. */
  readonly continued?: ContinuedAnswerer | undefined;
}

/** The tools of the agent's LLM; `http` and `client` tools run outside the conversation and return results. */
export type ConversationTool =
  | { readonly kind: "hangup" | "sendDigits"; readonly name: string }
  | {
      /** `mcp`: all tools of a server, whose names begin with its name and `_`. */
      readonly kind: "http" | "client" | "mcp";
      readonly name: string;
      /** A sentence that the agent says while it runs, where the LLM has said nothing. */
      readonly onStart?: string;
      /** A sentence that the agent says once when it still runs after this time. */
      readonly onDelay?: { readonly text: string; readonly afterMs: number };
      /** A sentence that the agent says when it has failed. */
      readonly onFailure?: string;
      /** The agent does not wait for it. `reply`: its result starts a turn. */
      readonly background?: "quiet" | "reply";
      /** An interruption aborts it; in the background only the end of the call does. */
      readonly isCancellable?: true;
    }
  | {
      readonly kind: "transfer";
      readonly name: string;
      readonly to: string;
      /** The LLM says in the tool's `summary` what the person hears. */
      readonly isWarm?: true;
      /** What the person sees, as the tool names it. */
      readonly callerId?: string;
    };

export interface ReadyPhrase {
  readonly text: string;
  readonly durationMs: number;
  /** Where its words end in its audio; empty if TTS does not report times. */
  readonly marks: readonly WordMark[];
}

/** A reply that was requested before the end of the caller's turn is certain. Nothing of it is run or spoken. */
export interface PreemptiveReply {
  turnId: number;
  /** All words that it answers, and the part of them that the caller may still be saying. */
  userText: string;
  words: string;
  requestedAtMs: number;
  passagesChars: number;
  text: string;
  done: ReplyDoneEvent | undefined;
}

/** Words that may be an echo, from the moment when the first of them began. */
export interface SuspectedEcho {
  readonly text: string;
  readonly beganAtMs: number;
  readonly endOfTurn: EndOfTurn;
}

/** Which of the agent's words returned, on the call's clock. */
export interface ReturnedEcho {
  /** The position until which the last certain echo was played. */
  readonly untilMs: number;
  /** The maximum delay with which they were heard; undefined before the first. */
  readonly lagMs: number | undefined;
  /** Words with the delay of an echo that were answered because nothing before them had returned. */
  readonly suspectedUntilMs: number;
}

/** What a finished turn has played, and until when. */
export interface SpokenBefore {
  readonly ledger: PlaybackLedger;
  readonly untilMs: number;
  /** The beginning of the turn before it of which enough was heard to return from a loudspeaker. */
  readonly turnBeforeAtMs: number | undefined;
}

export const NO_RETURNED_ECHO: ReturnedEcho = {
  untilMs: Number.NEGATIVE_INFINITY,
  lagMs: undefined,
  suspectedUntilMs: Number.NEGATIVE_INFINITY,
};

export const NOTHING_SPOKEN: SpokenBefore = {
  ledger: EMPTY_LEDGER,
  untilMs: 0,
  turnBeforeAtMs: undefined,
};

/** How long a caller who speaks again and again has waited without an answer, and until when. */
export interface CarriedOverWait {
  readonly waitedMs: number;
  readonly untilMs: number;
}

/** A tool request of a cancelled turn that continues at its service. */
export interface PendingTool {
  readonly turnId: number;
  readonly callId: string;
  /** After this time no reply waits for its result. */
  readonly dueMs: number;
}

/** Tool calls of a reply that the caller did not hear to its end: a new request would repeat them. */
export interface ToolsDone {
  /** The question before the first of the messages, and all of it before the last; empty once it is in the history. */
  readonly question: string;
  readonly covered: string;
  readonly messages: readonly ChatMessage[];
  /** In the order of their positions in `messages`. */
  readonly pending: readonly PendingTool[];
}

/** A sentence that is said if a tool still runs then. */
export interface ToolDelay {
  readonly turnId: number;
  readonly callId: string;
  readonly text: string;
  readonly dueMs: number;
}

/** A tool that runs beside the conversation. */
export interface BackgroundCall {
  readonly turnId: number;
  readonly call: ToolCall;
  /** Its result starts a turn of the agent as soon as neither side speaks. */
  readonly startsTurn: boolean;
}

export interface BackgroundTools {
  readonly calls: readonly BackgroundCall[];
  /** The calls with their results, which the next reply reads. */
  readonly results: readonly (readonly ChatMessage[])[];
  readonly isTurnDue: boolean;
  /** The turn that is due is for results that were read before, in a turn of which nothing was heard. */
  readonly isLastTry: boolean;
  /** The turn that is due begins with this sentence, for the result of that call. */
  readonly failure: { readonly sentence: string; readonly callId: string } | undefined;
}

export const NO_BACKGROUND_TOOLS: BackgroundTools = {
  calls: [],
  results: [],
  isTurnDue: false,
  isLastTry: false,
  failure: undefined,
};

/** The transfer request to the vendor, and what is known of its result. */
export interface Transfer {
  /** The turn that ended with the transfer. */
  readonly turnId: number;
  /** How the call ends when the vendor accepts. */
  readonly ending: Ending;
  /** The caller's stream has closed meanwhile, as it does when the vendor has accepted the transfer. */
  readonly pendingEnd: Ending | undefined;
}

/** The vendor was asked to transfer the call: words of the caller wait, and are answered if the call stays here. */
export function isBeingTransferred({ phase }: ConversationState): boolean {
  return phase === "transferring";
}

/** The pace of English at a usual speed, until the voice itself has been measured. */
export const VOICE_MS_PER_CHAR = 65;

/** The caller's current words, and what is known about when they end. */
export interface UserTurn {
  /** Words of the turn so far. */
  hearing: TranscriptBuffer;
  late: LateTranscripts;
  /** STT has turn detection; after this much silence it has failed to end the turn. */
  undecidedMaxMs: number | undefined;
  /** When the current utterance of the caller began. */
  utteranceBeganAtMs: number | undefined;
  /** When the caller was last noticed to begin an utterance that no turn has ended with yet. */
  voicedAtMs: number;
  /** When the caller stopped saying the newest words. */
  endedAtMs: number;
  /**
   * When the voice of an interrupting caller was last heard, until the interruption is answered; undefined without
   * one.
   */
  bargeInVoiceAtMs: number | undefined;
  /** Why the caller's newest turn that needs an answer was over. */
  endOfTurn: EndOfTurn | undefined;
  /** How long after their end STT returned the newest words. */
  sttDelayMs: number;
  /** DTMF digits that have not been handled as one entry yet. */
  digits: string;
  lastDigitAtMs: number;
  /** When DTMF digits were last handled as one entry. */
  dtmfTakenAtMs: number;
  /** Words of the caller without an answer yet: while the agent spoke on, or before a reply that was dropped. */
  unanswered: string;
  /** What the caller's newest turns have said in another of the agent's languages than the call's. */
  otherLanguage: { readonly languageTag: string; readonly words: number } | undefined;
  /** The call's language at the last reported end of a turn, if it has changed since. */
  switchedFrom: string | undefined;
  /** Reminders to a silent caller since the caller's last words. */
  reminders: number;
  /** When the newest voice began that STT has returned no words for, and that is not the agent's own. */
  unrecognizedVoiceAtMs: number | undefined;
  /** Requests to repeat unrecognized speech since words last arrived. */
  repeatRequests: number;
}

/** Who is at the other end. */
export interface Answerer {
  kind: AnswererKind;
  /**
   * When waiting for the verdict, the end of the machine's greeting or the person is over at the latest; of a `voicemail` when a
   * beep no longer restarts the message.
   */
  untilMs: number;
  /** The greeting has not been said, because no person was there. */
  isGreetingDue: boolean;
  /** How often the agent has answered a screener. */
  screeningAnswers: number;
  /** The vendor has said that the machine's greeting is over. */
  isEndReported: boolean;
  /** A screener has said that the caller may leave a message. */
  recordsMessage: boolean;
  /** What the machine got of the message; undefined before it was begun. */
  voicemail: Voicemail | undefined;
}

/** A message for an answering machine. */
export interface Voicemail {
  /** It was played to its end. */
  readonly messageLeft: boolean;
  /** What was played of it. */
  readonly text: string;
}

/** What the agent is doing. */
export type AgentTurn =
  /** Nothing: it is the caller's turn. */
  | { readonly state: "silent" }
  /** The LLM request has started before the end of the caller's turn is certain. */
  | { readonly state: "speculating"; readonly reply: PreemptiveReply }
  /** It answers what the caller said. */
  | { readonly state: "replying"; readonly turn: Turn }
  /** It says something on its own; the turn's `kind` shows what. */
  | { readonly state: "saying"; readonly turn: Turn };

export const SILENT: AgentTurn = { state: "silent" };

/** For each state of the agent's turn the valid next states; a reply may be requested again. */
export const NEXT_AGENT_STATES: Readonly<
  Record<AgentTurn["state"], readonly AgentTurn["state"][]>
> = {
  silent: ["speculating", "replying", "saying"],
  speculating: ["silent", "replying"],
  replying: ["replying", "silent"],
  saying: ["silent"],
};

/** Throws for an invalid transition; the error ends this one call. */
export function setAgentTurn(state: Pick<ConversationState, "agent">, next: AgentTurn): void {
  const { agent } = state;
  if (!NEXT_AGENT_STATES[agent.state].includes(next.state)) {
    throw new Error(`the agent's turn cannot go from ${agent.state} to ${next.state}`);
  }
  state.agent = next;
}

/** What the agent is saying or about to say; undefined while it is silent or speculating. */
export function turnOf({ agent }: Pick<ConversationState, "agent">): Turn | undefined {
  return agent.state === "replying" || agent.state === "saying" ? agent.turn : undefined;
}

/** The preemptive reply, if there is one. */
export function preemptiveReplyOf({
  agent,
}: Pick<ConversationState, "agent">): PreemptiveReply | undefined {
  return agent.state === "speculating" ? agent.reply : undefined;
}

/** A person hears the agent, as far as is known. */
export function isPersonThere({ answerer }: Pick<ConversationState, "answerer">): boolean {
  return answerer.kind === "person";
}

/** The agent's own words, which may return through a loudspeaker. */
export interface EchoState {
  /** The last played turn, whose echo may still be on its way. */
  spokenBefore: SpokenBefore;
  /** Words that may be an echo: they wait until the agent's audio has ended. */
  suspected: SuspectedEcho | undefined;
  /** When enough of the agent's words last returned to show that the caller is on a loudspeaker. */
  loudspeakerAtMs: number;
  returned: ReturnedEcho;
}

/** What an interruption left unheard, until it is known whether the caller meant to interrupt. */
export interface CutSpeech {
  readonly sentences: readonly string[];
  /** The question of this turn if nothing of the answer was heard; it is the first of the unanswered words. */
  readonly question: string;
  /** How the call was to end after them. */
  readonly ending: Ending | undefined;
}

/** Drops what an interruption left unheard; the question that it answered stays open. */
export function dropCutSpeech(state: Pick<ConversationState, "cut">): void {
  state.cut = { ...state.cut, sentences: [], ending: undefined };
}

/** What people of the organization have asked of the agent. */
export interface ControlState {
  /** It answers nothing and says nothing by itself. */
  isMuted: boolean;
  /** Texts that are still to be said, `SAY_WAITING_MAX` at the most, and one more if the call before was saying it. */
  waiting: readonly string[];
  /** The text of the turn in progress. */
  saying: string | undefined;
  /** Notes for the LLM, the oldest first. */
  context: readonly string[];
}

/** The notes as an effect carries them, and the language that the call has changed to; only what there is. */
export function contextOf({
  control: { context },
  hasSwitchedLanguage,
  settings: { languageTag },
}: Pick<ConversationState, "control" | "hasSwitchedLanguage" | "settings">): {
  readonly context?: readonly string[];
  readonly language?: string;
} {
  return {
    ...(context.length > 0 && { context }),
    ...(hasSwitchedLanguage && { language: languageTag }),
  };
}

/** The stored record of the call. */
export interface CallRecordState {
  history: readonly HistoryMessage[];
  unsaved: readonly SaidMessage[];
  metrics: CallMetrics;
  latencySumMs: number;
  latencyCount: number;
}

export interface ConversationState {
  /** `transferring`: the vendor's answer to a transfer request is pending. */
  phase: "opening" | "live" | "transferring" | "ended";
  settings: ConversationSettings;
  /** The call is in another language than the agent's first. */
  hasSwitchedLanguage: boolean;
  /** An ended call has none. */
  readonly deadlines: Deadlines;
  readonly user: UserTurn;
  agent: AgentTurn;
  readonly answerer: Answerer;
  readonly echo: EchoState;
  readonly record: CallRecordState;
  readonly control: ControlState;
  /** Since when output is paused for the words of a caller who made a sound; undefined while it plays. */
  outputPausedAtMs: number | undefined;
  /** Consecutive pauses that no words followed. */
  falseInterruptions: number;
  cut: CutSpeech;
  lastTurnId: number;
  /** Preemptive replies since a reply last began, and their wasted tokens. */
  preemptiveTries: number;
  wastedTokens: number;
  /** How often the LLM has called tools since the caller's last words, in all turns together. */
  toolRounds: number;
  /** Tool calls of a reply that the caller did not hear to its end. */
  toolsDone: ToolsDone | undefined;
  background: BackgroundTools;
  /** Sentences of running tools that have not been said yet. */
  toolDelays: readonly ToolDelay[];
  /** How long the caller has waited in restarted turns since an answer was last heard. */
  carriedOverWait: CarriedOverWait | undefined;
  /** The vendor was asked to transfer the call and has not refused; a late acceptance counts. */
  transfer: Transfer | undefined;
  failedTurns: number;
  /** Stock phrases that can be played immediately. */
  readyPhrases: readonly ReadyPhrase[];
  /** How long the agent's voice takes per character, from the whole sentences so far. */
  voiceMsPerChar: number;
}

/** A message that broke off is said again from its beginning, to the machine that still records. */
function firstAnswerer(outbound: OutboundSettings | undefined): Answerer["kind"] {
  const { continued, awaitsVerdict = false } = outbound ?? {};
  if (continued !== undefined) return continued.kind === "voicemail" ? "machine" : continued.kind;
  return awaitsVerdict ? "pending" : "person";
}

export function newConversation(
  settings: ConversationSettings,
  history: readonly HistoryMessage[],
  voiceMsPerChar = VOICE_MS_PER_CHAR,
  { isMuted, context, unanswered, unspoken }: ContinuedControl = NOT_CONTROLLED,
): ConversationState {
  const [firstLanguage] = settings.languages;
  return {
    phase: "opening",
    settings,
    hasSwitchedLanguage:
      settings.languageTag !== (firstLanguage?.languageTag ?? settings.languageTag),
    deadlines: noDeadlines(),
    user: {
      hearing: EMPTY_TRANSCRIPT_BUFFER,
      late: NO_LATE_WORDS,
      undecidedMaxMs: undefined,
      utteranceBeganAtMs: undefined,
      voicedAtMs: Number.NEGATIVE_INFINITY,
      endedAtMs: 0,
      bargeInVoiceAtMs: undefined,
      endOfTurn: undefined,
      sttDelayMs: 0,
      digits: "",
      lastDigitAtMs: 0,
      dtmfTakenAtMs: Number.NEGATIVE_INFINITY,
      unanswered: isMuted ? unanswered : "",
      otherLanguage: undefined,
      switchedFrom: undefined,
      reminders: 0,
      unrecognizedVoiceAtMs: undefined,
      repeatRequests: 0,
    },
    agent: SILENT,
    answerer: {
      kind: firstAnswerer(settings.outbound),
      untilMs: Number.POSITIVE_INFINITY,
      isGreetingDue: settings.outbound?.continued?.isGreetingDue ?? false,
      screeningAnswers: settings.outbound?.continued?.screeningAnswers ?? 0,
      isEndReported: settings.outbound?.continued?.kind === "voicemail",
      recordsMessage: false,
      voicemail: undefined,
    },
    echo: {
      spokenBefore: NOTHING_SPOKEN,
      suspected: undefined,
      loudspeakerAtMs: Number.NEGATIVE_INFINITY,
      returned: NO_RETURNED_ECHO,
    },
    record: {
      history: historyWindow(history),
      unsaved: [],
      metrics: NO_METRICS,
      latencySumMs: 0,
      latencyCount: 0,
    },
    control: { isMuted, waiting: unspoken, saying: undefined, context },
    outputPausedAtMs: undefined,
    falseInterruptions: 0,
    cut: { sentences: [], question: "", ending: undefined },
    lastTurnId: 0,
    preemptiveTries: 0,
    wastedTokens: 0,
    toolRounds: 0,
    toolsDone: undefined,
    background: NO_BACKGROUND_TOOLS,
    toolDelays: [],
    carriedOverWait: undefined,
    transfer: undefined,
    failedTurns: 0,
    readyPhrases: [],
    voiceMsPerChar,
  };
}
