import { LRUCache } from "lru-cache";
import { WebSocket } from "ws";
import { AwaitedEvents } from "./awaited-events.js";
import { describeEvent, parseServerMessage, type Received } from "./caller-events.js";
import { Loudspeaker, type PlayedReply } from "./sound/loudspeaker.js";
import { FRAME_MS, microphoneClock } from "./sound/microphone-clock.js";
import type { StreamedFormat } from "./sound/raw-audio.js";
import { StreamLoudspeaker } from "./sound/stream-loudspeaker.js";
import { bytesOf } from "./telephone/telephone-audio.js";
import { encodeSpeech } from "./telephone/tone-code.js";

export interface CallerOptions {
  /** The server's address: `ws://` or `http://`; with or without a sub-path such as `/voice`. */
  readonly url: string;
  readonly apiKey: string;
  readonly agentId?: string;
  /** The `historyKey` of an earlier call. */
  readonly sessionId?: string;
  /** Has the agent's audio streamed in this encoding, and reports to the service what it has played. */
  readonly stream?: StreamedFormat;
  /** In stream mode: how long sound is buffered after a silence, against gaps. */
  readonly bufferMs?: number;
  /** False saves the memory of the received MP3s in load tests: `playedReplies` is empty then. */
  readonly keepsAudio?: boolean;
}

/** When the first and the last frame of an utterance were sent, on the machine's monotonic clock. */
export interface Utterance {
  readonly text: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
}

const SAMPLE_RATE_HZ = 16_000;
const REPORT_FRAMES = 5;
const FRAME_BYTES = (SAMPLE_RATE_HZ * 2 * FRAME_MS) / 1000;
const SILENCE = Buffer.alloc(FRAME_BYTES);
/** A server that does not read loses audio, as a real call does, and this process's memory stays bounded. */
const UNSENT_BYTES_MAX = 1024 * 1024;
/** Callers of a load test repeat a few texts: some ten minutes of speech. */
const SPEECH_BYTES_MAX = 16 * 1024 * 1024;

const speechCache = new LRUCache<string, Buffer>({
  maxSize: SPEECH_BYTES_MAX,
  sizeCalculation: (pcm) => pcm.length + 1,
});

interface Speaking {
  readonly text: string;
  readonly pcm: Buffer;
  at: number;
  startNs: bigint;
  readonly resolve: (utterance: Utterance) => void;
  readonly reject: (error: Error) => void;
}

/** A browser with a microphone and a loudspeaker, on the real voice WebSocket. It speaks the tone code. */
export class Caller {
  readonly #socket: WebSocket;
  readonly #keepsAudio: boolean;
  readonly #loudspeaker: Loudspeaker | StreamLoudspeaker;
  readonly #speaking: Speaking[] = [];
  readonly #events = new AwaitedEvents<Received>(describeEvent);
  #stopMicrophone: (() => void) | undefined;
  #isMuted = false;
  #historyKey: string | undefined;
  #frameCount = 0;
  #reported = "";

  /** Connects and waits until the service sends `connected`; rejects with its close code and reason otherwise. */
  static async connect(options: CallerOptions): Promise<Caller> {
    const caller = Caller.dial(options);
    const event = await caller.until(({ type }) => type === "connected" || type === "closed");
    if (event.type === "closed") throw new Error(`refused: ${event.code} ${event.reason}`);
    return caller;
  }

  /** Connects without waiting: for calls that are to be refused. */
  static dial(options: CallerOptions): Caller {
    return new Caller(options);
  }

  private constructor(options: CallerOptions) {
    const { url, apiKey, agentId, sessionId, stream, bufferMs, keepsAudio = true } = options;
    const address = new URL(url.replace(/^http/, "ws"));
    address.pathname = `${address.pathname.replace(/\/$/, "")}/ws/voice`;
    address.searchParams.set("api_key", apiKey);
    if (agentId !== undefined) address.searchParams.set("agent_id", agentId);
    if (sessionId !== undefined) address.searchParams.set("session_id", sessionId);
    if (stream !== undefined) {
      address.searchParams.set("audio", "stream");
      address.searchParams.set("encoding", stream);
    }
    this.#loudspeaker =
      stream === undefined ? new Loudspeaker() : new StreamLoudspeaker(keepsAudio, bufferMs);
    this.#keepsAudio = keepsAudio;
    this.#socket = new WebSocket(address, {
      perMessageDeflate: false,
      // A mask of zeros is legal, and spares hundreds of callers the masking of every frame.
      generateMask: (mask) => mask.fill(0),
    });
    this.#socket.on("message", (data: Buffer, isBinary) => this.#receive(data, isBinary));
    // The close that follows reports it.
    this.#socket.on("error", () => undefined);
    this.#socket.on("close", (code, reason) => this.#closed(code, reason.toString("utf8")));
  }

  get events(): readonly Received[] {
    return this.#events.all;
  }

  /** The key that lets a later call continue this one; undefined before `connected`. */
  get historyKey(): string | undefined {
    return this.#historyKey;
  }

  /** When all received audio will have been played, on the clock of the events. */
  get playbackEndsNs(): bigint | undefined {
    return this.#loudspeaker.endsNs;
  }

  /** Speaks in real time after the current utterance; resolves when the last frame is sent. */
  say(text: string): Promise<Utterance> {
    return this.play(text, speechOf(text));
  }

  /** Speaks now, instead of the current utterances, which are rejected. */
  interrupt(text: string): Promise<Utterance> {
    this.#stopTalking("interrupted by the caller's own words");
    return this.say(text);
  }

  /** Any sound, as 16-bit samples of 16 kHz, for example a voice that is not in the tone code. */
  play(name: string, pcm: Buffer): Promise<Utterance> {
    return new Promise((resolve, reject) => {
      if (this.#socket.readyState > WebSocket.OPEN) reject(new Error("the call is over"));
      else this.#speaking.push({ text: name, pcm, at: 0, startNs: 0n, resolve, reject });
    });
  }

  /** A muted microphone sends nothing at all, not even silence. */
  mute(isMuted = true): void {
    this.#isMuted = isMuted;
  }

  /** Stops reading from the server, as a client that hangs does. */
  stopReading(): void {
    this.#socket.pause();
  }

  /** Sends a raw frame, bypassing the microphone. */
  send(data: string | Uint8Array): void {
    this.#socket.send(data);
  }

  /** See AwaitedEvents.until. */
  until(predicate: (event: Received) => boolean, timeoutMs?: number): Promise<Received> {
    return this.#events.until(predicate, timeoutMs);
  }

  /**
   * The text of every received MP3, or every streamed turn, and the part of it that was played until now, oldest
   * first.
   */
  playedReplies(): Promise<readonly PlayedReply[]> {
    return this.#loudspeaker.playedReplies(process.hrtime.bigint());
  }

  /** Resolves when the socket is closed. */
  async hangUp(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const closed = new Promise<void>((resolve) => {
      this.#socket.once("close", () => resolve());
    });
    this.#socket.resume();
    this.#socket.close(1000);
    await closed;
  }

  /** Breaks the connection without a close. */
  drop(): void {
    this.#socket.terminate();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const atNs = process.hrtime.bigint();
    if (isBinary) {
      const sound = this.#keepsAudio ? data : new Uint8Array();
      if (this.#keepsAudio) this.#loudspeaker.play(data, atNs);
      this.#events.add({ type: "audio", sound, atNs });
      return;
    }
    const message = parseServerMessage(data.toString("utf8"));
    if (message.type === "audioStop") this.#loudspeaker.stop(atNs);
    if (message.type === "audioStart" && this.#loudspeaker instanceof StreamLoudspeaker) {
      this.#loudspeaker.startTurn(message.turnId, message.encoding, atNs);
    }
    if (message.type === "connected") {
      this.#historyKey = message.historyKey;
      this.#stopMicrophone ??= microphoneClock.add(() => this.#sendFrame());
    }
    this.#events.add({ ...message, atNs });
  }

  /** In stream mode, periodically: how much of the newest turn was played. */
  #reportPlayed(): void {
    this.#frameCount += 1;
    if (!(this.#loudspeaker instanceof StreamLoudspeaker) || !this.#keepsAudio) return;
    if (this.#frameCount % REPORT_FRAMES !== 0) return;
    const played = this.#loudspeaker.played(process.hrtime.bigint());
    if (played === undefined) return;
    const { turnId, ms, isAll } = played;
    const report = JSON.stringify({ type: "played", turnId, ms });
    // Paused playback is reported too: otherwise the server assumes that it continued.
    if (!isAll || report !== this.#reported) this.#socket.send(report);
    this.#reported = report;
  }

  #sendFrame(): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#reportPlayed();
    if (this.#isMuted) return;
    const [speaking] = this.#speaking;
    const isClogged = this.#socket.bufferedAmount > UNSENT_BYTES_MAX;
    if (speaking === undefined) {
      if (!isClogged) this.#socket.send(SILENCE);
      return;
    }
    if (!isClogged)
      this.#socket.send(speaking.pcm.subarray(speaking.at, speaking.at + FRAME_BYTES));
    const nowNs = process.hrtime.bigint();
    if (speaking.at === 0) speaking.startNs = nowNs;
    speaking.at += FRAME_BYTES;
    if (speaking.at < speaking.pcm.length) return;
    this.#speaking.shift();
    speaking.resolve({ text: speaking.text, startNs: speaking.startNs, endNs: nowNs });
  }

  #closed(code: number, reason: string): void {
    this.#stopMicrophone?.();
    this.#stopTalking(`the call ended: ${code} ${reason}`);
    const atNs = process.hrtime.bigint();
    this.#loudspeaker.stop(atNs);
    this.#events.add({ type: "closed", code, reason, atNs });
    this.#events.end();
  }

  #stopTalking(reason: string): void {
    for (const { reject } of this.#speaking.splice(0)) reject(new Error(reason));
  }
}

/** The speech of the text, in whole frames. */
function speechOf(text: string): Buffer {
  const known = speechCache.get(text);
  if (known !== undefined) return known;
  const spoken = bytesOf(encodeSpeech(text, SAMPLE_RATE_HZ));
  const pcm = Buffer.alloc(Math.ceil(spoken.length / FRAME_BYTES) * FRAME_BYTES);
  spoken.copy(pcm);
  speechCache.set(text, pcm);
  return pcm;
}
