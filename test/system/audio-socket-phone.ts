import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { decodeSpeech, encodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";
import { type CancelTimer, SystemClock } from "../../engine/time/clock.js";
import { Changes } from "../doubles/changes.js";
import { decoded, encoded } from "./phone-vendor-streams.js";

const RATE_HZ = 8000;
const FRAME_BYTES = 320;
const FRAME_MS = 20;
/** Longer than any frame is late. */
const QUIET_MS = 100;
/** Silence after the words, so that the server takes them for a complete turn. */
const SILENCE_SAMPLES = 4000;
const HEADER_BYTES = 3;
const HANG_UP = 0x00;
const AUDIO = 0x10;

export function frame(kind: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const header = Buffer.from([kind, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([header, payload]);
}

export function uuidFrame(uuid: string): Buffer {
  return frame(0x01, Buffer.from(uuid.replaceAll("-", ""), "hex"));
}

/** Behaves like Asterisk's AudioSocket(), written from its documentation and independent of the code under test. */
export class AudioSocketPhone {
  readonly socket: Socket;
  /** Resolves with whether the other side sent a hang-up frame before it closed. */
  readonly closed: Promise<boolean>;
  readonly audioBytes = new Set<number>();
  /** Notifies of each received frame, and of the end of playback. */
  readonly changes = new Changes();
  readonly #clock = new SystemClock();
  #cancelQuiet: CancelTimer = () => undefined;
  wasHungUp = false;
  #unread = Buffer.alloc(0);
  #audio: Buffer[] = [];
  #playedUntilMs = 0;

  static async connect(port: number): Promise<AudioSocketPhone> {
    const phone = new AudioSocketPhone(connect(port, "127.0.0.1"));
    await once(phone.socket, "connect");
    return phone;
  }

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay();
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => this.#read(bytes));
    this.closed = new Promise((resolve) => {
      socket.once("close", () => {
        this.#cancelQuiet();
        this.changes.tell();
        resolve(this.wasHungUp);
      });
    });
  }

  send(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  say(text: string): void {
    this.send(speechFrames(text));
  }

  press(digit: string): void {
    this.send(frame(0x03, Buffer.from(digit)));
  }

  hangUp(): void {
    this.send(frame(HANG_UP));
  }

  /** Resolves when these words have been received and played in real time, and nothing follows. */
  heard(words: string): Promise<true> {
    return this.changes.until(
      `to hear "${words}"`,
      () => this.#isQuiet && this.words().includes(words),
    );
  }

  get #isQuiet(): boolean {
    return this.#clock.monotonicMs() >= this.#playedUntilMs + QUIET_MS;
  }

  words(): string {
    return decodeSpeech(decoded(Buffer.concat(this.#audio), "l16"), RATE_HZ);
  }

  /** Discards the audio heard so far. */
  forget(): void {
    this.#audio = [];
  }

  get heardBytes(): number {
    return this.#audio.reduce((sum, { length }) => sum + length, 0);
  }

  #read(bytes: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    while (this.#unread.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + this.#unread.readUInt16BE(1);
      if (this.#unread.length < end) return;
      const kind = this.#unread[0];
      if (kind === HANG_UP) this.wasHungUp = true;
      if (kind === AUDIO) {
        this.#audio.push(this.#unread.subarray(HEADER_BYTES, end));
        this.audioBytes.add(end - HEADER_BYTES);
        this.#playedUntilMs = Math.max(this.#playedUntilMs, this.#clock.monotonicMs()) + FRAME_MS;
      }
      this.#unread = this.#unread.subarray(end);
    }
    const quietInMs = this.#playedUntilMs + QUIET_MS - this.#clock.monotonicMs();
    this.#cancelQuiet();
    this.#cancelQuiet = this.#clock.after(Math.ceil(quietInMs) + 1, this.changes.tell);
    this.changes.tell();
  }
}

/** The text as speech and half a second of silence, in frames of 20 ms. */
export function speechFrames(text: string): Buffer {
  const speech = encodeSpeech(text, RATE_HZ);
  const pcm = new Int16Array(speech.length + SILENCE_SAMPLES);
  pcm.set(speech);
  const bytes = encoded(pcm, "l16");
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += FRAME_BYTES) {
    frames.push(frame(AUDIO, bytes.subarray(at, at + FRAME_BYTES)));
  }
  return Buffer.concat(frames);
}
