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
