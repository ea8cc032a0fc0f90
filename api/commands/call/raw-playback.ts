import { wavHeader } from "../../../engine/calls/recording/recording-file.js";
import type { RawFormat } from "../../../engine/sandbox/sound/raw-audio.js";
import {
  PhoneEarpiece,
  pauseOf,
  wholeWords,
} from "../../../engine/sandbox/telephone/phone-earpiece.js";
import { bytesOf } from "../../../engine/sandbox/telephone/telephone-audio.js";
import type { Playback } from "./medium.js";

/** One reply that arrives as chunks without a header. */
export class RawPlayback implements Playback {
  readonly isStreamed = true;
  readonly #earpiece: PhoneEarpiece;

  constructor(format: RawFormat) {
    this.#earpiece = new PhoneEarpiece(true, format);
  }

  get endsNs(): bigint | undefined {
    const { endNs } = this.#earpiece;
    return endNs === 0 ? undefined : BigInt(Math.round(endNs));
  }

  play(sound: Uint8Array, atNs: bigint): void {
    this.#earpiece.play(sound, Number(atNs));
  }

  stop(atNs: bigint): void {
    this.#earpiece.clear(Number(atNs));
  }

  playedReplies(atNs: bigint): ReturnType<Playback["playedReplies"]> {
    const text = this.#earpiece.said();
    const playedText = wholeWords(this.#earpiece.playedText(Number(atNs)), text);
    return Promise.resolve([{ text, playedText }]);
  }
}

/** Builds a WAV file of the replies, with a pause after each so that the words on both sides stay separate. */
export function wavOf(replies: readonly (readonly Uint8Array[])[], format: RawFormat): Uint8Array {
  const pause = pauseOf(format);
  const sound = replies.flatMap((pieces) => (pieces.length > 0 ? [...pieces, pause] : []));
  const samples = bytesOf(format.samplesOf(Buffer.concat(sound)));
  return Buffer.concat([wavHeader(format.sampleRateHz, samples.length, 1), samples]);
}
