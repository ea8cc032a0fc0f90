import { bytesPerSample } from "./audio-format.js";

const BYTES_PER_SAMPLE = bytesPerSample("pcm16");

/** Joins pieces of 16-bit audio, cut anywhere, to whole samples. */
export class WholeSamples {
  /** The first half of a sample whose second half begins the next piece. */
  #half: number | undefined;

  /** The samples that these bytes complete, without a copy if none is needed. */
  take(bytes: Uint8Array): Uint8Array {
    if (this.#half === undefined && bytes.byteLength % BYTES_PER_SAMPLE === 0) return bytes;
    const carriedBytes = this.#half === undefined ? 0 : 1;
    const joined = new Uint8Array(carriedBytes + bytes.byteLength);
    if (this.#half !== undefined) joined[0] = this.#half;
    joined.set(bytes, carriedBytes);
    const wholeBytes = joined.byteLength - (joined.byteLength % BYTES_PER_SAMPLE);
    this.#half = joined[wholeBytes];
    return joined.subarray(0, wholeBytes);
  }
}
