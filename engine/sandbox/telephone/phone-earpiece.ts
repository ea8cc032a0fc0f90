import { MULAW_8K, type RawFormat } from "../sound/raw-audio.js";
import { decodeSpeech } from "./tone-code.js";

/** Two halves of a reply that was cut are not one word. */
const PAUSE_SEC = 0.25;
/** Half an hour of speech; later audio is played but not kept. */
const KEPT_SEC_MAX = 1800;
/** A real vendor's limit is unknown; an agent has a handful pending. */
const MARKS_MAX = 1000;

interface Playing {
  readonly bytes: Uint8Array;
  readonly startNs: number;
  endNs: number;
  /** A clear followed it. */
  isLast: boolean;
}

/**
 * The vendor's end of a call leg, or a browser's loudspeaker: simulates playback of one piece after the other in
 * real time, and knows when playback reaches a mark. Times are nanoseconds of any one clock.
 */
export class PhoneEarpiece {
  readonly #keepsAudio: boolean;
  readonly #format: RawFormat;
  readonly #nsPerSample: number;
  readonly #playing: Playing[] = [];
  readonly #marks: { readonly name: string; readonly dueNs: number }[] = [];
  #keptBytes = 0;
  #endNs = 0;

  constructor(keepsAudio: boolean, format: RawFormat = MULAW_8K) {
    this.#keepsAudio = keepsAudio;
    this.#format = format;
    this.#nsPerSample = 1_000_000_000 / format.sampleRateHz;
  }

  /** When all received audio will have been played. */
  get endNs(): number {
    return this.#endNs;
  }

  play(bytes: Uint8Array, atNs: number): void {
    const startNs = Math.max(this.#endNs, atNs);
    const { bytesPerSample, sampleRateHz } = this.#format;
    this.#endNs = startNs + (bytes.length / bytesPerSample) * this.#nsPerSample;
    const keptBytesMax = KEPT_SEC_MAX * sampleRateHz * bytesPerSample;
    if (!this.#keepsAudio || this.#keptBytes + bytes.length > keptBytesMax) return;
    this.#keptBytes += bytes.length;
    this.#playing.push({ bytes, startNs, endNs: this.#endNs, isLast: false });
  }

  mark(name: string, atNs: number): void {
    this.#marks.push({ name, dueNs: Math.max(this.#endNs, atNs) });
    if (this.#marks.length > MARKS_MAX) this.#marks.shift();
  }

  /** The marks that playback has reached, each once. */
  reached(atNs: number): readonly string[] {
    const waiting = this.#marks.findIndex(({ dueNs }) => dueNs > atNs);
    return this.#marks
      .splice(0, waiting < 0 ? this.#marks.length : waiting)
      .map(({ name }) => name);
  }

  /** Silence immediately; waiting audio is dropped. Its marks are due now. */
  clear(atNs: number): readonly string[] {
    for (const playing of this.#playing.toReversed()) {
      if (playing.endNs <= atNs) break;
      playing.endNs = Math.max(playing.startNs, atNs);
    }
    this.#endNs = Math.min(this.#endNs, atNs);
    const last = this.#playing.at(-1);
    if (last !== undefined) last.isLast = true;
    return this.#marks.splice(0).map(({ name }) => name);
  }

  /** How much of the kept audio was played until then. */
  playedNs(atNs: number): number {
    return this.#playing.reduce((sum, playing) => sum + playedNsOf(playing, atNs), 0);
  }

  /** The words of all received audio, played or not. */
  said(): string {
    return this.#wordsOf(
      this.#playing.flatMap((playing) => [playing.bytes, ...this.#pauseAfter(playing)]),
    );
  }

  /** The whole words that were played until then. */
  playedText(atNs: number): string {
    const { bytesPerSample } = this.#format;
    return this.#wordsOf(
      this.#playing.flatMap((playing) => {
        const samples = Math.round(playedNsOf(playing, atNs) / this.#nsPerSample);
        const playedText = playing.bytes.subarray(0, samples * bytesPerSample);
        return [playedText, ...this.#pauseAfter(playing)];
      }),
    );
  }

  #pauseAfter({ isLast }: Playing): readonly Uint8Array[] {
    return isLast ? [pauseOf(this.#format)] : [];
  }

  #wordsOf(pieces: readonly Uint8Array[]): string {
    const { sampleRateHz } = this.#format;
    return decodeSpeech(this.#format.samplesOf(Buffer.concat(pieces)), sampleRateHz);
  }
}

/** Enough silence to separate the words before it from those after it. */
export function pauseOf({ sampleRateHz, bytesPerSample, silence }: RawFormat): Uint8Array {
  return new Uint8Array(PAUSE_SEC * sampleRateHz * bytesPerSample).fill(silence);
}

/** Without the beginning of a word that was cut off, as the longer audio shows. */
export function wholeWords(part: string, whole: string): string {
  const isCutOff = part.length < whole.length && whole[part.length] !== " ";
  return isCutOff ? part.slice(0, Math.max(0, part.lastIndexOf(" "))) : part;
}

function playedNsOf({ startNs, endNs }: Playing, atNs: number): number {
  return Math.max(0, Math.min(endNs, atNs) - startNs);
}
