import { type Bucket, BucketError } from "./bucket.js";

/** How often a piece is requested again after its download broke off. */
const BREAKS_MAX = 2;
/** Fetched as a whole and kept, so that a slow reader occupies no connection. */
const PIECE_BYTES = 256 * 1024;

/** Reads an object in byte order from any position, at the reader's speed. */
export class ObjectReader {
  readonly sizeBytes: number;
  readonly #bucket: Pick<Bucket, "read">;
  readonly #key: string;
  #piece: Uint8Array = new Uint8Array(0);
  /** The position of the piece in the object. */
  #pieceFrom = 0;

  /** Returns undefined if the object does not exist. Rejects with a BucketError. */
  static async open(
    bucket: Pick<Bucket, "read" | "sizeOf">,
    key: string,
  ): Promise<ObjectReader | undefined> {
    const sizeBytes = await bucket.sizeOf(key);
    return sizeBytes === undefined ? undefined : new ObjectReader(bucket, key, sizeBytes);
  }

  private constructor(bucket: Pick<Bucket, "read">, key: string, sizeBytes: number) {
    this.#bucket = bucket;
    this.#key = key;
    this.sizeBytes = sizeBytes;
  }

  /** Fills the buffer from this position on and returns the number of bytes. Rejects with a BucketError. */
  async read(buffer: Uint8Array, position: number): Promise<number> {
    if (!this.#hasByte(position)) await this.#fetch(position);
    const at = position - this.#pieceFrom;
    const part = this.#piece.subarray(at, at + buffer.byteLength);
    buffer.set(part);
    return part.byteLength;
  }

  close(): Promise<void> {
    this.#piece = new Uint8Array(0);
    return Promise.resolve();
  }

  #hasByte(position: number): boolean {
    const at = position - this.#pieceFrom;
    return at >= 0 && at < this.#piece.byteLength;
  }

  async #fetch(position: number): Promise<void> {
    const sizeBytes = Math.min(PIECE_BYTES, this.sizeBytes - position);
    this.#piece = new Uint8Array(0);
    this.#pieceFrom = position;
    if (sizeBytes <= 0) return;
    for (let breaks = 0; ; breaks += 1) {
      try {
        this.#piece = (await this.#bucket.read(this.#key, position, sizeBytes)) ?? this.#piece;
        return;
      } catch (error) {
        const mayComeBack = error instanceof BucketError && error.kind === "away";
        if (!mayComeBack || breaks >= BREAKS_MAX) throw error;
      }
    }
  }
}
