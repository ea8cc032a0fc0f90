import type { HeardFormat } from "../../audio/audio-format.js";
import { VoiceMeter } from "../../audio/voice-meter.js";

/** A recognizer guesses about once a second; this much voice, which is five seconds of speech with its pauses, and it is deaf. */
export const VOICE_UNHEARD_MAX_MS = 3_000;
/** New connections that hear nothing either; then the recognizer has failed. */
const DEAF_TIMES_MAX = 2;

export type Hearing = "fine" | "deaf" | "lost";

/**
 * Compares the voice in the audio with what the recognizer makes of it: its socket may be open and its pings answered while it
 * hears nothing. Results count, with words or without, and ends; what it says about a voice that starts does not.
 */
export class DeafWatch {
  readonly #meter: VoiceMeter;
  #unheardMs = 0;
  #deafTimes = 0;

  constructor(format: HeardFormat) {
    this.#meter = new VoiceMeter(format);
  }

  /** Whole samples that the recognizer is given. After "deaf" it counts anew. */
  hear(audio: Uint8Array): Hearing {
    this.#unheardMs += this.#meter.hear(audio);
    if (this.#unheardMs < VOICE_UNHEARD_MAX_MS) return "fine";
    this.#unheardMs = 0;
    this.#deafTimes += 1;
    return this.#deafTimes > DEAF_TIMES_MAX ? "lost" : "deaf";
  }

  /** The recognizer has said what it made of some audio. */
  understood(): void {
    this.#unheardMs = 0;
    this.#deafTimes = 0;
  }
}
