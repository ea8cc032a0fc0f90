import { frameBytesOf, PHONE_RATE_HZ, type RawFormat } from "../../audio/audio-format.js";
import { wholeFrames } from "../phone-format.js";
import { ignored, type PhoneEvent, type PhoneWire } from "../phone-wire.js";

export interface AudioSocketOptions {
  /** What the dialplan sends: 8000 for the AudioSocket() application. */
  readonly sampleRateHz?: number;
  /** The sample rate of frames of kind 0x11: 12 kHz today, 16 kHz in older releases of Asterisk. */
  readonly kind11RateHz?: 12_000 | 16_000;
}

const HANG_UP = 0x00;
const UUID = 0x01;
const DIGIT = 0x03;
const ERROR = 0xff;
/** The kinds from 0x10 on are signed linear audio of these rates. */
const AUDIO = 0x10;
const RATES_HZ = [PHONE_RATE_HZ, 12_000, 16_000, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000];
const HEADER_BYTES = 3;
const UUID_BYTES = 16;
const DIGIT_FORMAT = /^[0-9A-D*#]$/i;

/**
 * One call over Asterisk's AudioSocket: frames of a kind, a length (big-endian) and a payload on plain TCP. It has no marks,
 * cannot be cleared, and plays what it gets when it gets it.
 */
export class AudioSocketWire implements PhoneWire {
  readonly needsPacing = true;
  readonly reorders = false;
  readonly clearDropsMarks = true;
  readonly closingHangsUp = true;
  readonly inbound: RawFormat;
  readonly frameBytes: number;
  readonly #audioKind: number;
  readonly #rateOfKind: (kind: number) => number | undefined;
  /** The beginning of a frame whose rest has not come: never more than one frame, 65,538 bytes. */
  #unread = Buffer.alloc(0);
  #unreadLength = 0;
  #hasStarted = false;
  #hasEnded = false;

  /** Throws a RangeError for a rate that AudioSocket does not know. */
  constructor({ sampleRateHz = PHONE_RATE_HZ, kind11RateHz = 12_000 }: AudioSocketOptions = {}) {
    const rates = RATES_HZ.with(1, kind11RateHz);
    const index = rates.indexOf(sampleRateHz);
    if (index < 0) throw new RangeError(`AudioSocket has no audio of ${sampleRateHz} Hz`);
    this.#rateOfKind = (kind) => rates[kind - AUDIO];
    this.#audioKind = AUDIO + index;
    this.inbound = { encoding: "pcm16", sampleRateHz };
    this.frameBytes = frameBytesOf(this.inbound);
  }

  get outbound(): RawFormat {
    return this.inbound;
  }

  fromWire(piece: Buffer): readonly PhoneEvent[] {
    if (this.#hasEnded) return ignored("after the end");
    const bytes = this.#joined(piece);
    const events: PhoneEvent[] = [];
    let at = 0;
    while (at + HEADER_BYTES <= bytes.length && !this.#hasEnded) {
      const end = at + HEADER_BYTES + bytes.readUInt16BE(at + 1);
      if (end > bytes.length) break;
      events.push(...this.#read(bytes[at] ?? ERROR, bytes.subarray(at + HEADER_BYTES, end)));
      at = end;
    }
    this.#keep(bytes, at);
    return events;
  }

  audio(bytes: Uint8Array): readonly Uint8Array[] {
    if (!this.#hasStarted) return [];
    return wholeFrames(bytes, this.frameBytes, "pcm16").map((payload) => {
      const frame = new Uint8Array(HEADER_BYTES + payload.length);
      frame[0] = this.#audioKind;
      frame[1] = payload.length >> 8;
      frame[2] = payload.length & 0xff;
      frame.set(payload, HEADER_BYTES);
      return frame;
    });
  }

  mark(): readonly Uint8Array[] {
    return [];
  }

  clear(): readonly Uint8Array[] {
    return [];
  }

  hangUp(): readonly Uint8Array[] {
    return [Uint8Array.of(HANG_UP, 0, 0)];
  }

  #read(kind: number, payload: Buffer): readonly PhoneEvent[] {
    switch (kind) {
      case HANG_UP:
        this.#hasEnded = true;
        return [{ type: "ended" }];
      case UUID:
        return this.#start(payload);
      case DIGIT:
        return this.#digit(payload.toString("latin1"));
      case ERROR:
        return ignored("vendor error");
      default:
        return this.#hear(this.#rateOfKind(kind), payload);
    }
  }

  #start(payload: Buffer): readonly PhoneEvent[] {
    if (this.#hasStarted) return ignored("second start");
    if (payload.length !== UUID_BYTES) return ignored("unreadable message");
    this.#hasStarted = true;
    const id = uuidText(payload);
    return [{ type: "started", streamId: id, callId: id, parameters: {}, ...this.inbound }];
  }

  #digit(digit: string): readonly PhoneEvent[] {
    if (!this.#hasStarted) return ignored("before the start");
    if (!DIGIT_FORMAT.test(digit)) return ignored("not a digit");
    return [{ type: "digit", digit: digit.toUpperCase() }];
  }

  #hear(rateHz: number | undefined, payload: Buffer): readonly PhoneEvent[] {
    if (rateHz === undefined) return ignored("unknown frame kind");
    if (!this.#hasStarted) return ignored("before the start");
    if (rateHz !== this.inbound.sampleRateHz) return ignored("audio of another rate");
    const bytes = payload.subarray(0, payload.length - (payload.length % 2));
    return bytes.length === 0
      ? ignored("audio is empty")
      : [{ type: "audio", bytes, sequence: undefined }];
  }

  #joined(piece: Buffer): Buffer {
    if (this.#unreadLength === 0) return piece;
    const length = this.#unreadLength + piece.length;
    if (length > this.#unread.length) {
      // Doubled, so that a peer that sends byte by byte does not make every byte cost a copy of all before it.
      const larger = Buffer.allocUnsafeSlow(Math.max(length, this.#unread.length * 2));
      this.#unread.copy(larger, 0, 0, this.#unreadLength);
      this.#unread = larger;
    }
    piece.copy(this.#unread, this.#unreadLength);
    return this.#unread.subarray(0, length);
  }

  #keep(bytes: Buffer, from: number): void {
    const rest = bytes.length - from;
    const isInPlace = from === 0 && this.#unreadLength > 0;
    this.#unreadLength = this.#hasEnded ? 0 : rest;
    if (rest === 0 || isInPlace || this.#hasEnded) return;
    // Into memory of its own: the events hold views of what was read until now.
    const kept = Buffer.allocUnsafeSlow(rest);
    bytes.copy(kept, 0, from);
    this.#unread = kept;
  }
}

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
