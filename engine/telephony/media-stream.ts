import { bytesPerSample, type RawFormat } from "../audio/audio-format.js";
import { G722Decoder, G722Encoder } from "../audio/g722.js";
import { encodePcm, viewPcm } from "../audio/sample-coding.js";
import { Base64Audio } from "./base64-audio.js";
import {
  type CallerAudio,
  ignored,
  type PhoneEvent,
  type PhoneTraits,
  type PhoneWire,
  type StreamStarted,
  type WireFrame,
} from "./phone-wire.js";
import type { StreamMessage } from "./stream-message.js";

/** 100 ms of 20 ms pieces: what comes later than that is lost to a conversation. */
const EARLY_CHUNKS_MAX = 5;
/** So many numbers in a row that are too low: the vendor counts anew. */
const LATE_CHUNKS_MAX = EARLY_CHUNKS_MAX;

/** Puts numbered pieces of audio into their order. A piece is held until those before it have come, or five after it. */
export class ChunkOrder {
  readonly #early = new Map<number, Uint8Array>();
  #next = 1;
  #lateInRow = 0;

  /** The frames that are now in order, with their numbers; undefined for a late or repeated frame. */
  add(chunk: number, bytes: Uint8Array): readonly (readonly [number, Uint8Array])[] | undefined {
    if (chunk < this.#next) {
      this.#lateInRow += 1;
      if (this.#lateInRow <= LATE_CHUNKS_MAX) return undefined;
      this.#next = chunk;
      this.#early.clear();
    }
    this.#lateInRow = 0;
    if (chunk === this.#next && this.#early.size === 0) {
      this.#next += 1;
      return [[chunk, bytes]];
    }
    if (this.#early.has(chunk)) return undefined;
    this.#early.set(chunk, Uint8Array.from(bytes));
    if (this.#early.size > EARLY_CHUNKS_MAX) this.#next = Math.min(...this.#early.keys());
    return this.#take();
  }

  /** All that is held, in order: no more comes. */
  end(): readonly (readonly [number, Uint8Array])[] {
    const rest = [...this.#early].toSorted(([one], [other]) => one - other);
    this.#early.clear();
    return rest;
  }

  #take(): readonly (readonly [number, Uint8Array])[] {
    const taken: [number, Uint8Array][] = [];
    for (;;) {
      const bytes = this.#early.get(this.#next);
      if (bytes === undefined) return taken;
      this.#early.delete(this.#next);
      taken.push([this.#next, bytes]);
      this.#next += 1;
    }
  }
}

/** More than any agent has sentences in the air; of marks that never return, the oldest are forgotten. */
const MARKS_PENDING_MAX = 256;
/** Asterisk takes no command of more than 128 bytes, so a name has to be short. */
const NAME_FORMAT = /^[\w.:-]{1,64}$/;

/** The marks that a vendor has not told yet, and whether a `clear` went out after them. */
export class PendingMarks {
  readonly #epochs = new Map<string, number>();
  #epoch = 0;

  /** Throws a RangeError for a name that not every vendor would take. */
  add(name: string): void {
    if (!NAME_FORMAT.test(name))
      throw new RangeError("a mark is named by 1 to 64 letters, digits or _.:-");
    this.#epochs.delete(name);
    this.#epochs.set(name, this.#epoch);
    if (this.#epochs.size <= MARKS_PENDING_MAX) return;
    for (const oldest of this.#epochs.keys()) {
      this.#epochs.delete(oldest);
      break;
    }
  }

  clear(): void {
    this.#epoch += 1;
  }

  /** Whether the audio before it was heard; undefined for a mark that is not awaited. */
  reached(name: string): boolean | undefined {
    const epoch = this.#epochs.get(name);
    if (epoch === undefined) return undefined;
    this.#epochs.delete(name);
    return epoch === this.#epoch;
  }
}

const HEAD = Buffer.from('{"event":"media"');
const MEDIA = Buffer.from("media");
const EVENT = Buffer.from("event");
const TRACK = Buffer.from("track");
const CHUNK = Buffer.from("chunk");
const PAYLOAD = Buffer.from("payload");
const INBOUND = Buffer.from("inbound");
const TAIL = Buffer.from('"}}');

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const NINE = 0x39;
/** Whole numbers of more digits are not exact. */
const DIGITS_MAX = 15;

/**
 * Finds the audio in a vendor's `media` message without parsing it as JSON: fifty of these come in a second of call. It
 * knows one plain shape (no spaces, no escapes, texts and whole numbers) and gives up on every other: what it accepts,
 * JSON.parse reads the same. Only that the payload is base64, and so without quotes, is left to whoever decodes it.
 */
export class MediaScanner {
  /** Where the base64 text lies in the last frame accepted. */
  payloadStart = 0;
  payloadEnd = 0;
  /** -1 when the frame has none. */
  chunk = -1;
  #frame: Uint8Array = HEAD;
  #at = 0;
  /** The payload was followed by the end of the message. */
  #isDone = false;

  scan(frame: Uint8Array): boolean {
    if (!matches(frame, 0, HEAD)) return false;
    this.#frame = frame;
    this.#at = HEAD.length;
    this.payloadStart = 0;
    this.chunk = -1;
    this.#isDone = false;
    return this.#scanOuter() && this.payloadStart > 0;
  }

  #scanOuter(): boolean {
    const frame = this.#frame;
    let hasMedia = false;
    while (frame[this.#at] === COMMA) {
      const keyStart = this.#at + 2;
      if (!this.#skipKey()) return false;
      const length = this.#at - 2 - keyStart;
      if (length === EVENT.length && matches(frame, keyStart, EVENT)) return false;
      if (length === MEDIA.length && matches(frame, keyStart, MEDIA)) {
        if (hasMedia || frame[this.#at] !== OPEN) return false;
        hasMedia = true;
        if (!this.#scanMedia()) return false;
        if (this.#isDone) return true;
      } else if (!this.#skipValue()) return false;
    }
    return hasMedia && frame[this.#at] === CLOSE && this.#at === frame.length - 1;
  }

  /** From the brace that opens it to behind the one that closes it. */
  #scanMedia(): boolean {
    const frame = this.#frame;
    do {
      const keyStart = this.#at + 2;
      if (!this.#skipKey()) return false;
      const length = this.#at - 2 - keyStart;
      if (length === PAYLOAD.length && matches(frame, keyStart, PAYLOAD)) {
        if (this.payloadStart > 0 || !this.#findPayload()) return false;
        if (this.#isDone) return true;
      } else if (length === CHUNK.length && matches(frame, keyStart, CHUNK)) {
        if (!this.#readChunk()) return false;
      } else {
        const valueStart = this.#at + 1;
        if (!this.#skipValue()) return false;
        const isTrack = length === TRACK.length && matches(frame, keyStart, TRACK);
        if (isTrack && !matches(frame, valueStart, INBOUND)) return false;
      }
    } while (frame[this.#at] === COMMA);
    this.#at += 1;
    return frame[this.#at - 1] === CLOSE;
  }

  /** Nearly always the last thing in the frame, and by far the longest. */
  #findPayload(): boolean {
    const frame = this.#frame;
    if (frame[this.#at] !== QUOTE) return false;
    this.payloadStart = this.#at + 1;
    const tailAt = frame.length - TAIL.length;
    if (tailAt >= this.payloadStart && matches(frame, tailAt, TAIL)) {
      this.payloadEnd = tailAt;
      this.#isDone = true;
      return true;
    }
    const isText = this.#skipText();
    this.payloadEnd = this.#at - 1;
    return isText;
  }

  #readChunk(): boolean {
    const isText = this.#frame[this.#at] === QUOTE;
    const start = this.#at + (isText ? 1 : 0);
    if (!this.#skipValue()) return false;
    const end = this.#at - (isText ? 1 : 0);
    if (end === start || end - start > DIGITS_MAX) return false;
    let chunk = 0;
    for (let at = start; at < end; at += 1) {
      const digit = this.#frame[at];
      if (!isDigit(digit)) return false;
      chunk = chunk * 10 + digit - ZERO;
    }
    this.chunk = chunk;
    return true;
  }

  /** From the comma or brace before it to behind the colon after it. */
  #skipKey(): boolean {
    this.#at += 1;
    if (!this.#skipText() || this.#frame[this.#at] !== COLON) return false;
    this.#at += 1;
    return true;
  }

  #skipValue(): boolean {
    if (this.#frame[this.#at] === QUOTE) return this.#skipText();
    const start = this.#at;
    while (isDigit(this.#frame[this.#at])) this.#at += 1;
    const length = this.#at - start;
    return length === 1 || (length > 1 && this.#frame[start] !== ZERO);
  }

  #skipText(): boolean {
    const frame = this.#frame;
    if (frame[this.#at] !== QUOTE) return false;
    let at = this.#at + 1;
    for (; at < frame.length; at += 1) {
      const byte = frame[at] ?? 0;
      if (byte === QUOTE) break;
      if (byte < 0x20 || byte === BACKSLASH) return false;
    }
    // Behind a text without an end stands none of the signs that all callers look for next.
    this.#at = at + 1;
    return true;
  }
}

function isDigit(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

function matches(frame: Uint8Array, at: number, text: Uint8Array): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (frame[at + index] !== text[index]) return false;
  }
  return true;
}

/** Four seconds of 8 kHz samples in base64; a vendor sends 20 ms. */
const FRAME_BYTES_MAX = 64 * 1024;
/** One second; decoding it takes 2 ms, and a vendor sends 20 ms. */
const G722_BYTES_MAX = 8_000;
const DIGIT_FORMAT = /^[0-9A-D*#]$/i;

/** How to speak on one open stream. */
export interface StreamVoice {
  readonly frameBytes: number | undefined;
  audio(bytes: Uint8Array): readonly WireFrame[];
  mark(name: string): WireFrame;
  clear(): WireFrame;
  readonly hangUp: readonly WireFrame[];
}

/** What a vendor's WebSocket says in its own way. */
export interface StreamDialect {
  readonly traits: PhoneTraits;
  readonly format: RawFormat;
  /** What our document has asked for, whatever format the caller's audio comes in; left out, the two are the same. */
  readonly outbound?: RawFormat;
  /** Audio comes inside of JSON messages, or as frames of its own. */
  readonly audioIn: "json" | "binary";
  /** Undefined for a text that is none of the vendor's. Never throws. */
  read(text: string): StreamMessage | undefined;
  voice(started: StreamStarted): StreamVoice;
}

/** One call's media stream on a WebSocket, the same for every vendor but for its dialect. */
export class MediaStream implements PhoneWire {
  readonly #dialect: StreamDialect;
  readonly #order: ChunkOrder | undefined;
  readonly #scanner = new MediaScanner();
  readonly #base64 = new Base64Audio();
  readonly #marks = new PendingMarks();
  #format: RawFormat;
  #decoder: G722Decoder | undefined;
  #encoder: G722Encoder | undefined;
  #voice: StreamVoice | undefined;
  #hasEnded = false;

  constructor(dialect: StreamDialect) {
    this.#dialect = dialect;
    this.#order = dialect.traits.reorders ? new ChunkOrder() : undefined;
    this.#format = dialect.format;
  }

  get needsPacing(): boolean {
    return this.#dialect.traits.needsPacing;
  }

  get reorders(): boolean {
    return this.#dialect.traits.reorders;
  }

  get clearDropsMarks(): boolean {
    return this.#dialect.traits.clearDropsMarks;
  }

  get closingHangsUp(): boolean {
    return this.#dialect.traits.closingHangsUp;
  }

  get inbound(): RawFormat {
    return this.#format;
  }

  get outbound(): RawFormat {
    return this.#dialect.outbound ?? this.#format;
  }

  get frameBytes(): number | undefined {
    return this.#voice?.frameBytes;
  }

  fromWire(frame: Buffer, isBinary: boolean): readonly PhoneEvent[] {
    if (this.#hasEnded) return ignored("after the end");
    if (frame.length > FRAME_BYTES_MAX) return ignored("frame too large");
    if (isBinary) {
      return this.#dialect.audioIn === "binary"
        ? this.#hear(frame, undefined)
        : ignored("binary frame");
    }
    if (this.#dialect.audioIn === "json" && this.#scanner.scan(frame)) {
      const { payloadStart, payloadEnd, chunk } = this.#scanner;
      const bytes = this.#base64.decode(frame, payloadStart, payloadEnd);
      if (bytes !== undefined) return this.#hear(bytes, chunk < 0 ? undefined : chunk);
    }
    return this.#follow(this.#dialect.read(frame.toString("utf8")));
  }

  audio(bytes: Uint8Array): readonly WireFrame[] {
    if (this.#voice === undefined) return [];
    return this.#voice.audio(this.#encoder?.encode(viewPcm(bytes)) ?? bytes);
  }

  mark(name: string): readonly WireFrame[] {
    if (this.#voice === undefined) return [];
    this.#marks.add(name);
    return [this.#voice.mark(name)];
  }

  clear(): readonly WireFrame[] {
    this.#marks.clear();
    return this.#voice === undefined ? [] : [this.#voice.clear()];
  }

  hangUp(): readonly WireFrame[] {
    return this.#voice?.hangUp ?? [];
  }

  #follow(message: StreamMessage | undefined): readonly PhoneEvent[] {
    switch (message?.kind) {
      case undefined:
        return ignored("unreadable message");
      case "start":
        return this.#start(message.started);
      case "unsupported":
        if (this.#voice !== undefined) return ignored("second start");
        this.#hasEnded = true;
        return [{ type: "unsupported", ...message.ids, format: message.format }];
      case "media":
        return this.#hearText(message.payload, message.sequence, message.isInbound);
      case "mark":
        return this.#reach(message.name, message.wasPlayed);
      case "digit":
        return DIGIT_FORMAT.test(message.digit)
          ? this.#whenOpen({ type: "digit", digit: message.digit.toUpperCase() })
          : ignored("not a digit");
      case "cleared":
        return this.#whenOpen({ type: "cleared" });
      case "flow":
        return this.#whenOpen({ type: "flow", isOpen: message.isOpen });
      case "stop":
        this.#hasEnded = true;
        return [...this.#rest(), { type: "ended" }];
      case "vendorError":
        return ignored("vendor error");
      case "nothing":
        return [];
    }
  }

  #start(started: StreamStarted): readonly PhoneEvent[] {
    if (this.#voice !== undefined) return ignored("second start");
    const { encoding, sampleRateHz, codec } = started;
    this.#format = { encoding, sampleRateHz };
    if (codec === "g722") {
      this.#decoder = new G722Decoder();
      if (this.#dialect.outbound === undefined) this.#encoder = new G722Encoder();
    }
    this.#voice = this.#dialect.voice(started);
    return [started];
  }

  #whenOpen(event: PhoneEvent): readonly PhoneEvent[] {
    return this.#voice === undefined ? ignored("before the start") : [event];
  }

  #reach(name: string, reported: boolean | undefined): readonly PhoneEvent[] {
    const wasPlayed = this.#marks.reached(name);
    if (wasPlayed === undefined) return ignored("unknown mark");
    return [{ type: "markReached", name, wasPlayed: reported ?? wasPlayed }];
  }

  #hearText(
    payload: string,
    sequence: number | undefined,
    isInbound: boolean,
  ): readonly PhoneEvent[] {
    if (!isInbound) return ignored("audio of another track");
    const text = Buffer.from(payload, "utf8");
    const bytes = this.#base64.decode(text, 0, text.length);
    return bytes === undefined ? ignored("audio is not base64") : this.#hear(bytes, sequence);
  }

  #hear(bytes: Uint8Array, sequence: number | undefined): readonly PhoneEvent[] {
    if (this.#voice === undefined) return ignored("before the start");
    const isDecoded = this.#decoder !== undefined;
    if (isDecoded && bytes.length > G722_BYTES_MAX) return ignored("frame too large");
    const excess = isDecoded ? 0 : bytes.length % bytesPerSample(this.#format.encoding);
    const whole = excess === 0 ? bytes : bytes.subarray(0, bytes.length - excess);
    if (whole.length === 0) return ignored("audio is empty");
    if (this.#order === undefined || sequence === undefined) {
      return [this.#audioOf(whole, sequence)];
    }
    const ordered = this.#order.add(sequence, whole);
    return (
      ordered?.map(([number, piece]) => this.#audioOf(piece, number)) ?? ignored("audio is late")
    );
  }

  #rest(): readonly PhoneEvent[] {
    return this.#order?.end().map(([number, piece]) => this.#audioOf(piece, number)) ?? [];
  }

  /** A decoder needs the pieces in their order, and each once. */
  #audioOf(bytes: Uint8Array, sequence: number | undefined): CallerAudio {
    const audio =
      this.#decoder === undefined ? bytes : encodePcm(this.#decoder.decode(bytes), true);
    return { type: "audio", bytes: audio, sequence };
  }
}
