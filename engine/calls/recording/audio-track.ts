import { WAV_CHANNELS } from "./wav-header.js";

interface Piece {
  /** In samples from the beginning of the recording. */
  readonly at: number;
  readonly pcm: Int16Array;
}

/** One side of a call, as pieces of sound at their positions, with silence between; written audio is let go. */
export class AudioTrack {
  #pieces: Piece[] = [];

  get heldSamples(): number {
    return this.#pieces.reduce((sum, { pcm }) => sum + pcm.length, 0);
  }

  /** Pieces may come in any order; where two overlap, the one that came later is heard. */
  place(at: number, pcm: Int16Array): void {
    if (pcm.length > 0) this.#pieces.push({ at, pcm });
  }

  /** Nothing is heard from `position` on. */
  cutFrom(position: number): void {
    this.#pieces = this.#pieces.flatMap(({ at, pcm }) => {
      const length = Math.min(pcm.length, position - at);
      return length > 0 ? [{ at, pcm: pcm.subarray(0, length) }] : [];
    });
  }

  /** Writes what stands at `from` and after it into one channel of a block, and forgets all that ends with the block. */
  take(from: number, block: Int16Array, channel: number): void {
    const to = from + block.length / WAV_CHANNELS;
    for (const { at, pcm } of this.#pieces) {
      const first = Math.max(at, from);
      const last = Math.min(at + pcm.length, to);
      let target = (first - from) * WAV_CHANNELS + channel;
      for (let index = first - at; index < last - at; index += 1) {
        block[target] = pcm[index] ?? 0;
        target += WAV_CHANNELS;
      }
    }
    this.#pieces = this.#pieces.filter(({ at, pcm }) => at + pcm.length > to);
  }
}
