import * as v from "valibot";

const HEAD_END = "\r\n\r\n";
const TEXT = 1;
const BINARY = 2;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

const Message = v.object({ type: v.string(), turnId: v.optional(v.number()) });

/** What the server sent of one turn of the agent, by the time of day. */
export interface SentTurn {
  readonly turnId: number;
  /** The first byte of its audio. */
  firstAudioAtMs: number | undefined;
  /** `audioStop`: the caller has interrupted. */
  stoppedAtMs: number | undefined;
}

/**
 * Reads along what a server says on a call's WebSocket, as it arrives at the other end of the line. Frames of servers are not masked;
 * those of this one are not compressed either.
 */
export class SentFrames {
  readonly turns: SentTurn[] = [];
  readonly #nowMs: () => number;
  #bytes = Buffer.alloc(0);
  #isOpen = false;
  /** The frame that `#bytes` begin with is noted: only its end has not come yet. */
  #isNoted = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  readonly push = (bytes: Buffer): void => {
    const atMs = this.#nowMs();
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    if (!this.#isOpen) this.#skipHead();
    while (this.#isOpen && this.#takeFrame(atMs));
  };

  #skipHead(): void {
    const end = this.#bytes.indexOf(HEAD_END);
    if (end === -1) return;
    this.#bytes = this.#bytes.subarray(end + HEAD_END.length);
    this.#isOpen = true;
  }

  #takeFrame(atMs: number): boolean {
    const frame = frameIn(this.#bytes);
    if (frame === undefined) return false;
    if (frame.opcode === BINARY && !this.#isNoted && this.#bytes.length > frame.headBytes) {
      this.#isNoted = true;
      const turn = this.turns.at(-1);
      if (turn !== undefined) turn.firstAudioAtMs ??= atMs;
    }
    const end = frame.headBytes + frame.length;
    if (this.#bytes.length < end) return false;
    if (frame.opcode === TEXT) this.#read(this.#bytes.toString("utf8", frame.headBytes, end), atMs);
    this.#bytes = this.#bytes.subarray(end);
    this.#isNoted = false;
    return true;
  }

  #read(text: string, atMs: number): void {
    const { type, turnId } = v.parse(Message, JSON.parse(text));
    if (type === "audioStart" && turnId !== undefined) {
      this.turns.push({ turnId, firstAudioAtMs: undefined, stoppedAtMs: undefined });
    }
    const turn = this.turns.at(-1);
    if (type === "audioStop" && turn !== undefined) turn.stoppedAtMs ??= atMs;
  }
}

interface Frame {
  readonly opcode: number;
  readonly headBytes: number;
  readonly length: number;
}

/** Undefined until all of its head is there. */
function frameIn(bytes: Buffer): Frame | undefined {
  if (bytes.length < 2) return undefined;
  const opcode = (bytes[0] ?? 0) & 0x0f;
  const length = (bytes[1] ?? 0) & 0x7f;
  if (length < LENGTH_16) return { opcode, headBytes: 2, length };
  const headBytes = length === LENGTH_64 ? 10 : 4;
  if (bytes.length < headBytes) return undefined;
  const long = length === LENGTH_64 ? Number(bytes.readBigUInt64BE(2)) : bytes.readUInt16BE(2);
  return { opcode, headBytes, length: long };
}
