const EQUALS = 0x3d;

/**
 * Decodes base64 into memory that the next piece uses again: at fifty pieces a second, new buffers would cost more than
 * decoding.
 */
export class Base64Audio {
  #memory = Buffer.alloc(0);
  #last: Uint8Array = this.#memory;

  /** The base64 text between two positions; undefined when it is none. Good until the next call. */
  decode(frame: Buffer, start: number, end: number): Uint8Array | undefined {
    let textEnd = end;
    while (textEnd > start && end - textEnd < 2 && frame[textEnd - 1] === EQUALS) textEnd -= 1;
    const length = textEnd - start;
    // One character alone holds less than a byte.
    if (length % 4 === 1) return undefined;
    const size = Math.floor((length * 3) / 4);
    if (this.#memory.length < size) this.#memory = Buffer.allocUnsafeSlow(size);
    // Node skips what is not base64 instead of refusing it; then fewer bytes come out.
    const written = this.#memory.write(frame.toString("latin1", start, textEnd), 0, size, "base64");
    if (written !== size) return undefined;
    // Other memory is always there for more than the last piece had.
    if (this.#last.length !== size) this.#last = this.#memory.subarray(0, size);
    return this.#last;
  }
}

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
