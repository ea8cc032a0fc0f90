import {
  bytesOfMs,
  bytesPerMs,
  bytesPerSample,
  type HeardFormat,
} from "../../audio/audio-format.js";
import { VoiceMeter } from "../../audio/voice-meter.js";

/** What a recognizer that connects anew keeps itself, and hears again. */
const OWN_RING_MS = 2_000;
/** A word dies away for so long behind the end that a recognizer gives it. */
const FADING_MS = 300;
/** Before a voice is loud enough to be noticed it may have begun. */
const ONSET_MS = 500;

/** From where on the audio of a call is to be heard again by who has not heard it. Positions are bytes of the whole stream. */
export class UnsettledAudio {
  readonly #format: HeardFormat;
  readonly #meter: VoiceMeter;
  #endByte = 0;
  #settledByte = 0;
  /** Where the voice begins that nothing was settled of, and where the newest ends. */
  #voiceByte: number | undefined;
  #voiceEndByte = 0;

  constructor(format: HeardFormat) {
    this.#format = format;
    this.#meter = new VoiceMeter(format);
  }

  /** Whole samples, as they come. */
  hear(audio: Uint8Array): void {
    const fromByte = this.#endByte;
    this.#endByte += audio.length;
    if (this.#meter.hear(audio) === 0) return;
    this.#voiceByte ??= fromByte;
    this.#voiceEndByte = this.#endByte;
  }

  /** What ends before this is understood for good; where that is not known, all but the newest. */
  settle(lastWordEndMs: number | undefined): void {
    const newestMs = this.#endByte / bytesPerMs(this.#format);
    const settledMs = lastWordEndMs ?? Math.max(0, newestMs - OWN_RING_MS);
    const sampleBytes = bytesPerSample(this.#format.encoding);
    const sample = Math.round((settledMs * bytesPerMs(this.#format)) / sampleBytes);
    const byte = Math.min(sample * sampleBytes, this.#endByte);
    if (byte <= this.#settledByte) return;
    this.#settledByte = byte;
    if (this.#voiceByte === undefined || this.#voiceByte >= byte) return;
    const fadedByte = byte + bytesOfMs(this.#format, FADING_MS);
    this.#voiceByte = this.#voiceEndByte > fadedByte ? byte : undefined;
  }

  /** A silence that nobody spoke in is not told again: it would be waited for. */
  get fromByte(): number {
    const voiceByte = this.#voiceByte ?? this.#endByte;
    return Math.max(this.#settledByte, voiceByte - bytesOfMs(this.#format, ONSET_MS));
  }
}
