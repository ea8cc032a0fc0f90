import { bytesOfMs, bytesPerMs, type HeardFormat } from "../../audio/audio-format.js";
import { decodeMulaw } from "../../audio/mulaw.js";
import { AudioRing } from "../recognizer-stream/audio-ring.js";

/** Loudness is judged by pieces of this length. */
const HOP_MS = 20;
/** So much sound begins an utterance, so that a click does not. */
const START_MS = 60;
/** Words begin softly: so much of what came before the first sound goes along. */
const BEFORE_MS = 300;
/** So much of the silence behind an utterance goes along; models cut off the last word without any. */
const AFTER_MS = 200;
/** A caller who never pauses is cut here. */
const UTTERANCE_MAX_MS = 30_000;

/** Root mean square of 16-bit samples; speech on the telephone is ten times as loud, the noise of a quiet call is below. */
const SPEECH_LEVEL_MIN = 180;
/** Speech is so much louder than the room. */
const OVER_NOISE = 3;
/** The room is taken for as loud as its quietest of late; from there its level rises by this a hop, fivefold in four seconds. */
const NOISE_RISE = 1.008;
/** However loud the room, a voice as loud as this is heard. */
const NOISE_LEVEL_MAX = 1_000;

export interface UtteranceListener {
  onStarted(): void;
  /** `endMs` is where the sound ended, in ms of the stream. `isWhole`: a silence ended it, not its length. */
  onUtterance(audio: Uint8Array, endMs: number, isWhole: boolean): void;
}

/** Our own voice detection: cuts a stream into the stretches in which somebody speaks. */
export class UtteranceCutter {
  readonly #format: HeardFormat;
  readonly #silenceMs: number;
  readonly #listener: UtteranceListener;
  readonly #ring: AudioRing;
  readonly #hop: Uint8Array;
  #hopBytes = 0;
  #noiseLevel = NOISE_LEVEL_MAX / 10;
  #loudMs = 0;
  #fromByte: number | undefined;
  #soundEndByte = 0;
  /** Where the audio of the newest utterance ended. */
  #givenByte = 0;

  constructor(format: HeardFormat, silenceMs: number, listener: UtteranceListener) {
    this.#format = format;
    this.#silenceMs = silenceMs;
    this.#listener = listener;
    this.#ring = new AudioRing(bytesOfMs(format, UTTERANCE_MAX_MS));
    this.#hop = new Uint8Array(bytesOfMs(format, HOP_MS));
  }

  write(audio: Uint8Array): void {
    for (let at = 0; at < audio.length; ) {
      const part = audio.subarray(at, at + this.#hop.length - this.#hopBytes);
      this.#hop.set(part, this.#hopBytes);
      this.#hopBytes += part.length;
      at += part.length;
      if (this.#hopBytes < this.#hop.length) return;
      this.#hopBytes = 0;
      this.#ring.write(this.#hop);
      this.#judge(this.#isLoud());
    }
  }

  /** No more audio comes: what is being said counts as whole. */
  end(): void {
    if (this.#fromByte !== undefined) this.#finish(true);
  }

  /** The newest audio, at most `durationMs` of it. */
  newest(durationMs: number): Uint8Array {
    const { endByte } = this.#ring;
    return this.#ring.read(Math.max(0, endByte - bytesOfMs(this.#format, durationMs)), endByte);
  }

  #judge(isLoud: boolean): void {
    const { endByte } = this.#ring;
    this.#loudMs = isLoud ? this.#loudMs + HOP_MS : 0;
    if (isLoud) this.#soundEndByte = endByte;
    if (this.#fromByte === undefined) {
      if (this.#loudMs < START_MS) return;
      const startByte = endByte - bytesOfMs(this.#format, START_MS + BEFORE_MS);
      // Not what went along with the utterance before.
      this.#fromByte = Math.max(startByte, this.#ring.startByte, this.#givenByte);
      this.#listener.onStarted();
    } else if (endByte - this.#soundEndByte >= bytesOfMs(this.#format, this.#silenceMs)) {
      this.#finish(true);
    } else if (endByte - this.#fromByte >= bytesOfMs(this.#format, UTTERANCE_MAX_MS)) {
      this.#finish(false);
    }
  }

  #finish(isWhole: boolean): void {
    const fromByte = this.#fromByte ?? 0;
    this.#fromByte = isWhole ? undefined : this.#ring.endByte;
    const afterByte = this.#soundEndByte + bytesOfMs(this.#format, AFTER_MS);
    this.#givenByte = Math.min(this.#ring.endByte, afterByte);
    const audio = this.#ring.read(fromByte, this.#givenByte);
    this.#listener.onUtterance(audio, this.#soundEndByte / bytesPerMs(this.#format), isWhole);
  }

  #isLoud(): boolean {
    const level = levelOf(this.#hop, this.#format);
    this.#noiseLevel = Math.min(level, this.#noiseLevel * NOISE_RISE, NOISE_LEVEL_MAX);
    this.#noiseLevel = Math.max(this.#noiseLevel, 1);
    return level >= Math.max(SPEECH_LEVEL_MIN, this.#noiseLevel * OVER_NOISE);
  }
}

/** Root mean square. */
function levelOf(audio: Uint8Array, { encoding }: HeardFormat): number {
  let sum = 0;
  if (encoding === "mulaw") {
    for (const sample of decodeMulaw(audio)) sum += sample * sample;
    return Math.sqrt(sum / audio.length);
  }
  const view = new DataView(audio.buffer, audio.byteOffset, audio.byteLength);
  for (let at = 0; at < audio.length; at += 2) sum += view.getInt16(at, true) ** 2;
  return Math.sqrt(sum / (audio.length / 2));
}
