/** All that is known of a call and of the turn under way. It imports no rule. */

import type {
  BackchannelHandling,
  CallMetrics,
  HistoryMessage,
  InterruptionSensitivity,
  OnProviderFailure,
  StockPhrases,
} from "../../storage/records.js";
import type { ChatMessage, ToolCall } from "../vendors/contracts.js";
import type { Ending } from "./call-end.js";
import { type Deadlines, noDeadlines } from "./deadlines.js";
import {
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
import { EMPTY_TRANSCRIPT_BUFFER, type TranscriptBuffer } from "./transcript-buffer.js";

/** How a reply is cut for a line that plays its audio as it comes, or for one that is sent whole pieces. */
export function splitterFor({ isStreamed }: { readonly isStreamed: boolean }): SplitterState {
  return isStreamed ? EMPTY_STREAMED_SPLITTER : EMPTY_SPLITTER;
}

/** Numbers from here on are words that say that the agent is at work. */
export const WAITING_SLOT_FIRST = 1_000;

/** One thing that the assistant says, from the question to the last sentence heard. */
export interface Turn {
  id: number;
  kind: TurnKind;
  /** What it answers; empty for what the assistant says by itself. */
  userText: string;
  /** When the caller stopped speaking, and when the turn was known to be over. */
  callerEndedAtMs: number;
  decidedAtMs: number;
  /** Why the caller's turn was over that it answers; undefined for what the assistant says by itself. */
  endOfTurn: EndOfTurn | undefined;
  /** What the caller's speech has done to it, `BARGE_INS_PER_TURN_MAX` at the most. */
  bargeIns: readonly BargeIn[];
  /** So long before `decidedAtMs` the model was asked; undefined where it was not. */
  preemptiveMs: number | undefined;
  /** Tokens that were wasted before it. */
  wastedTokens: number;
  /** What the caller has waited for an answer to the same in turns before it. */
  waitedBeforeMs: number;
  /** The model was asked this many times for it. */
  attempt: number;
  generating: boolean;
  splitter: SplitterState;
  replyChars: number;
  sentences: Sentence[];
  /** Sentences given to synthesis, and sent to the caller, counted from the first. */
  requestedCount: number;
  sentCount: number;
  /** How many of those sent only say that the agent is at work. */
  fillerCount: number;
  ledger: PlaybackLedger;
  /** What the caller had heard when the client was told to drop the rest; the count restarts there. */
  playedBeforeMs: number;
  /** Gaps in its sentences, where their audio came too late. */
  underruns: number;
  /** It was held once, and no words followed: only words stop it. */
  wasFalselyInterrupted: boolean;
  /** The model's newest token, or what it was asked after. */
  progressAtMs: number;
  /** Since when a voice of the caller keeps the reply from beginning. */
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
  /** What the model asked for and what came of it, in the order of the conversation. */
  toolMessages: readonly ChatMessage[];
  /** Running tools, and how often the LLM has called tools. */
  toolsWaiting: readonly string[];
  toolRounds: number;
  /** The LLM is asked when the running tools of an earlier turn have returned. */
  waitsForTools: boolean;
  /** The newest tools that press keys for the agent, behind all that it has said, and those of them that still wait for that. */
  dtmfCallIds: readonly string[];
  keysToPress: readonly ToolCall[];
  /** How the call ends once this has been said. */
  ending: Ending | undefined;
}

export interface Sentence {
  /** Its number in effects and events: the sentences of the answer count from 0, whatever is said between them. */
  slot: number;
  text: string;
  attempt: number;
  /** When TTS was first asked for it; undefined before that. */
  requestedAtMs: number | undefined;
  /** The audio that has come; undefined before any has. */
  durationMs: number | undefined;
  /** When the newest of it firstTry. */
  grewAtMs: number;
  isWhole: boolean;
  /** Where its words end in its audio, as its voice has told by now. */
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
    waitsForTools: false,
    dtmfCallIds: [],
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
    turn.firstTokenAtMs,
    turn.firstSentenceAtMs,
    turn.firstByteAtMs,
    turn.firstAudioAtMs,
  ].map((mark) => (mark === undefined ? undefined : Math.max(mark, turn.callerEndedAtMs)));
  return { ...report, ...stagesBetween(marks) };
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

/** It only says that the agent is at work. */
export function isFiller({ slot }: Sentence): boolean {
  return slot >= WAITING_SLOT_FIRST;
}

/** How many sentences of the answer itself are known. */
export function answersOf(turn: Turn): number {
  return turn.sentences.length - turn.fillerCount;
}

/** How many sentences of the answer itself the caller was sent. */
export function answersSent(turn: Turn): number {
  return turn.sentCount - turn.fillerCount;
}

/** Everything that the turn will say is with the caller, who has only to hear it. */
export function isAllSent(turn: Turn): boolean {
  return !turn.generating && turn.sentCount === turn.sentences.length && !isGrowing(turn);
}

/** Where the sentence of that number stands among those of the turn; -1 when there is none. */
export function placeOf(turn: Turn, slot: number): number {
  if (turn.fillerCount === 0) return slot < turn.sentences.length ? slot : -1;
  return turn.sentences.findIndex((sentence) => sentence.slot === slot);
}

/** Whether the sentence that was sent last is still to become longer. */
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

/** The contract's bound on what is kept of a conversation, counted in messages. */
export const HISTORY_MESSAGES_MAX = 20;

/** What is kept of a longer conversation: its end, from something that the caller said. An answer to nothing misleads a model. */
export function historyWindow(history: readonly HistoryMessage[]): readonly HistoryMessage[] {
  if (history.length <= HISTORY_MESSAGES_MAX) return history;
  const kept = history.slice(-HISTORY_MESSAGES_MAX);
  return kept.slice(kept.findIndex((message) => message.role === "user"));
}

/** The conversation after these messages too, as much of it as is kept. */
export function withMessages(
  history: readonly HistoryMessage[],
  added: readonly HistoryMessage[],
): readonly HistoryMessage[] {
  return historyWindow(added.reduce(withMessage, history));
}

/** As `withMessages`, and what has left the window by it. */
export function keptAndCut(
  history: readonly HistoryMessage[],
  added: readonly HistoryMessage[],
): { kept: readonly HistoryMessage[]; cut: readonly HistoryMessage[] } {
  const all = added.reduce(withMessage, history);
  const kept = historyWindow(all);
  return { kept, cut: all.slice(0, all.length - kept.length) };
}

/** One question and its answer; of either what is not empty. */
export function turnMessages(userText: string, assistantText: string): readonly HistoryMessage[] {
  const both = [
    { role: "user", content: userText },
    { role: "assistant", content: assistantText },
  ] as const;
  return both.filter(({ content }) => content !== "");
}

export function joinWords(first: string, second: string): string {
  if (first === "") return second;
  return second === "" ? first : `${first} ${second}`;
}

/** Vendors want the roles to take turns: two messages of one role become one. */
function withMessage(
  history: readonly HistoryMessage[],
  { role, content }: HistoryMessage,
): readonly HistoryMessage[] {
  const last = history.at(-1);
  if (last?.role !== role) return [...history, { role, content }];
  return [...history.slice(0, -1), { role, content: joinWords(last.content, content) }];
}

/** What the agent decides about a call; does not change while it lasts. */
export interface ConversationSettings {
  readonly greeting: string;
  /** Spoken when a reply could not be made. */
  readonly apology: string;
  /** Spoken before a transfer that somebody of the organization has ordered. */
  readonly transferring: string;
  /** Spoken when the vendor does not take the call on. */
  readonly cannotTransfer: string;
  /** Spoken before the call of a suspended organization ends. */
  readonly suspended: string;
  /** Spoken before a call ends that somebody of the organization ends. */
  readonly callEndedByOrganization: string;
  /** What the agent says by itself; undefined for one that says nothing that its author or its model did not write. */
  readonly phrases: StockPhrases | undefined;
  /** Spoken when the caller spoke and the STT returned no words; empty where the agent ignores that. */
  readonly repeatRequest: string;
  readonly sensitivity: InterruptionSensitivity;
  /** The first part of the agent's language tag, in lower case. */
  readonly language: string;
  /** Words of agreement while the agent speaks, or right after, get no reply, or one when it has spoken. */
  readonly backchannels: BackchannelHandling;
  /** The agent's own backchannels and stop words, beside those of its language. */
  readonly backchannelPhrases: readonly string[];
  readonly interruptionPhrases: readonly string[];
  /** The model is asked before the end of the caller's turn is certain. */
  readonly preemptiveGeneration: boolean;
  /** Whether a call without working vendors is transferred, if a tool has a target. */
  readonly onProviderFailure: OnProviderFailure;
  readonly silenceTimeoutMs: number;
  /** How long a caller may pause who is dictating, or has left a sentence open. */
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
  /** The caller is sent a sentence's audio as it comes; else every sentence waits until it is whole. */
  readonly isStreamed: boolean;
  readonly tools: readonly ConversationTool[];
  /** Counted into the estimate of tokens of a reply that was stopped before the vendor said its count. */
  readonly systemPromptChars: number;
}

/** What the agent's model may ask for; `http` and `client` tools are performed outside and answer. */
export type ConversationTool =
  | { readonly kind: "hangup" | "sendDigits" | "http" | "client"; readonly name: string }
  | { readonly kind: "transfer"; readonly name: string; readonly to: string };

export interface ReadyPhrase {
  readonly text: string;
  readonly durationMs: number;
  /** Where its words end in its audio; empty where its voice does not tell. */
  readonly marks: readonly WordMark[];
}

/** A reply that the model was asked for before the end of the caller's turn is certain. Nothing of it is done or said. */
export interface PreemptiveReply {
  turnId: number;
  /** All that it answers, and what of that the caller may still be saying. */
  userText: string;
  words: string;
  requestedAtMs: number;
  text: string;
  done: ReplyDoneEvent | undefined;
}

/** Words that may be an echo, from the moment on that the first of them began. */
export interface SuspectedEcho {
  readonly text: string;
  readonly beganAtMs: number;
  readonly endOfTurn: EndOfTurn;
}

/** Which of the agent's words came back, on the call's clock. */
export interface ReturnedEcho {
  /** The last of those that were certainly an echo was played until then. */
  readonly untilMs: number;
  /** How much later they were heard, at most; undefined before the first. */
  readonly lagMs: number | undefined;
  /** Words that came as closely as an echo, but were answered because nothing had come back in front of them. */
  readonly suspectedUntilMs: number;
}

/** What a turn that is over has played, and until when. */
export interface SpokenBefore {
  readonly ledger: PlaybackLedger;
  readonly untilMs: number;
  /** When the turn before it began of which enough was heard to come back from a loudspeaker. */
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

/** What a caller has waited in vain who speaks again and again, and until when. */
export interface CarriedOverWait {
  readonly waitedMs: number;
  readonly untilMs: number;
}

/** A tool request of a cancelled turn that continues at its service. */
export interface PendingTool {
  readonly turnId: number;
  readonly callId: string;
  /** No reply waits for its result any longer. */
  readonly dueMs: number;
}

/** What the model has had done for a reply that the caller did not hear to its end: asked anew, it would have it done twice. */
export interface ToolsDone {
  /** The question before the first of the messages, and all of it before the last; empty once it stands in the history. */
  readonly question: string;
  readonly covered: string;
  readonly messages: readonly ChatMessage[];
  /** In the order of their places in `messages`. */
  readonly pending: readonly PendingTool[];
}

/** What the vendor was asked, and what is known of its answer. */
export interface Transfer {
  /** The turn whose end it was. */
  readonly turnId: number;
  /** How the call ends when the vendor takes it. */
  readonly ending: Ending;
  /** The caller's stream has closed meanwhile, as it does when the vendor has taken the call. */
  readonly pendingEnd: Ending | undefined;
}

/** The vendor is asked to take the call on: words of the caller wait, and are answered if the call stays here. */
export function isBeingTransferred({ phase }: ConversationState): boolean {
  return phase === "transferring";
}

/** The pace of English at a usual speed, until the voice itself has been heard. */
export const VOICE_MS_PER_CHAR = 65;

/** What the caller is saying, and what is known of when that is over. */
export interface UserTurn {
  /** Words of the turn as heard so far. */
  hearing: TranscriptBuffer;
  late: LateTranscripts;
  /** The STT has turn detection; after so much silence it has failed to end the turn. */
  undecidedMaxMs: number | undefined;
  /** When the caller began what is being heard now. */
  utteranceBeganAtMs: number | undefined;
  /** When the caller was last noticed to begin with something that no turn has ended with yet. */
  voicedAtMs: number;
  /** When the caller stopped saying the newest words. */
  endedAtMs: number;
  /** When the voice of a caller who has interrupted was last heard, until that is answered; undefined without an interruption. */
  bargeInVoiceAtMs: number | undefined;
  /** Why the newest turn of the caller's that wants an answer was over. */
  endOfTurn: EndOfTurn | undefined;
  /** How long after their end the STT returned the newest words. */
  sttDelayMs: number;
  /** DTMF digits that are not taken as a whole yet. */
  digits: string;
  lastDigitAtMs: number;
  /** When digits were last taken as a whole. */
  dtmfTakenAtMs: number;
  /** Said by the caller and not answered yet: while the agent spoke on, or before a reply that was dropped. */
  unanswered: string;
  /** Reminders to a silent caller since the caller's last words. */
  reminders: number;
  /** When the newest voice began that the STT has returned no words for, and that is not the agent's own. */
  unrecognizedVoiceAtMs: number | undefined;
  /** Requests to repeat unrecognized speech since words last firstTry. */
  repeatRequests: number;
}

/** What the agent is doing. */
export type AgentTurn =
  /** Nothing: it is the caller's turn. */
  | { readonly state: "silent" }
  /** The model has been asked before the end of the caller's turn is certain. */
  | { readonly state: "speculating"; readonly reply: PreemptiveReply }
  /** It answers what the caller said. */
  | { readonly state: "replying"; readonly turn: Turn }
  /** It says something by itself: the turn's `kind` tells what. */
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

/** Throws where that may not follow on what the agent is doing: the fault ends this one call. */
export function setAgentTurn(state: Pick<ConversationState, "agent">, next: AgentTurn): void {
  const { agent } = state;
  if (!NEXT_AGENT_STATES[agent.state].includes(next.state)) {
    throw new Error(`the agent's turn cannot go from ${agent.state} to ${next.state}`);
  }
  state.agent = next;
}

/** What the agent is saying or about to say; undefined while it is silent or only speculates. */
export function turnOf({ agent }: Pick<ConversationState, "agent">): Turn | undefined {
  return agent.state === "replying" || agent.state === "saying" ? agent.turn : undefined;
}

/** The reply that the model was asked for before the end of the caller's turn is certain. */
export function preemptiveReplyOf({
  agent,
}: Pick<ConversationState, "agent">): PreemptiveReply | undefined {
  return agent.state === "speculating" ? agent.reply : undefined;
}

/** The agent's own words, which may come back through a loudspeaker. */
export interface EchoState {
  /** The turn that was heard last, whose echo may still be on its way. */
  spokenBefore: SpokenBefore;
  /** Words that may be an echo: they wait until the agent's sound has ended. */
  suspected: SuspectedEcho | undefined;
  /** When enough of the agent's words last came back to tell that the caller is on a loudspeaker. */
  loudspeakerAtMs: number;
  returned: ReturnedEcho;
}

/** What an interruption left unheard, until it is known whether the caller meant it. */
export interface CutSpeech {
  readonly sentences: readonly string[];
  /** The question of this turn if nothing of the answer was heard; it is first among the unanswered words. */
  readonly question: string;
  /** How the call was to end after them. */
  readonly ending: Ending | undefined;
}

/** Nothing of what an interruption left unheard is said any more; the question that it answered stays open. */
export function dropCutSpeech(state: Pick<ConversationState, "cut">): void {
  state.cut = { ...state.cut, sentences: [], ending: undefined };
}

/** What people of the organization have asked of the agent. */
export interface ControlState {
  /** It answers nothing and says nothing by itself. */
  isMuted: boolean;
  /** Texts that are still to be said, `SAY_WAITING_MAX` at the most. */
  waiting: readonly string[];
  /** Notes for the LLM, the oldest first. */
  context: readonly string[];
}

/** The notes as an effect carries them; nothing where there are none. */
export function contextOf({ control: { context } }: Pick<ConversationState, "control">): {
  readonly context?: readonly string[];
} {
  return context.length === 0 ? {} : { context };
}

/** What is stored of the call when it is over. */
export interface CallRecordState {
  history: readonly HistoryMessage[];
  unsaved: readonly SaidMessage[];
  metrics: CallMetrics;
  latencySumMs: number;
  latencyCount: number;
}

export interface ConversationState {
  /** While it is `transferring`, the vendor's answer to a transfer is waited for. */
  phase: "opening" | "live" | "transferring" | "ended";
  readonly settings: ConversationSettings;
  /** A call that has ended has none. */
  readonly deadlines: Deadlines;
  readonly user: UserTurn;
  agent: AgentTurn;
  readonly echo: EchoState;
  readonly record: CallRecordState;
  readonly control: ControlState;
  /** Since when output is paused, for the words of a caller who made a sound; undefined while it plays. */
  outputPausedAtMs: number | undefined;
  /** Pauses that no words followed, since words last did. */
  falseInterruptions: number;
  cut: CutSpeech;
  lastTurnId: number;
  /** Preemptive replies since a reply last began, and the tokens that were wasted on them. */
  preemptiveTries: number;
  wastedTokens: number;
  /** What was done for a reply that the caller did not hear to its end. */
  toolsDone: ToolsDone | undefined;
  /** The wait for an answer in restarted turns since the caller last heard one. */
  carriedOverWait: CarriedOverWait | undefined;
  /** The vendor was asked to take the call on, and has not refused: one that takes it late has taken it. */
  transfer: Transfer | undefined;
  failedTurns: number;
  /** Phrases of the agent's stock that can be played at once. */
  readyPhrases: readonly ReadyPhrase[];
  /** How long the agent's voice takes for a character, from the sentences that are whole. */
  voiceMsPerChar: number;
}

export function newConversation(
  settings: ConversationSettings,
  history: readonly HistoryMessage[],
  voiceMsPerChar = VOICE_MS_PER_CHAR,
): ConversationState {
  return {
    phase: "opening",
    settings,
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
      unanswered: "",
      reminders: 0,
      unrecognizedVoiceAtMs: undefined,
      repeatRequests: 0,
    },
    agent: SILENT,
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
    control: { isMuted: false, waiting: [], context: [] },
    outputPausedAtMs: undefined,
    falseInterruptions: 0,
    cut: { sentences: [], question: "", ending: undefined },
    lastTurnId: 0,
    preemptiveTries: 0,
    wastedTokens: 0,
    toolsDone: undefined,
    carriedOverWait: undefined,
    transfer: undefined,
    failedTurns: 0,
    readyPhrases: [],
    voiceMsPerChar,
  };
}
