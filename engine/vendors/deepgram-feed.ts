import type { CancelTimer, Clock } from "../time/clock.js";
import { type AudioFormat, silence } from "./audio-format.js";
import { AudioRing } from "./audio-ring.js";
import type { VendorSocket } from "./web-socket.js";

/** The caller's last words, should the connection break while they are being understood. */
const RING_MS = 2_000;

/** Audio right after the upgrade, so that a caller who stays silent is not taken for a client that never sends. */
const OPENING_SILENCE_MS = 100;

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
 * The way of the caller's audio to one socket after another: keeps the newest of it, sends it as it comes, and on a new
 * socket sends again, paced, what the vendor had not settled. Knows where a socket's time stands in the whole stream.
 */
export class DeepgramFeed {
  readonly #clock: Clock;
  readonly #format: AudioFormat;
  readonly #ring: AudioRing;
  #socket: VendorSocket | undefined;
  #sentByte = 0;
  #settledByte = 0;
  #socketStartMs = 0;
  #lastSentMs = 0;
  #closing = false;
  #cancelReplay: CancelTimer | undefined;
  #replayedMs = 0;
  #cancelKeepAlive: CancelTimer | undefined;

  constructor(clock: Clock, format: AudioFormat) {
    this.#clock = clock;
    this.#format = format;
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
    const isLive = this.#socket !== undefined && this.#sentByte === this.#ring.endByte;
    this.#ring.write(audio);
    if (!isLive) return;
    this.#sentByte = this.#ring.endByte;
    this.#send(audio);
  }

  /** Sends the end mark behind all audio. */
  end(): void {
    this.#closing = true;
    if (this.#cancelReplay === undefined) this.#socket?.sendText(CLOSE_STREAM);
  }

  #send(data: Uint8Array): void {
    this.#lastSentMs = this.#clock.monotonicMs();
    this.#socket?.sendBinary(data);
  }

  #replay(): void {
    const { bytesPerMs } = this.#format;
    const skippedBytes = this.#ring.startByte - this.#sentByte;
    if (skippedBytes > 0) {
      // More came than the ring holds: the socket's time goes on where the audio does.
      this.#sentByte += skippedBytes;
      this.#socketStartMs += skippedBytes / bytesPerMs;
    }
    // A late step sends as much more: in steps of one size a busy process would fall behind the caller for good.
    const nowMs = this.#clock.monotonicMs();
    const stepMs = Math.max(1, Math.floor((nowMs - this.#replayedMs) * REPLAY_SPEED));
    this.#replayedMs = nowMs;
    const toByte = Math.min(this.#sentByte + stepMs * bytesPerMs, this.#ring.endByte);
    if (toByte > this.#sentByte) this.#send(this.#ring.read(this.#sentByte, toByte));
    this.#sentByte = toByte;
    if (toByte < this.#ring.endByte) return;
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
