import { bytesPerSample, type RawFormat } from "../audio/audio-format.js";
import { Base64Audio } from "./base64-audio.js";
import { ChunkOrder } from "./chunk-order.js";
import { MediaScanner } from "./media-scanner.js";
import { PendingMarks } from "./pending-marks.js";
import {
  type AudioHeard,
  ignored,
  type PhoneEvent,
  type PhoneTraits,
  type PhoneWire,
  type StreamStarted,
  type WireFrame,
} from "./phone-wire.js";
import type { StreamMessage } from "./stream-message.js";

/** Four seconds of 8 kHz samples in base64; a vendor sends 20 ms. */
const FRAME_BYTES_MAX = 64 * 1024;
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
    return this.#voice?.audio(bytes) ?? [];
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
        return this.#reach(message.name, message.heard);
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
    const { encoding, sampleRateHz } = started;
    this.#format = { encoding, sampleRateHz };
    this.#voice = this.#dialect.voice(started);
    return [started];
  }

  #whenOpen(event: PhoneEvent): readonly PhoneEvent[] {
    return this.#voice === undefined ? ignored("before the start") : [event];
  }

  #reach(name: string, told: boolean | undefined): readonly PhoneEvent[] {
    const heard = this.#marks.reached(name);
    if (heard === undefined) return ignored("unknown mark");
    return [{ type: "markReached", name, heard: told ?? heard }];
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
    const excess = bytes.length % bytesPerSample(this.#format.encoding);
    const whole = excess === 0 ? bytes : bytes.subarray(0, bytes.length - excess);
    if (whole.length === 0) return ignored("audio is empty");
    if (this.#order === undefined || sequence === undefined) {
      return [{ type: "audio", bytes: whole, sequence }];
    }
    return this.#order.add(sequence, whole)?.map(asAudio) ?? ignored("audio is late");
  }

  #rest(): readonly PhoneEvent[] {
    return this.#order?.end().map(asAudio) ?? [];
  }
}

function asAudio([sequence, bytes]: readonly [number, Uint8Array]): AudioHeard {
  return { type: "audio", bytes, sequence };
}
