import { PhoneEarpiece, wholeWords } from "../telephone/phone-earpiece.js";
import type { PlayedReply } from "./loudspeaker.js";
import { STREAMED_FORMATS, type StreamedFormat } from "./raw-audio.js";

interface PlayedTurn {
  readonly turnId: number;
  readonly earpiece: PhoneEarpiece;
  readonly arrivedNs: bigint;
}

export interface PlayedPart {
  readonly turnId: number;
  readonly ms: number;
  /** Whether that is everything received until now. */
  readonly isAll: boolean;
}

/** A long call's worth; the oldest are dropped first. */
const TURNS_MAX = 500;

/**
 * Simulates playback of one turn's pieces after another in real time, and reports how much of the newest it has
 * played.
 */
export class StreamLoudspeaker {
  readonly #keepsAudio: boolean;
  readonly #bufferNs: number;
  readonly #turns: PlayedTurn[] = [];
  #endNs: number | undefined;

  /** Audio after a silence is buffered for `bufferMs`, as browsers do against gaps. */
  constructor(keepsAudio: boolean, bufferMs = 0) {
    this.#keepsAudio = keepsAudio;
    this.#bufferNs = bufferMs * 1e6;
  }

  /** The pieces that follow belong to this turn. */
  startTurn(turnId: number, format: StreamedFormat, atNs: bigint): void {
    const earpiece = new PhoneEarpiece(this.#keepsAudio, STREAMED_FORMATS[format]);
    this.#turns.push({ turnId, earpiece, arrivedNs: atNs });
    if (this.#turns.length > TURNS_MAX) this.#turns.shift();
  }

  play(piece: Uint8Array, atNs: bigint): void {
    const earpiece = this.#turns.at(-1)?.earpiece;
    if (earpiece === undefined) return;
    const isSilent = (this.#endNs ?? 0) <= Number(atNs);
    earpiece.play(piece, isSilent ? Number(atNs) + this.#bufferNs : (this.#endNs ?? 0));
    this.#endNs = earpiece.endNs;
  }

  /** Silence immediately; waiting audio is dropped. */
  stop(atNs: bigint): void {
    for (const { earpiece } of this.#turns) earpiece.clear(Number(atNs));
    if (this.#endNs !== undefined) this.#endNs = Math.min(this.#endNs, Number(atNs));
  }

  /** When the audio received until now will have been played; undefined without audio. */
  get endsNs(): bigint | undefined {
    return this.#endNs === undefined ? undefined : BigInt(Math.round(this.#endNs));
  }

  /** The newest turn, and how much of it has been played, in whole milliseconds. */
  played(atNs: bigint): PlayedPart | undefined {
    const newest = this.#turns.at(-1);
    if (newest === undefined) return undefined;
    const { turnId, earpiece } = newest;
    const ms = Math.floor(earpiece.playedNs(Number(atNs)) / 1e6);
    return { turnId, ms, isAll: earpiece.endNs <= Number(atNs) };
  }

  /** A reply for each turn. */
  playedReplies(atNs: bigint): Promise<readonly PlayedReply[]> {
    const replies = this.#turns.map(({ earpiece, arrivedNs }) => {
      const text = earpiece.said();
      return { text, playedText: wholeWords(earpiece.playedText(Number(atNs)), text), arrivedNs };
    });
    return Promise.resolve(replies);
  }
}
