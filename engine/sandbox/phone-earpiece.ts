import { decodeMuLaw } from "./telephone-audio.js";
import { decodeSpeech } from "./tone-code.js";

const SAMPLE_RATE_HZ = 8000;
const NS_PER_SAMPLE = 1_000_000_000 / SAMPLE_RATE_HZ;
const SILENCE = 0xff;
/** Two halves of a reply that was cut are not one word. */
const PAUSE_SAMPLES = SAMPLE_RATE_HZ / 4;
/** Half an hour of speech; what comes after it is played but not kept. */
const KEPT_BYTES_MAX = 1800 * SAMPLE_RATE_HZ;
/** A real vendor's limit is not known; an agent has a handful in the air. */
const MARKS_MAX = 1000;

interface Playing {
  readonly bytes: Uint8Array;
  readonly startNs: number;
  endNs: number;
  /** A clear came after it. */
  isLast: boolean;
}

/**
 * The vendor's end of a call leg: plays µ-law one piece after the other in real time, on paper, and knows when playback
 * comes to a mark. Times are nanoseconds of any one clock.
 */
export class PhoneEarpiece {
  readonly #keepsAudio: boolean;
  readonly #playing: Playing[] = [];
  readonly #marks: { readonly name: string; readonly dueNs: number }[] = [];
  #keptBytes = 0;
  #endNs = 0;

  constructor(keepsAudio: boolean) {
    this.#keepsAudio = keepsAudio;
  }

  /** When all that came until now will have been played. */
  get endNs(): number {
    return this.#endNs;
  }

  play(bytes: Uint8Array, atNs: number): void {
    const startNs = Math.max(this.#endNs, atNs);
    this.#endNs = startNs + bytes.length * NS_PER_SAMPLE;
    if (!this.#keepsAudio || this.#keptBytes + bytes.length > KEPT_BYTES_MAX) return;
    this.#keptBytes += bytes.length;
    this.#playing.push({ bytes, startNs, endNs: this.#endNs, isLast: false });
  }

  mark(name: string, atNs: number): void {
    this.#marks.push({ name, dueNs: Math.max(this.#endNs, atNs) });
    if (this.#marks.length > MARKS_MAX) this.#marks.shift();
  }

  /** The marks that playback has come to, each once. */
  reached(atNs: number): readonly string[] {
    const waiting = this.#marks.findIndex(({ dueNs }) => dueNs > atNs);
    return this.#marks
      .splice(0, waiting < 0 ? this.#marks.length : waiting)
      .map(({ name }) => name);
  }

  /** Silence at once; what waited is thrown away. The marks in it are due now. */
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

  /** The words of all that came, played or not. */
  said(): string {
    return wordsOf(this.#playing.flatMap((playing) => [playing.bytes, ...pauseAfter(playing)]));
  }

  /** The whole words that were played until then. */
  heard(atNs: number): string {
    return wordsOf(
      this.#playing.flatMap((playing) => {
        const playedNs = Math.min(playing.endNs, atNs) - playing.startNs;
        const samples = Math.max(0, Math.round(playedNs / NS_PER_SAMPLE));
        return [playing.bytes.subarray(0, samples), ...pauseAfter(playing)];
      }),
    );
  }
}

function pauseAfter({ isLast }: Playing): readonly Uint8Array[] {
  return isLast ? [new Uint8Array(PAUSE_SAMPLES).fill(SILENCE)] : [];
}

function wordsOf(pieces: readonly Uint8Array[]): string {
  return decodeSpeech(decodeMuLaw(Buffer.concat(pieces)), SAMPLE_RATE_HZ);
}
