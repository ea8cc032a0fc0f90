import { step } from "../../engine/conversation/conversation.js";
import type { ConversationEvent } from "../../engine/conversation/events.js";
import {
  type ConversationSettings,
  type ConversationState,
  newConversation,
} from "../../engine/conversation/state.js";
import { median } from "../quantile.js";

const SETTINGS: ConversationSettings = {
  greeting: "Hello! How can I help you today?",
  transferring: "",
  cannotTransfer: "",
  suspended: "",
  callEndedByOrganization: "",
  apology: "I am sorry, I could not answer that just now.",
  sensitivity: "medium",
  language: "en",
  languageTag: "en-US",
  languages: [],
  backchannels: "ignore",
  backchannelPhrases: [],
  interruptionPhrases: [],
  preemptiveGeneration: false,
  onProviderFailure: "end",
  repeatRequest: "",
  silenceTimeoutMs: 700,
  maxEndpointingDelayMs: 1_500,
  dtmfDigits: 0,
  phrases: undefined,
  fillerAfterMs: 0,
  idleTimeoutMs: 0,
  durationMaxMs: 3_600_000,
  isPaced: false,
  isStreamed: false,
  tools: [],
  systemPromptChars: 400,
};
const QUESTION = "can you tell me when the next train to the airport leaves".split(" ");
const REPLY =
  "The next train to the airport leaves at half past three. It goes from platform two, and takes about twenty minutes. Would you like to hear the one after that?";
const WARM_UP_ROUNDS = 300;
const ROUNDS = 300;
const REPEATS = 7;
const TURNS_PER_CALL = 20;

export interface TransitionResult {
  readonly eventsPerSecond: number;
  /** A fixed piece of plain work, so that a slow machine is told from slow code. */
  readonly referencePerSecond: number;
}

/** How many events a core takes through the pure session, over whole calls; the median of several runs. */
export function measureTransition(): TransitionResult {
  const call = eventsOfCall();
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) play(call);
  const rates: number[] = [];
  const references: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const before = process.cpuUsage();
    for (let round = 0; round < ROUNDS; round += 1) play(call);
    rates.push(perCpuSecond(ROUNDS * call.length, before));
    references.push(referenceRate());
  }
  return { eventsPerSecond: median(rates), referencePerSecond: median(references) };
}

function play(events: readonly ConversationEvent[]): ConversationState {
  const state = newConversation(SETTINGS, []);
  for (const event of events) step(state, event);
  if (state.record.metrics.turnCount !== TURNS_PER_CALL) throw new Error("the call went otherwise");
  return state;
}

/** A call as the vendors tell it: guesses at the words, the end of the turn, tokens, sentences, the end of playback. */
function eventsOfCall(): readonly ConversationEvent[] {
  const greeting = { turnId: 1, index: 0, durationMs: 2_000, firstByteAtMs: 100, atMs: 150 };
  const events: ConversationEvent[] = [
    { type: "opened", resumed: false, atMs: 0 },
    { type: "sentenceWhole", ...greeting },
  ];
  let atMs = 2_200;
  events.push({ type: "deadlineReached", atMs });
  for (let turn = 0; turn < TURNS_PER_CALL; turn += 1) {
    atMs = addTurn(events, turn + 2, atMs + 500);
  }
  return events;
}

function addTurn(events: ConversationEvent[], turnId: number, startMs: number): number {
  let atMs = startMs;
  events.push({ type: "speechStarted", atMs });
  for (let count = 2; count <= QUESTION.length; count += 2) {
    const text = QUESTION.slice(0, count).join(" ");
    atMs += 500;
    const heard = { text, isFinal: false, speechFinal: false, endedAgoMs: 80, atMs };
    events.push({ type: "transcript", lastWordEndMs: atMs - 80, ...heard });
  }
  atMs += 400;
  const final = { text: QUESTION.join(" "), isFinal: true, speechFinal: true, endedAgoMs: 300 };
  events.push({ type: "transcript", lastWordEndMs: atMs - 300, atMs, ...final });
  const tokens = REPLY.match(/\s*\S{1,5}/g) ?? [];
  for (const text of tokens) {
    atMs += 10;
    events.push({ type: "replyToken", turnId, text, atMs });
  }
  events.push({ type: "replyDone", turnId, tokens: 120, atMs });
  for (let index = 0; index < 3; index += 1) {
    atMs += 150;
    const spoken = { durationMs: 3_000, firstByteAtMs: atMs - 50, atMs };
    events.push({ type: "sentenceWhole", turnId, index, ...spoken });
  }
  atMs += 9_000;
  events.push({ type: "deadlineReached", atMs });
  return atMs;
}

const REFERENCE_ROUNDS = 20_000;

/** Small objects copied, short texts joined, a map asked: what a transition is made of, a fixed amount of it. */
function referenceRate(): number {
  const before = process.cpuUsage();
  let state = { text: "", count: 0, items: [] as readonly number[], last: undefined as unknown };
  for (let round = 0; round < REFERENCE_ROUNDS; round += 1) {
    const text = state.text.length > 200 ? "" : `${state.text} word`;
    const items = [...state.items, round].slice(-20);
    let sum = 0;
    for (let at = 0; at < text.length; at += 1) sum += text.charCodeAt(at);
    state = { ...state, text, items, count: state.count + 1, last: { sum } };
  }
  if (state.count !== REFERENCE_ROUNDS) throw new Error("unreachable");
  return perCpuSecond(REFERENCE_ROUNDS, before);
}

/** By CPU time and not by the clock: what else the machine does is not the code's fault. */
function perCpuSecond(count: number, before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (count * 1_000_000) / (user + system);
}
