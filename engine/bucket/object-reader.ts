import type { Bucket, ObjectBytes } from "./bucket.js";
import { BucketFault } from "./bucket-fault.js";

/** A download that breaks off is taken up again where it was, so often in a row. */
const BREAKS_MAX = 2;

/** An object that is read from one place on, in the order of its bytes, as fast as somebody asks for them. */
export class ObjectReader {
  readonly sizeBytes: number;
  readonly #bucket: Pick<Bucket, "read">;
  readonly #key: string;
  #bytes: ObjectBytes | undefined;
  #rest: Uint8Array = new Uint8Array(0);
  #position = 0;

  /** Undefined when there is no such object; rejects with a BucketFault. */
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

  /** Fills the buffer from this position on; says how much of it. Rejects with a BucketFault. */
  async read(buffer: Uint8Array, position: number): Promise<number> {
    if (position !== this.#position) this.#leave(position);
    for (let breaks = 0; ; breaks += 1) {
      try {
        return await this.#fill(buffer);
      } catch (error) {
        this.#leave(position);
        const mayComeBack = error instanceof BucketFault && error.kind === "away";
        if (!mayComeBack || breaks >= BREAKS_MAX) throw error;
      }
    }
  }

  close(): Promise<void> {
    this.#leave(this.#position);
    return Promise.resolve();
  }

  async #fill(buffer: Uint8Array): Promise<number> {
    this.#bytes ??= await this.#bucket.read(this.#key, this.#position);
    if (this.#rest.byteLength === 0) {
      this.#rest = (await this.#bytes?.next()) ?? this.#rest;
    }
    const part = this.#rest.subarray(0, buffer.byteLength);
    buffer.set(part);
    this.#rest = this.#rest.subarray(part.byteLength);
    this.#position += part.byteLength;
    return part.byteLength;
  }

  #leave(position: number): void {
    this.#bytes?.close();
    this.#bytes = undefined;
    this.#rest = new Uint8Array(0);
    this.#position = position;
  }
}
