import { type ConversationState, VOICE_MS_PER_CHAR } from "./state.js";

/** A shorter text says little about how fast its voice speaks. */
export const PACE_CHARS_MIN = 10;

/** The voice has said this complete text. The first measurement counts alone, and a later one as much as all before. */
export function notePace(state: ConversationState, text: string, durationMs: number): void {
  if (text.length < PACE_CHARS_MIN) return;
  const heard = durationMs / text.length;
  const before = state.voiceMsPerChar === VOICE_MS_PER_CHAR ? heard : state.voiceMsPerChar;
  state.voiceMsPerChar = Math.round((before + heard) / 2);
}
