import { once } from "node:events";
import { WebSocket } from "ws";
import { decodeSpeech, encodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";
import { Changes } from "../doubles/changes.js";
import { decoded, encoded, type VendorStream } from "./phone-vendor-streams.js";

const RATE_HZ = 8000;
const FRAMES_PER_SECOND = 50;
/** Behind words, so that they are taken for all that was said. */
const SILENCE_SAMPLES = 4000;

/** One call over a vendor's stream, in the vendor's own frames; plays nothing, and tells marks only when asked to. */
export class VendorCall {
  readonly stream: VendorStream;
  readonly closed: Promise<number>;
  readonly marks: string[] = [];
  readonly pieceBytes = new Set<number>();
  clears = 0;
  #audio: Buffer[] = [];
  #chunk = 0;
  readonly #socket: WebSocket;

  static async connect(url: string, stream: VendorStream): Promise<VendorCall> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    const call = new VendorCall(socket, stream);
    await once(socket, "open");
    return call;
  }

  /** Tells of each message that has come. */
  readonly changes = new Changes();

  private constructor(socket: WebSocket, stream: VendorStream) {
    this.#socket = socket;
    this.stream = stream;
    socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once("close", resolve);
    });
    socket.on("message", (data: Buffer, isBinary) => this.#read(data, isBinary));
  }

  send(data: string | Uint8Array): void {
    this.#socket.send(data);
  }

  /** As fast as the socket takes it, with half a second of silence behind. */
  say(text: string): void {
    const speech = encodeSpeech(text, RATE_HZ);
    const pcm = new Int16Array(speech.length + SILENCE_SAMPLES);
    pcm.set(speech);
    const bytes = encoded(pcm, this.stream.codec);
    const frameBytes = bytes.length / pcm.length / (FRAMES_PER_SECOND / RATE_HZ);
    for (let at = 0; at < bytes.length; at += frameBytes) {
      this.#chunk += 1;
      this.send(this.stream.media(bytes.subarray(at, at + frameBytes), this.#chunk));
    }
  }

  /** The agent's words since the last time. */
  async said(markCount: number): Promise<string> {
    await this.changes.until("the agent's mark", () => this.marks.length >= markCount);
    return decodeSpeech(
      decoded(this.takeAudio(), this.stream.agentCodec ?? this.stream.codec),
      RATE_HZ,
    );
  }

  takeAudio(): Buffer {
    return Buffer.concat(this.#audio.splice(0));
  }

  /** All marks that came, as after real playback. */
  play(): void {
    for (const mark of this.marks) this.send(this.stream.played(mark));
  }

  /** In the way the vendor ends a stream. */
  async end(): Promise<void> {
    if (this.stream.stop === undefined) this.#socket.close(1000);
    else this.send(this.stream.stop);
    await this.closed;
  }

  /** What comes stays in the kernel, until that is full. */
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
