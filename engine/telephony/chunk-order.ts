/** 100 ms of 20 ms pieces: what comes later than that is lost to a conversation. */
const CHUNKS_HELD_MAX = 5;
/** So many numbers in a row that are too low: the vendor counts anew. */
const LATE_CHUNKS_MAX = CHUNKS_HELD_MAX;

/** Puts numbered pieces of audio into their order. A piece is held until those before it have come, or five after it. */
export class ChunkOrder {
  readonly #held = new Map<number, Uint8Array>();
  #next = 1;
  #lateInRow = 0;

  /** What is now in order, with its numbers; undefined when the piece comes too late or a second time. */
  add(chunk: number, bytes: Uint8Array): readonly (readonly [number, Uint8Array])[] | undefined {
    if (chunk < this.#next) {
      this.#lateInRow += 1;
      if (this.#lateInRow <= LATE_CHUNKS_MAX) return undefined;
      this.#next = chunk;
      this.#held.clear();
    }
    this.#lateInRow = 0;
    if (chunk === this.#next && this.#held.size === 0) {
      this.#next += 1;
      return [[chunk, bytes]];
    }
    if (this.#held.has(chunk)) return undefined;
    this.#held.set(chunk, Uint8Array.from(bytes));
    if (this.#held.size > CHUNKS_HELD_MAX) this.#next = Math.min(...this.#held.keys());
    return this.#take();
  }

  /** All that is held, in order: no more comes. */
  end(): readonly (readonly [number, Uint8Array])[] {
    const rest = [...this.#held].toSorted(([one], [other]) => one - other);
    this.#held.clear();
    return rest;
  }

  #take(): readonly (readonly [number, Uint8Array])[] {
    const taken: [number, Uint8Array][] = [];
    for (;;) {
      const bytes = this.#held.get(this.#next);
      if (bytes === undefined) return taken;
      this.#held.delete(this.#next);
      taken.push([this.#next, bytes]);
      this.#next += 1;
    }
  }
}
