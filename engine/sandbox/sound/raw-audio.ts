import { decodeMuLaw, samplesOf } from "../telephone/telephone-audio.js";

/** Headerless audio as it comes over a socket: messages may end in the middle of a sample. */
export class RawAudio {
  readonly #encoding: "linear16" | "mulaw";
  #oddByte: number | undefined;

  constructor(encoding: "linear16" | "mulaw") {
    this.#encoding = encoding;
  }

  samples(bytes: Buffer): Int16Array {
    if (this.#encoding === "mulaw") return decodeMuLaw(bytes);
    const whole =
      this.#oddByte === undefined ? bytes : Buffer.concat([Buffer.of(this.#oddByte), bytes]);
    const isOdd = whole.length % 2 === 1;
    this.#oddByte = isOdd ? whole.at(-1) : undefined;
    return samplesOf(isOdd ? whole.subarray(0, -1) : whole);
  }
}
