/** The newest bytes of a stream, addressed by their position in the whole stream. */
export class AudioRing {
  #bytes: Uint8Array;
  #oldestByte = 0;
  #endByte = 0;

  constructor(capacityBytes: number) {
    this.#bytes = new Uint8Array(capacityBytes);
  }

  /** The position behind the newest byte: how many bytes have been written since the start. */
  get endByte(): number {
    return this.#endByte;
  }

  /** The position of the oldest byte that is still held. */
  get startByte(): number {
    return Math.max(this.#oldestByte, this.#endByte - this.#bytes.length);
  }

  get capacityBytes(): number {
    return this.#bytes.length;
  }

  /** Keeps of what is held the newest that finds room. */
  resize(capacityBytes: number): void {
    const kept = this.read(this.#endByte - capacityBytes, this.#endByte);
    this.#bytes = new Uint8Array(capacityBytes);
    this.#endByte -= kept.length;
    this.#oldestByte = this.#endByte;
    this.write(kept);
  }

  write(audio: Uint8Array): void {
    const capacity = this.#bytes.length;
    const kept = audio.length > capacity ? audio.subarray(audio.length - capacity) : audio;
    const at = (this.#endByte + audio.length - kept.length) % capacity;
    const untilEnd = Math.min(kept.length, capacity - at);
    this.#bytes.set(untilEnd === kept.length ? kept : kept.subarray(0, untilEnd), at);
    if (untilEnd < kept.length) this.#bytes.set(kept.subarray(untilEnd), 0);
    this.#endByte += audio.length;
  }

  /** A copy of what is held from one position up to another. */
  read(fromByte: number, toByte: number): Uint8Array {
    const from = Math.max(fromByte, this.startByte);
    const length = Math.max(0, Math.min(toByte, this.#endByte) - from);
    const at = from % this.#bytes.length;
    const untilEnd = Math.min(length, this.#bytes.length - at);
    const copy = new Uint8Array(length);
    copy.set(this.#bytes.subarray(at, at + untilEnd), 0);
    copy.set(this.#bytes.subarray(0, length - untilEnd), untilEnd);
    return copy;
  }
}
