import type { CancelTimer, Clock } from "../../time/clock.js";
import type { VendorSocket } from "../transport/web-socket.js";
import { type AudioFormat, silence } from "./audio-format.js";
import { AudioRing } from "./audio-ring.js";
import { isQuiet } from "./quiet-audio.js";

/** The caller's last words, should the connection break while they are being understood. */
const RING_MS = 2_000;

/** Audio right after the upgrade, so that a caller who stays silent is not taken for a client that never sends. */
const OPENING_SILENCE_MS = 100;

/**
 * A long silence goes out in pieces of this length, since a frame of 20 ms costs as much to send. The first sound takes
 * what is left of the silence along at once.
 */
export const QUIET_PIECE_MS = 200;
/** Silence that follows speech goes out as it comes for this long beyond the endpointing: it ends the caller's turn. */
const AFTER_SPEECH_MS = 800;

/** The vendor closes a stream after 10 s without a frame. */
const KEEP_ALIVE_MS = 4_000;

/** Backlog goes out in steps of this length at this multiple of real time: in a burst it would be refused. */
const REPLAY_STEP_MS = 20;
const REPLAY_SPEED = 2;

/** Four seconds of 16 kHz PCM beyond what the system buffers: a vendor this far behind does not read any more. */
export const SEND_BUFFER_MAX_BYTES = 128 * 1024;

const KEEP_ALIVE = JSON.stringify({ type: "KeepAlive" });
const CLOSE_STREAM = JSON.stringify({ type: "CloseStream" });

/**
 * Brings the caller's audio to one socket after another. It keeps the newest audio and sends on a new socket again,
 * paced, what the vendor had not settled. It knows where a socket's time stands in the whole stream.
 */
export class DeepgramFeed {
  readonly #clock: Clock;
  readonly #format: AudioFormat;
  readonly #ring: AudioRing;
  readonly #afterSpeechBytes: number;
  #socket: VendorSocket | undefined;
  #quietFromByte = 0;
  #sentByte = 0;
  #settledByte = 0;
  #socketStartMs = 0;
  #lastSentMs = 0;
  #closing = false;
  #cancelReplay: CancelTimer | undefined;
  #replayedMs = 0;
  #cancelKeepAlive: CancelTimer | undefined;

  /** `endpointingMs` of silence are what the vendor takes for the end of speech. */
  constructor(clock: Clock, format: AudioFormat, endpointingMs: number) {
    this.#clock = clock;
    this.#format = format;
    this.#afterSpeechBytes = (endpointingMs + AFTER_SPEECH_MS) * format.bytesPerMs;
    this.#ring = new AudioRing(RING_MS * format.bytesPerMs);
  }

  /** Stream time, in ms, of a socket's time in seconds. */
  streamMs(socketSec: number): number {
    return Math.max(0, Math.round(this.#socketStartMs + socketSec * 1_000));
  }

  /** The vendor will not come back to audio before this socket time: it is not replayed. */
  settle(socketSec: number): void {
    const { bytesPerMs, bytesPerSample } = this.#format;
    const sample = Math.round((this.streamMs(socketSec) * bytesPerMs) / bytesPerSample);
    const settledByte = Math.min(sample * bytesPerSample, this.#sentByte);
    this.#settledByte = Math.max(this.#settledByte, settledByte);
  }

  /** Whether the vendor takes what it is sent. */
  get isCongested(): boolean {
    return this.#socket !== undefined && this.#socket.bufferedBytes > SEND_BUFFER_MAX_BYTES;
  }

  attach(socket: VendorSocket): void {
    this.#socket = socket;
    this.#sentByte = Math.max(this.#settledByte, this.#ring.startByte);
    this.#socketStartMs = this.#sentByte / this.#format.bytesPerMs - OPENING_SILENCE_MS;
    this.#send(silence(this.#format, OPENING_SILENCE_MS));
    this.#cancelKeepAlive = this.#clock.after(KEEP_ALIVE_MS, () => this.#keepAlive());
    if (this.#sentByte < this.#ring.endByte) {
      this.#replayedMs = this.#clock.monotonicMs();
      this.#cancelReplay = this.#clock.every(REPLAY_STEP_MS, () => this.#replay());
    }
  }

  detach(): void {
    this.#socket = undefined;
    this.#cancelReplay?.();
    this.#cancelReplay = undefined;
    this.#cancelKeepAlive?.();
  }

  write(audio: Uint8Array): void {
    const isLive = this.#socket !== undefined && this.#cancelReplay === undefined;
    const isNext = this.#sentByte === this.#ring.endByte;
    this.#ring.write(audio);
    const { endByte } = this.#ring;
    if (!isQuiet(audio, this.#format)) this.#quietFromByte = endByte + this.#afterSpeechBytes;
    if (!isLive || this.#mayWait()) return;
    if (isNext) {
      this.#send(audio);
      this.#sentByte = endByte;
    } else {
      this.#sendUntil(endByte);
    }
  }

  /** Sends the end mark behind all audio. */
  end(): void {
    this.#closing = true;
    if (this.#cancelReplay !== undefined) return;
    if (this.#socket !== undefined) this.#sendUntil(this.#ring.endByte);
    this.#socket?.sendText(CLOSE_STREAM);
  }

  #mayWait(): boolean {
    const { endByte } = this.#ring;
    const waitingBytes = endByte - this.#sentByte;
    return (
      endByte >= this.#quietFromByte && waitingBytes < QUIET_PIECE_MS * this.#format.bytesPerMs
    );
  }

  #send(data: Uint8Array): void {
    this.#lastSentMs = this.#clock.monotonicMs();
    this.#socket?.sendBinary(data);
  }

  #sendUntil(toByte: number): void {
    const skippedBytes = this.#ring.startByte - this.#sentByte;
    if (skippedBytes > 0) {
      // More came than the ring holds: the socket's time goes on where the audio does.
      this.#sentByte += skippedBytes;
      this.#socketStartMs += skippedBytes / this.#format.bytesPerMs;
    }
    if (toByte > this.#sentByte) this.#send(this.#ring.read(this.#sentByte, toByte));
    this.#sentByte = Math.max(this.#sentByte, toByte);
  }

  #replay(): void {
    const { bytesPerMs } = this.#format;
    // A late step sends as much more: in steps of one size a busy process would fall behind the caller for good.
    const nowMs = this.#clock.monotonicMs();
    const stepMs = Math.max(1, Math.floor((nowMs - this.#replayedMs) * REPLAY_SPEED));
    this.#replayedMs = nowMs;
    const fromByte = Math.max(this.#sentByte, this.#ring.startByte);
    this.#sendUntil(Math.min(fromByte + stepMs * bytesPerMs, this.#ring.endByte));
    if (this.#sentByte < this.#ring.endByte) return;
    this.#cancelReplay?.();
    this.#cancelReplay = undefined;
    if (this.#closing) this.#socket?.sendText(CLOSE_STREAM);
  }

  #keepAlive(): void {
    const dueMs = this.#lastSentMs + KEEP_ALIVE_MS;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= dueMs) {
      this.#lastSentMs = nowMs;
      this.#socket?.sendText(KEEP_ALIVE);
    }
    const waitMs = nowMs >= dueMs ? KEEP_ALIVE_MS : dueMs - nowMs;
    this.#cancelKeepAlive = this.#clock.after(waitMs, () => this.#keepAlive());
  }
}
