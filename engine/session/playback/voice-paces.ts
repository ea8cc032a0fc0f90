import { FairCache } from "../../fair-cache.js";
import { VOICE_MS_PER_CHAR } from "../state.js";
import { ownerOf } from "./speech-cache.js";
import { PACE_CHARS_MIN } from "./voice-pace.js";

/** Voices in use at the same time on one box, and more. */
const VOICES_MAX = 1_024;
/** What the newest sentence counts for: a number that is read out takes three times as long for a character as its words. */
const NEWEST_SHARE = 1 / 8;

/** How long the voices that the calls of this process use take for a character, so that a call's first sentence has it already. */
export class VoicePaces {
  readonly #msPerChar = new FairCache<number>({ sizeMax: VOICES_MAX, sizeOf: () => 1 });

  /** A whole number; a usual voice's for one that was not heard yet. */
  of(voiceKey: string): number {
    return Math.round(this.#msPerChar.get(ownerOf(voiceKey), voiceKey) ?? VOICE_MS_PER_CHAR);
  }

  /** The voice has said this text whole. */
  heard(voiceKey: string, text: string, durationMs: number): void {
    if (text.length < PACE_CHARS_MIN) return;
    const heard = durationMs / text.length;
    const before = this.#msPerChar.get(ownerOf(voiceKey), voiceKey) ?? heard;
    this.#msPerChar.set(ownerOf(voiceKey), voiceKey, before + (heard - before) * NEWEST_SHARE);
  }
}
