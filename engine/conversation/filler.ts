import { setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import type { DeadlineReachedEvent, PhraseReadyEvent } from "./events.js";
import { markWords, recordSent } from "./playback-ledger.js";
import {
  FILLER_GAP_MS,
  newSentence,
  quietUntilMs,
  reportSentText,
  watchSilence,
} from "./playout.js";
import {
  type ConversationState,
  isAllSent,
  isGrowing,
  type ReadyPhrase,
  type ToolDelay,
  type Turn,
  turnOf,
  WAITING_SLOT_FIRST,
} from "./state.js";
import { isSendingDtmf } from "./tools.js";
import { pendingText } from "./transcript-buffer.js";
import { notePace } from "./voice-pace.js";

/** After this many fillers callers no longer believe them, and the watchdogs have given up the reply long before. */
const FILLERS_MAX = 6;
/** While the caller speaks, or no phrase is ready yet, the filler is checked again after this time. */
const RECHECK_MS = 500;
/** A voice that was heard this recently may still be continuing. */
const VOICE_RECENT_MS = 300;
/** How long TTS takes to the first audio of a sentence, besides the time to synthesize it. */
const TTS_FIRST_AUDIO_MS = 700;
/** Some vendors return nothing until the whole sentence is synthesized, at this multiple of real time or faster. */
const TTS_RATE_MIN = 3;
/** A sentence in synthesis grows at least this often. */
const TTS_GAP_MAX_MS = 800;
/** A caller waits at most this much longer for a sentence that TTS is slow with before a filler is played. */
const FILLER_HELD_BACK_MAX_MS = 2_500;

export function onPhraseReady(state: ConversationState, event: PhraseReadyEvent): void {
  const { text, durationMs, words = [] } = event;
  const isKnown = state.readyPhrases.some((phrase) => phrase.text === text);
  if (isKnown || !preparedPhrases(state).includes(text)) return;
  const phrase = { text, durationMs, marks: markWords(text, [], words) };
  state.readyPhrases = [...state.readyPhrases, phrase];
  notePace(state, text, durationMs);
}

/** The phrases that this call may need when TTS or LLM do not answer. */
export function preparedPhrases({ settings }: ConversationState): readonly string[] {
  const { phrases, apology, cannotTransfer, idleTimeoutMs, repeatRequest, tools } = settings;
  const onUnrecognized = repeatRequest === "" ? [] : [repeatRequest];
  const onDelay = tools.flatMap((tool) =>
    "onDelay" in tool && tool.onDelay !== undefined ? [tool.onDelay.text] : [],
  );
  if (phrases === undefined) return [...onUnrecognized, ...new Set(onDelay)];
  const { waiting, stillThere, callerIdleGoodbye, sttFailedApology, timeIsUp } = phrases;
  const idle = idleTimeoutMs > 0 ? [stillThere, callerIdleGoodbye] : [];
  const canTransfer = tools.some(({ kind }) => kind === "transfer");
  const onTransfer = canTransfer ? [cannotTransfer] : [];
  return [
    ...waiting,
    apology,
    ...idle,
    ...onUnrecognized,
    sttFailedApology,
    timeIsUp,
    ...onTransfer,
    ...new Set(onDelay),
  ];
}

/** The agent works on a reply and the caller hears nothing: plays a prepared filler. */
export function onFillerDeadline(
  state: ConversationState,
  event: DeadlineReachedEvent,
  out: ConversationEffect[],
): void {
  const turn = turnOf(state);
  const { atMs, voiceAgoMs } = event;
  if (turn === undefined || turn.kind !== "reply" || isAllSent(turn)) return;
  if (turn.fillerCount >= FILLERS_MAX) return;
  const delayMs = toolDelayDueMs(state, turn);
  const isNearDelay = delayMs !== undefined && delayMs - atMs < FILLER_GAP_MS;
  const dueMs = fillerDueMs(state, turn, event);
  // A tool's own sentence takes the place of a filler that would be said right before it.
  const leftMs = (isNearDelay ? Math.max(dueMs, delayMs + RECHECK_MS) : dueMs) - atMs;
  const isSpokenTo = isCallerSpeaking(state, turn, voiceAgoMs);
  const phrase = nextPhrase(state, turn);
  if (leftMs >= 1 || isSpokenTo || phrase === undefined || isHindered(state, turn, atMs)) {
    setDeadline(state, "filler", atMs + Math.max(leftMs, RECHECK_MS));
  } else playPhrase(state, turn, phrase, atMs, out);
}

/** When the next sentence of a tool is due that the turn waits for; undefined if none is ready to be said. */
function toolDelayDueMs(state: ConversationState, turn: Turn): number | undefined {
  const isReady = ({ text }: ToolDelay) => state.readyPhrases.some((each) => each.text === text);
  const next = state.toolDelays.filter((delay) => isAwaited(state, turn, delay) && isReady(delay));
  return next.length === 0 ? undefined : Math.min(...next.map(({ dueMs }) => dueMs));
}

/** The turn stands still until the tool has returned. */
export function isAwaited({ toolsDone }: ConversationState, turn: Turn, delay: ToolDelay): boolean {
  if (turn.kind !== "reply" || !turn.generating) return false;
  if (turn.id === delay.turnId) return turn.toolsWaiting.includes(delay.callId);
  return turn.waitsForTools && (toolsDone?.pending ?? []).some((each) => isOfCall(each, delay));
}

export function isOfCall(
  { turnId, callId }: Pick<ToolDelay, "turnId" | "callId">,
  delay: ToolDelay,
): boolean {
  return turnId === delay.turnId && callId === delay.callId;
}

/**
 * When a filler may be played. While TTS works on the next sentence, within the time that it usually needs, a
 * filler would only delay that sentence.
 */
function fillerDueMs(state: ConversationState, turn: Turn, event: DeadlineReachedEvent): number {
  const quietMs = quietUntilMs(state, turn);
  const sentence = turn.sentences[turn.sentCount];
  const { requestedAtMs, attempt = 1, durationMs, text = "" } = sentence ?? {};
  if (requestedAtMs === undefined || attempt > 1 || durationMs !== undefined) return quietMs;
  const { atMs, ttsAudioAgoMs } = event;
  const audioAtMs = ttsAudioAgoMs === undefined ? undefined : atMs - ttsAudioAgoMs;
  const firstAudioMs = TTS_FIRST_AUDIO_MS + (text.length * state.voiceMsPerChar) / TTS_RATE_MIN;
  const dueMs =
    audioAtMs === undefined || audioAtMs < requestedAtMs
      ? requestedAtMs + firstAudioMs
      : audioAtMs + TTS_GAP_MAX_MS;
  return Math.max(quietMs, Math.min(dueMs, quietMs + FILLER_HELD_BACK_MAX_MS));
}

/** The agent does not talk over a caller who is speaking, or whose voice was heard just now. */
export function isCallerSpeaking(
  { user: { hearing } }: ConversationState,
  turn: Turn,
  voiceAgoMs?: number,
): boolean {
  const isVoiced = voiceAgoMs !== undefined && voiceAgoMs < VOICE_RECENT_MS;
  return pendingText(hearing) !== "" || turn.overlapAtMs !== undefined || isVoiced;
}

/** Audio of the turn is paused, incomplete, or DTMF: nothing can be put behind it now. */
export function isHindered(state: ConversationState, turn: Turn, atMs: number): boolean {
  return state.outputPausedAtMs !== undefined || isGrowing(turn) || isSendingDtmf(turn, atMs);
}

/** The next filler phrase; undefined if none is ready. */
export function nextPhrase(
  { settings, readyPhrases }: ConversationState,
  turn: Turn,
): ReadyPhrase | undefined {
  const waiting = settings.phrases?.waiting ?? [];
  const wanted = waiting[turn.fillerCount % Math.max(1, waiting.length)];
  return (
    readyPhrases.find(({ text }) => text === wanted) ??
    readyPhrases.find(({ text }) => waiting.includes(text))
  );
}

/** The phrase goes between sent and pending audio, whose numbers do not change. */
export function playPhrase(
  state: ConversationState,
  turn: Turn,
  { text, durationMs, marks }: ReadyPhrase,
  atMs: number,
  out: ConversationEffect[],
): void {
  const slot = WAITING_SLOT_FIRST + turn.fillerCount;
  const whole = { text, durationMs, isWhole: true, marks };
  const asked = { attempt: 1, requestedAtMs: atMs, grewAtMs: atMs };
  turn.sentences.splice(turn.sentCount, 0, { ...newSentence(text, slot), ...whole, ...asked });
  turn.requestedCount += 1;
  turn.sentCount += 1;
  turn.fillerCount += 1;
  const sent = { ...whole, expectedMs: durationMs, isFiller: true };
  turn.ledger = recordSent(turn.ledger, sent, atMs);
  out.push({ type: "playPhrase", turnId: turn.id, index: slot, text });
  reportSentText(turn.ledger, out);
  watchSilence(state, turn, atMs);
}
