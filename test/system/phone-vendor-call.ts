import { once } from "node:events";
import { WebSocket } from "ws";
import { microphoneClock } from "../../engine/sandbox/sound/microphone-clock.js";
import { decodeSpeech, encodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";
import { Changes } from "../doubles/changes.js";
import { decoderOf, encoderOf, rateHzOf, type VendorStream } from "./phone-vendor-streams.js";

const FRAMES_PER_SECOND = 50;
/** Silence after the words, so that the server takes them for a complete turn. */
const SILENCE_SEC = 0.5;

/**
 * One call over a vendor's stream, in the vendor's own frames. Plays no audio, and reports marks only when asked to.
 */
export class VendorCall {
  readonly stream: VendorStream;
  readonly closed: Promise<number>;
  readonly marks: string[] = [];
  readonly pieceBytes = new Set<number>();
  clears = 0;
  #audio: Buffer[] = [];
  #chunk = 0;
  readonly #socket: WebSocket;
  readonly #encode: (pcm: Int16Array) => Buffer;
  readonly #decode: (bytes: Buffer) => Int16Array;
  /** Undefined before the stream has begun. */
  #stopSilence: (() => void) | undefined;

  static async connect(url: string, stream: VendorStream): Promise<VendorCall> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    const call = new VendorCall(socket, stream);
    await once(socket, "open");
    return call;
  }

  /** Notifies of each received message. */
  readonly changes = new Changes();

  private constructor(socket: WebSocket, stream: VendorStream) {
    this.#socket = socket;
    this.stream = stream;
    this.#encode = encoderOf(stream.codec);
    this.#decode = decoderOf(stream.agentCodec ?? stream.codec);
    socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once("close", resolve);
    });
    socket.once("close", () => this.#stopSilence?.());
    socket.on("message", (data: Buffer, isBinary) => this.#read(data, isBinary));
  }

  send(data: string | Uint8Array): void {
    this.#socket.send(data);
  }

  /** Sends the stream's start, and from then on silence in real time, as a line does whose person says nothing. */
  begin(start: string): void {
    this.send(start);
    this.#keepSilence();
  }

  /** Sends the speech as fast as the socket accepts it, followed by half a second of silence, and from then on silence in real time. */
  say(text: string): void {
    const rateHz = rateHzOf(this.stream.codec);
    const speech = encodeSpeech(text, rateHz);
    const pcm = new Int16Array(speech.length + SILENCE_SEC * rateHz);
    pcm.set(speech);
    this.#sendAudio(this.#encode(pcm), pcm.length);
    this.#keepSilence();
  }

  #keepSilence(): void {
    const silence = new Int16Array(rateHzOf(this.stream.codec) / FRAMES_PER_SECOND);
    this.#stopSilence ??= microphoneClock.add(() => {
      if (this.#socket.readyState === WebSocket.OPEN)
        this.#sendAudio(this.#encode(silence), silence.length);
    });
  }

  #sendAudio(bytes: Buffer, samples: number): void {
    const frameBytes = (bytes.length / samples) * (rateHzOf(this.stream.codec) / FRAMES_PER_SECOND);
    for (let at = 0; at < bytes.length; at += frameBytes) {
      this.#chunk += 1;
      this.send(this.stream.media(bytes.subarray(at, at + frameBytes), this.#chunk));
    }
  }

  /** Returns the agent's words since the last call of this method. */
  async said(markCount: number): Promise<string> {
    await this.changes.until("the agent's mark", () => this.marks.length >= markCount);
    const codec = this.stream.agentCodec ?? this.stream.codec;
    return decodeSpeech(this.#decode(this.takeAudio()), rateHzOf(codec));
  }

  takeAudio(): Buffer {
    return Buffer.concat(this.#audio.splice(0));
  }

  /** Reports all received marks as played. */
  play(): void {
    for (const mark of this.marks) this.send(this.stream.played(mark));
  }

  /** Ends the stream in the vendor's way. */
  async end(): Promise<void> {
    if (this.stream.stop === undefined) this.#socket.close(1000);
    else this.send(this.stream.stop);
    await this.closed;
  }

  /** Stops reading: data then stays in the kernel's buffers, until they are full. */
  stopReading(): void {
    this.#socket.pause();
  }

  drop(): void {
    this.#socket.terminate();
  }

  #read(data: Buffer, isBinary: boolean): void {
    const { audio, mark, isClear } = this.stream.read(data, isBinary);
    if (audio !== undefined) {
      this.#audio.push(audio);
      this.pieceBytes.add(audio.length);
    }
    if (mark !== undefined) this.marks.push(mark);
    if (isClear === true) this.clears += 1;
    this.changes.tell();
  }
}
