/** A caller who is silent, and one whose speech gets no result from STT. */

import { CALLER_SILENT } from "./call-end.js";
import { setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import type { DeadlineReachedEvent, VoiceHeardEvent } from "./events.js";
import { startScripted } from "./playout.js";
import { type ConversationState, isBeingTransferred, isPersonThere, turnOf } from "./state.js";
import { pendingText } from "./transcript-buffer.js";

/** How often the agent asks a silent caller before it says goodbye. */
const REMINDERS_MAX = 2;

/** From now on it is the caller's turn to speak. */
export function watchCaller(state: ConversationState, atMs: number): void {
  const { idleTimeoutMs, phrases } = state.settings;
  if (idleTimeoutMs === 0 || phrases === undefined || state.control.isMuted) return;
  if (!isPersonThere(state)) return;
  setDeadline(state, "idle", atMs + idleTimeoutMs);
}

/** Neither side has spoken for a while, and there is no sound that might become words. */
export function onIdleDeadline(
  state: ConversationState,
  { atMs, voiceAgoMs }: DeadlineReachedEvent,
  out: ConversationEffect[],
): void {
  const { phrases, idleTimeoutMs } = state.settings;
  if (phrases === undefined || turnOf(state) !== undefined || isBeingTransferred(state)) return;
  if (state.control.isMuted || !isPersonThere(state)) return;
  const isUnderway =
    pendingText(state.user.hearing) !== "" ||
    state.user.digits !== "" ||
    state.user.unanswered !== "";
  const voiceLeftMs = voiceAgoMs === undefined ? 0 : idleTimeoutMs - voiceAgoMs;
  if (isUnderway || voiceLeftMs >= 1) {
    setDeadline(state, "idle", atMs + (isUnderway ? idleTimeoutMs : voiceLeftMs));
  } else if (state.user.reminders >= REMINDERS_MAX) {
    startScripted(state, "farewell", [phrases.callerIdleGoodbye], atMs, out, CALLER_SILENT);
  } else {
    state.user.reminders += 1;
    startScripted(state, "reminder", [phrases.stillThere], atMs, out);
  }
}

/** This much voice in syllables is a short word. A cough is shorter, and a keystroke is no syllable. */
const WORD_MIN_MS = 400;
/** What follows a longer silence is another utterance. */
const UTTERANCE_GAP_MS = 1_000;
/** STTs under load return words up to four seconds late, and a second connection needs as long for a replay. */
const UNRECOGNIZED_AFTER_MS = 4_500;
/**
 * The words of this voice may arrive somewhat later than the newest words did; the second value is the maximum
 * wait.
 */
const WORDS_DUE_MARGIN_MS = 1_000;
const UNRECOGNIZED_AFTER_MAX_MS = 8_000;
/** Requests in a row without any words between them: the limit for a noise that sounds like a voice. */
const REPEAT_REQUESTS_MAX = 2;
/** A voice that begins this soon after the agent's own may be the agent's, in a browser that plays late. */
const PLAYOUT_MAX_MS = 300;
/** The agent's sound comes out of a loudspeaker this long after it was sent. */
const ECHO_TAIL_MS = 1_000;
const LOUDSPEAKER_KNOWN_MS = 60_000;

/** Cuts the voice in the caller's audio into pieces as long as a short word. */
export class VoicePieces {
  #wordMs = 0;
  #beganAgoMs = 0;
  #voiceBeganAgoMs = 0;
  #quietMs = UTTERANCE_GAP_MS;

  /** `syllablesMs` of the newest `durationMs` of audio are voice. Returns a piece when it is complete. */
  hear(
    syllablesMs: number,
    durationMs: number,
  ): Pick<VoiceHeardEvent, "beganAgoMs" | "voiceBeganAgoMs"> | undefined {
    this.#beganAgoMs += durationMs;
    this.#voiceBeganAgoMs += durationMs;
    if (syllablesMs === 0) {
      this.#quietMs += durationMs;
      if (this.#quietMs < UTTERANCE_GAP_MS) return undefined;
      this.#wordMs = 0;
      return undefined;
    }
    if (this.#quietMs >= UTTERANCE_GAP_MS) {
      this.#voiceBeganAgoMs = Math.max(syllablesMs, durationMs);
    }
    this.#quietMs = 0;
    if (this.#wordMs === 0) this.#beganAgoMs = Math.max(syllablesMs, durationMs);
    this.#wordMs += syllablesMs;
    if (this.#wordMs < WORD_MIN_MS) return undefined;
    this.#wordMs = 0;
    return { beganAgoMs: this.#beganAgoMs, voiceBeganAgoMs: this.#voiceBeganAgoMs };
  }
}

/** STT has some seconds to return words for a voice that is the caller's. */
export function onVoiceHeard(state: ConversationState, event: VoiceHeardEvent): void {
  const { settings } = state;
  const { repeatRequests } = state.user;
  if (settings.repeatRequest === "" || repeatRequests >= REPEAT_REQUESTS_MAX) return;
  if (state.phase === "opening" || turnOf(state) !== undefined || mayBeEcho(state, event)) return;
  setDeadline(state, "unrecognizedVoice", event.atMs + unrecognizedAfterMs(state));
  state.user.unrecognizedVoiceAtMs = event.atMs - event.beganAgoMs;
}

export function onUnrecognizedVoiceDeadline(
  state: ConversationState,
  { atMs, voiceAgoMs = Number.POSITIVE_INFINITY }: DeadlineReachedEvent,
  out: ConversationEffect[],
): void {
  const { settings } = state;
  const { unrecognizedVoiceAtMs: voiceAtMs } = state.user;
  if (voiceAtMs === undefined) return;
  const isAgentsTurn = turnOf(state) !== undefined || isBeingTransferred(state);
  const isSilent = state.control.isMuted || !isPersonThere(state);
  const isForgotten = isSilent || isAgentsTurn || isRecognized(state, voiceAtMs);
  const leftMs = unrecognizedAfterMs(state) - voiceAgoMs;
  if (!isForgotten && leftMs >= 1) {
    setDeadline(state, "unrecognizedVoice", atMs + leftMs);
    return;
  }
  state.user.unrecognizedVoiceAtMs = undefined;
  if (isForgotten) return;
  state.user.repeatRequests += 1;
  startScripted(state, "repeatRequest", [settings.repeatRequest], atMs, out);
}

function unrecognizedAfterMs({ user: { sttDelayMs } }: ConversationState): number {
  const dueMs = Math.max(UNRECOGNIZED_AFTER_MS, sttDelayMs + WORDS_DUE_MARGIN_MS);
  return Math.min(dueMs, UNRECOGNIZED_AFTER_MAX_MS);
}

/** Words or DTMF arrived, for this voice or after it. */
function isRecognized(state: ConversationState, voiceAtMs: number): boolean {
  if (
    pendingText(state.user.hearing) !== "" ||
    state.user.digits !== "" ||
    state.user.unanswered !== ""
  ) {
    return true;
  }
  return state.user.endedAtMs > voiceAtMs;
}

/** A voice that continued from the agent's words may be an echo of them, until their sound is certainly over. */
function mayBeEcho(
  { echo: { spokenBefore, loudspeakerAtMs } }: ConversationState,
  { atMs, beganAgoMs, voiceBeganAgoMs }: VoiceHeardEvent,
): boolean {
  const { untilMs } = spokenBefore;
  if (atMs - beganAgoMs >= untilMs + ECHO_TAIL_MS || untilMs === 0) return false;
  const isOnLoudspeaker = atMs - loudspeakerAtMs <= LOUDSPEAKER_KNOWN_MS;
  return isOnLoudspeaker || atMs - voiceBeganAgoMs < untilMs + PLAYOUT_MAX_MS;
}
