import { wavHeader } from "../../../engine/calls/wav-header.js";
import { PhoneEarpiece } from "../../../engine/sandbox/phone-earpiece.js";
import { bytesOf, decodeMuLaw } from "../../../engine/sandbox/telephone-audio.js";
import { type FrameMeasures, FrameMeter } from "./frame-meter.js";
import type { Medium, Playback } from "./medium.js";

const SAMPLE_RATE_HZ = 8_000;
const SILENCE = 0xff;
/** Between two replies in a file, so that the words at their ends stay two. */
const PAUSE = new Uint8Array(SAMPLE_RATE_HZ / 4).fill(SILENCE);

/** One reply in µ-law of 8 kHz, as the vendor plays it. */
class PhonePlayback implements Playback {
  readonly #earpiece = new PhoneEarpiece(true);
  readonly #meter = new FrameMeter();

  get endsNs(): bigint | undefined {
    const { endNs } = this.#earpiece;
    return endNs === 0 ? undefined : BigInt(Math.round(endNs));
  }

  get frames(): FrameMeasures {
    return this.#meter.measures;
  }

  play(sound: Uint8Array, atNs: bigint): void {
    this.#meter.add(sound.length, atNs);
    this.#earpiece.play(sound, Number(atNs));
  }

  stop(atNs: bigint): void {
    this.#earpiece.clear(Number(atNs));
  }

  heard(atNs: bigint): ReturnType<Playback["heard"]> {
    const text = this.#earpiece.said();
    const heardText = wholeWords(this.#earpiece.heard(Number(atNs)), text);
    return Promise.resolve([{ text, heardText }]);
  }
}

/** Without the beginning of a word that was cut off, as more of it having come shows. */
function wholeWords(part: string, whole: string): string {
  const isCutOff = part.length < whole.length && whole[part.length] !== " ";
  return isCutOff ? part.slice(0, Math.max(0, part.lastIndexOf(" "))) : part;
}

export const TELEPHONE: Medium = {
  newPlayback: () => new PhonePlayback(),
  tellsEveryPiece: false,
  // A stream is open before its session is, and the first one starts the server's threads for audio.
  greetingWaitMs: 10_000,
  // A server sends a fraction of a second ahead, so nothing is ever left for long.
  leftMsMin: 0,
  fileOf: (replies) => {
    const sound = replies.flatMap((pieces) => (pieces.length > 0 ? [...pieces, PAUSE] : []));
    const samples = bytesOf(decodeMuLaw(Buffer.concat(sound)));
    return Buffer.concat([wavHeader(SAMPLE_RATE_HZ, samples.length, 1), samples]);
  },
};
