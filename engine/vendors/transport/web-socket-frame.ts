// By hand, since undici takes twice as long for a frame, of which every call sends up to fifty a second.
import { randomFillSync } from "node:crypto";

/** Mask keys are drawn from the system in lots: a call into it for every frame would cost more than the frame. */
const MASK_POOL_BYTES = 8 * 1024;

const MASK_KEY_BYTES = 4;
/** The header with its key, for any message that is short enough to have kept memory. */
const HEADER_MAX_BYTES = 4 + MASK_KEY_BYTES;

/** Where lengths that do not fit the header's seven bits, or its sixteen, begin (RFC 6455, section 5.2). */
const SHORT_LENGTH_MAX = 125;
const MEDIUM_LENGTH_MAX = 0xffff;

const FINAL_BINARY = 0x82;
const MASKED = 0x80;
const MEDIUM_LENGTH = 126;
const LONG_LENGTH = 127;

const maskPool = Buffer.alloc(MASK_POOL_BYTES);
let maskPoolAt = MASK_POOL_BYTES;

/** The part of a connection that a frame is written to. */
export interface FrameConnection {
  /** Bytes that were written and that the system has not taken. */
  readonly writableLength: number;
  write(frame: Uint8Array): unknown;
}

/** A larger message, of which a call has few, has memory of its own. */
const KEPT_MAX_BYTES = 2 * 1024;

/**
 * Writes the binary messages of one connection, each whole. A frame of 20 ms is made in the memory of the one before it, unless the
 * system has not taken that yet. The memory is the connection's own because TLS takes a frame only after the turn of the event
 * loop: of one memory for all, every frame of every call would need its own; a pool that write callbacks fill was no faster.
 */
export class FrameWriter {
  readonly #connection: FrameConnection;
  #memory: Buffer | undefined;

  constructor(connection: FrameConnection) {
    this.#connection = connection;
  }

  /** The payload may be reused afterwards. */
  write(payload: Uint8Array): void {
    this.#connection.write(binaryFrame(payload, this.#freeMemory(payload.length)));
  }

  #freeMemory(payloadBytes: number): Buffer | undefined {
    const sizeBytes = payloadBytes + HEADER_MAX_BYTES;
    if (this.#connection.writableLength > 0 || sizeBytes > KEPT_MAX_BYTES) return undefined;
    if (this.#memory === undefined || this.#memory.length < sizeBytes) {
      this.#memory = Buffer.allocUnsafeSlow(sizeBytes);
    }
    return this.#memory;
  }
}

/** A whole client-to-server binary message, masked as section 5.3 wants it: in `memory` if it fits, else in its own. */
export function binaryFrame(payload: Uint8Array, memory?: Buffer): Buffer {
  const { length } = payload;
  const keyAt = length <= SHORT_LENGTH_MAX ? 2 : length <= MEDIUM_LENGTH_MAX ? 4 : 10;
  const payloadAt = keyAt + MASK_KEY_BYTES;
  const sizeBytes = payloadAt + length;
  const fits = memory !== undefined && sizeBytes <= memory.length;
  const frame = fits ? memory.subarray(0, sizeBytes) : Buffer.allocUnsafe(sizeBytes);
  frame[0] = FINAL_BINARY;
  if (length <= SHORT_LENGTH_MAX) {
    frame[1] = MASKED | length;
  } else if (length <= MEDIUM_LENGTH_MAX) {
    frame[1] = MASKED | MEDIUM_LENGTH;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = MASKED | LONG_LENGTH;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  const keyFrom = takeMaskKey();
  for (let i = 0; i < MASK_KEY_BYTES; i++) frame[keyAt + i] = maskPool[keyFrom + i] ?? 0;
  for (let i = 0; i < length; i++) {
    frame[payloadAt + i] = (payload[i] ?? 0) ^ (maskPool[keyFrom + (i & 3)] ?? 0);
  }
  return frame;
}

function takeMaskKey(): number {
  if (maskPoolAt === MASK_POOL_BYTES) {
    randomFillSync(maskPool);
    maskPoolAt = 0;
  }
  const from = maskPoolAt;
  maskPoolAt += MASK_KEY_BYTES;
  return from;
}
