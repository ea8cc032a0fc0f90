import { bytesPerMs, bytesPerSample, type InputFormat } from "./audio-format.js";
import { decodeMulaw } from "./mulaw.js";

/** Loudness is measured over this much audio at a time. */
const PIECE_MS = 20;
/** The number of samples measured per piece: enough to distinguish a voice from a room. */
const SAMPLES_PER_PIECE = 20;
/** Mean size of a sample, of 32,767: below it there is no voice, 46 dB below the loudest. */
const VOICE_LEVEL_MIN = 160;
/** A voice is louder than the noise under it by this factor: 11 dB. */
const VOICE_OVER_NOISE = 3.5;
/** Loud sound without pauses becomes noise after a while: the floor rises by 3 dB a second. */
const FLOOR_RISE_PER_PIECE = 1.0069;
const FLOOR_FALL_SHARE = 0.3;
const FLOOR_MIN = 10;
const FLOOR_MAX = 4_000;
/** The line's own noise is measured at its beginning, before most callers speak. */
const LEARNING_PIECES = 15;
const LEARNT_FLOOR_MAX = 400;
/** A click is loud in one piece, a voice in three of the last five. */
const PIECES_KEPT_MASK = 0b11111;
const VOICED_PIECES_MIN = 3;

/** A run of a voice that is as long as a short syllable. A keystroke, a click or a knock is shorter. */
const SYLLABLE_MIN_MS = 100;
/** A closed consonant may be one quiet piece in the middle of a run. */
const RUN_GAP_PIECES_MAX = 1;

const MULAW_SIZES = Uint16Array.from(
  decodeMulaw(Uint8Array.from({ length: 256 }, (_, code) => code)),
  Math.abs,
);

/**
 * Distinguishes a voice from line noise by loudness alone, in less than a microsecond for each 20 ms of a call. It
 * is used when STT is late or silent, and errs towards "voice", which costs a wait and no word.
 */
export class VoiceActivityDetector {
  readonly #isMulaw: boolean;
  readonly #pieceBytes: number;
  readonly #strideBytes: number;
  #floor = LEARNT_FLOOR_MAX;
  #learntPieces = 0;
  #voicedPieces = 0;
  #runMs = 0;
  #runGapPieces = 0;
  #syllablesMs = 0;

  constructor(format: InputFormat) {
    this.#isMulaw = format.encoding === "mulaw";
    const sampleBytes = bytesPerSample(format.encoding);
    this.#pieceBytes = PIECE_MS * bytesPerMs(format);
    const samples = this.#pieceBytes / sampleBytes;
    this.#strideBytes = Math.max(1, Math.floor(samples / SAMPLES_PER_PIECE)) * sampleBytes;
  }

  /** Takes whole samples, and returns how many ms of them are a voice. */
  hear(audio: Uint8Array): number {
    let voicedMs = 0;
    this.#syllablesMs = 0;
    for (let from = 0; from < audio.length; from += this.#pieceBytes) {
      const to = Math.min(audio.length, from + this.#pieceBytes);
      const durationMs = (PIECE_MS * (to - from)) / this.#pieceBytes;
      const isVoice = this.#isVoice(this.#levelOf(audio, from, to));
      this.#followRun(isVoice, durationMs);
      if (isVoice) voicedMs += durationMs;
    }
    return voicedMs;
  }

  /** Voice in runs as long as a syllable, in the audio of the last `hear`. A run counts as a whole once it is long enough. */
  get syllablesMs(): number {
    return this.#syllablesMs;
  }

  #followRun(isVoice: boolean, durationMs: number): void {
    if (!isVoice) {
      this.#runGapPieces += 1;
      if (this.#runGapPieces > RUN_GAP_PIECES_MAX) this.#runMs = 0;
      return;
    }
    this.#runGapPieces = 0;
    const wasSyllable = this.#runMs >= SYLLABLE_MIN_MS;
    this.#runMs += durationMs;
    if (this.#runMs >= SYLLABLE_MIN_MS) this.#syllablesMs += wasSyllable ? durationMs : this.#runMs;
  }

  #isVoice(level: number): boolean {
    const isLoud = level > Math.max(VOICE_LEVEL_MIN, this.#floor * VOICE_OVER_NOISE);
    this.#learn(level);
    this.#voicedPieces = ((this.#voicedPieces << 1) | (isLoud ? 1 : 0)) & PIECES_KEPT_MASK;
    return isLoud && bitCount(this.#voicedPieces) >= VOICED_PIECES_MIN;
  }

  #learn(level: number): void {
    if (this.#learntPieces < LEARNING_PIECES) {
      this.#learntPieces += 1;
      this.#floor = Math.max(FLOOR_MIN, Math.min(this.#floor, level));
    } else if (level < this.#floor) {
      this.#floor = Math.max(FLOOR_MIN, this.#floor + (level - this.#floor) * FLOOR_FALL_SHARE);
    } else {
      this.#floor = Math.min(FLOOR_MAX, this.#floor * FLOOR_RISE_PER_PIECE);
    }
  }

  #levelOf(audio: Uint8Array, from: number, to: number): number {
    let sum = 0;
    let count = 0;
    for (let at = from; at < to; at += this.#strideBytes) {
      sum += this.#isMulaw ? (MULAW_SIZES[audio[at] ?? 0xff] ?? 0) : sizeAt(audio, at);
      count += 1;
    }
    return sum / count;
  }
}

/** The size of a 16-bit sample, low byte first. */
function sizeAt(audio: Uint8Array, at: number): number {
  return Math.abs(((((audio[at + 1] ?? 0) << 8) | (audio[at] ?? 0)) << 16) >> 16);
}

function bitCount(bits: number): number {
  let count = 0;
  for (let left = bits; left > 0; left &= left - 1) count += 1;
  return count;
}
