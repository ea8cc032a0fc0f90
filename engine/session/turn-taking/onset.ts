import type { SessionEffect } from "../effects.js";
import type { SpeechStartedEvent, TimerFiredEvent } from "../events.js";
import { advanceSpeech } from "../speaking.js";
import type { SessionState } from "../state.js";
import type { Turn } from "../turn.js";

/** A caller who makes a sound has this long to say a word, where the server has no ear of its own. */
const WORDLESS_MAX_MS = 1_200;
/** A voice that goes on without words is waited for no longer. */
const ONSET_MAX_MS = 3_000;
const LOOK_AGAIN_MS = 400;
/** The server heard a voice so lately that it may be going on. */
const VOICE_RECENT_MS = 500;

/** The caller speaks on before the reply has begun: it does not talk over words that are still to come. Once for a turn. */
export function waitForWords(
  state: SessionState,
  turn: Turn,
  { atMs, voiceAgoMs }: SpeechStartedEvent,
  out: SessionEffect[],
): SessionState {
  if (turn.kind !== "reply" || turn.hasWaitedForWords) return state;
  if (voiceAgoMs !== undefined && voiceAgoMs > VOICE_RECENT_MS) return state;
  const delayMs = voiceAgoMs === undefined ? WORDLESS_MAX_MS : LOOK_AGAIN_MS;
  out.push({ type: "startTimer", timer: "onset", delayMs });
  return { ...state, turn: { ...turn, onsetAtMs: atMs, hasWaitedForWords: true } };
}

/** No word has come: it was a cough, or the end of what has been answered. */
export function onOnsetTimer(
  state: SessionState,
  { atMs, voiceAgoMs }: TimerFiredEvent,
  out: SessionEffect[],
): SessionState {
  const { turn } = state;
  if (turn?.onsetAtMs === undefined) return state;
  const isSpeaking = voiceAgoMs !== undefined && voiceAgoMs <= VOICE_RECENT_MS;
  if (isSpeaking && atMs - turn.onsetAtMs < ONSET_MAX_MS) {
    out.push({ type: "startTimer", timer: "onset", delayMs: LOOK_AGAIN_MS });
    return state;
  }
  // The caller was not waiting while saying something, whatever it was; a voice without end is a noise.
  const voiceAtMs = voiceAgoMs === undefined ? Number.NEGATIVE_INFINITY : atMs - voiceAgoMs;
  const isLater = !isSpeaking && voiceAtMs > turn.onsetAtMs && voiceAtMs > turn.callerEndedAtMs;
  const callerEndedAtMs = isLater ? voiceAtMs : turn.callerEndedAtMs;
  return advanceSpeech(state, { ...turn, onsetAtMs: undefined, callerEndedAtMs }, atMs, out);
}
