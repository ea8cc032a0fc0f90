import { bytesPerMs, type HeardFormat } from "../../audio/audio-format.js";
import { VoiceMeter } from "../../audio/voice-meter.js";

/** A recognizer guesses about once a second; this much voice, which is five seconds of speech with its pauses, and it is deaf. */
const VOICE_UNHEARD_MAX_MS = 3_000;
/** Two seconds of speech without a guess are enough to ask somebody else beside it. */
const VOICE_DOUBTED_MS = 1_200;
/** Less is, once it has ended: what was made of it is late by then. */
const ENDED_VOICE_DOUBTED_MS = 1_000;
const ENDED_AGO_MS = 1_500;
/** Two of these ("Hello?") and no result for either: no recognizer is that late; a cough is shorter. */
const SHORT_UTTERANCE_MS = 360;
const SHORT_UNANSWERED_MAX = 2;
/**
 * A caller who says "Hello?" and waits never comes to much voice: this many utterances without a result over this much time,
 * a second connection included, and the recognizer has failed.
 */
const UNANSWERED_MAX = 3;
/** One that has told something in this call may well hear: some vendors tell nothing of a noise, and a dog barks more than three times. */
const UNANSWERED_PROVEN_MAX = 5;
const UNANSWERED_MIN_MS = 10_000;
/** Three coughs are less voice than this, three short words are more. */
const UNANSWERED_VOICE_MIN_MS = 1_350;
/** Noises this far apart are no caller who tries again. */
const UNANSWERED_APART_MAX_MS = 15_000;
/** So often this much voice goes unheard, on one connection and then on two; then the recognizer has failed. */
const DEAF_TIMES_MAX = 2;

/** "unanswered": what was said has ended, and nothing came of it. */
export type Hearing = "fine" | "doubtful" | "unanswered" | "deaf" | "lost";

/**
 * Compares the voice in the audio with what the recognizer makes of it: its socket may be open and its pings answered while it
 * hears nothing. Results count, with words or without, and ends; what it says about a voice that starts does not.
 */
export class DeafWatch {
  readonly #meter: VoiceMeter;
  readonly #bytesPerMs: number;
  #unheardMs = 0;
  /** Voice of the newest utterance, and the silence after it. */
  #utteranceMs = 0;
  #quietMs = 0;
  /** Utterances that were more than a cough and have ended since something was understood. */
  #endedUtterances = 0;
  /** The voice in them. */
  #unansweredVoiceMs = 0;
  /** Since the first of them began. */
  #unansweredMs = 0;
  #hasUnderstood = false;
  #isDoubted = false;
  #deafTimes = 0;

  constructor(format: HeardFormat) {
    this.#meter = new VoiceMeter(format);
    this.#bytesPerMs = bytesPerMs(format);
  }

  /** Whole samples that the recognizer is given. After "deaf" it counts anew; "doubtful" and "unanswered" it says once until something is understood. */
  hear(audio: Uint8Array): Hearing {
    const voicedMs = this.#meter.hear(audio);
    // A voice in syllables: typing and knocks are none.
    const { syllablesMs } = this.#meter;
    this.#unheardMs += syllablesMs;
    this.#follow(voicedMs, syllablesMs, audio);
    if (this.#unheardMs >= VOICE_UNHEARD_MAX_MS) {
      this.#unheardMs = 0;
      this.#deafTimes += 1;
      return this.#deafTimes > DEAF_TIMES_MAX ? "lost" : "deaf";
    }
    if (this.#becomesDoubtful()) return "doubtful";
    if (this.#isGivenUp) {
      this.#forgetUtterances();
      return "lost";
    }
    return this.#becomesUnanswered() ? "unanswered" : "fine";
  }

  /** The recognizer has said what it made of some audio. */
  understood(): void {
    this.#hasUnderstood = true;
    this.#unheardMs = 0;
    this.#utteranceMs = 0;
    this.#forgetUtterances();
    this.#isDoubted = false;
    this.#deafTimes = 0;
  }

  #forgetUtterances(): void {
    this.#endedUtterances = 0;
    this.#unansweredVoiceMs = 0;
    this.#unansweredMs = 0;
  }

  #follow(voicedMs: number, syllablesMs: number, audio: Uint8Array): void {
    const durationMs = audio.length / this.#bytesPerMs;
    if (this.#unansweredMs > 0 || voicedMs > 0) this.#unansweredMs += durationMs;
    if (voicedMs === 0) {
      const wasEnded = this.#quietMs >= ENDED_AGO_MS;
      this.#quietMs += durationMs;
      const isEnded = !wasEnded && this.#quietMs >= ENDED_AGO_MS;
      if (isEnded) this.#endUtterance();
      if (this.#quietMs >= UNANSWERED_APART_MAX_MS) this.#forgetUtterances();
      return;
    }
    if (this.#quietMs >= ENDED_AGO_MS) this.#utteranceMs = 0;
    this.#quietMs = 0;
    this.#utteranceMs += syllablesMs;
  }

  /** A cough does not count towards the voice that a deaf STT has missed, or many of them would. */
  #endUtterance(): void {
    if (this.#utteranceMs >= SHORT_UTTERANCE_MS) {
      this.#endedUtterances += 1;
      this.#unansweredVoiceMs += this.#utteranceMs;
    } else this.#unheardMs = Math.max(0, this.#unheardMs - this.#utteranceMs);
  }

  /** A cough is too short, however many there are of them. */
  #becomesDoubtful(): boolean {
    if (this.#isDoubted) return false;
    const limitMs = this.#quietMs < ENDED_AGO_MS ? VOICE_DOUBTED_MS : ENDED_VOICE_DOUBTED_MS;
    this.#isDoubted = this.#utteranceMs >= limitMs;
    return this.#isDoubted;
  }

  get #isGivenUp(): boolean {
    if (this.#deafTimes === 0 || this.#quietMs < ENDED_AGO_MS) return false;
    if (this.#unansweredVoiceMs < UNANSWERED_VOICE_MIN_MS) return false;
    const utterancesMax = this.#hasUnderstood ? UNANSWERED_PROVEN_MAX : UNANSWERED_MAX;
    return this.#endedUtterances >= utterancesMax && this.#unansweredMs >= UNANSWERED_MIN_MS;
  }

  /** Counts as one of the connections that hear nothing, where the voice in it has not yet. */
  #becomesUnanswered(): boolean {
    if (this.#deafTimes > 0 || this.#quietMs < ENDED_AGO_MS) return false;
    const isShort = this.#utteranceMs < ENDED_VOICE_DOUBTED_MS;
    if (isShort && this.#endedUtterances < SHORT_UNANSWERED_MAX) return false;
    this.#unheardMs = 0;
    this.#deafTimes = 1;
    return true;
  }
}
