import {
  bytesOfMs,
  bytesPerMs,
  bytesPerSample,
  type InputFormat,
  silenceByte,
  silenceOf,
} from "../../audio/audio-format.js";
import { VoiceActivityDetector } from "../../audio/vad.js";
import type { CancelTimer, Clock } from "../../time/clock.js";
import type { VendorSocket } from "../transport/web-socket.js";
import type { FeedRules } from "./stt-dialect.js";

/** The newest bytes of a stream, addressed by their position in the whole stream. */
export class AudioRing {
  #bytes: Uint8Array;
  #oldestByte = 0;
  #endByte = 0;

  constructor(capacityBytes: number) {
    this.#bytes = new Uint8Array(capacityBytes);
  }

  /** The position after the newest byte: the number of bytes written since the start. */
  get endByte(): number {
    return this.#endByte;
  }

  /** The position of the oldest buffered byte. */
  get startByte(): number {
    return Math.max(this.#oldestByte, this.#endByte - this.#bytes.length);
  }

  get capacityBytes(): number {
    return this.#bytes.length;
  }

  /** Keeps the newest buffered bytes that fit. */
  resize(capacityBytes: number): void {
    const bytes = this.#bytes;
    const fromByte = Math.max(this.startByte, this.#endByte - capacityBytes);
    const length = this.#endByte - fromByte;
    const at = fromByte % bytes.length;
    const untilEnd = Math.min(length, bytes.length - at);
    this.#bytes = new Uint8Array(capacityBytes);
    this.#oldestByte = fromByte;
    this.#endByte = fromByte;
    this.write(bytes.subarray(at, at + untilEnd));
    this.write(bytes.subarray(0, length - untilEnd));
  }

  write(audio: Uint8Array): void {
    const capacity = this.#bytes.length;
    const kept = audio.length > capacity ? audio.subarray(audio.length - capacity) : audio;
    const at = (this.#endByte + audio.length - kept.length) % capacity;
    const untilEnd = Math.min(kept.length, capacity - at);
    this.#bytes.set(untilEnd === kept.length ? kept : kept.subarray(0, untilEnd), at);
    if (untilEnd < kept.length) this.#bytes.set(kept.subarray(untilEnd), 0);
    this.#endByte += audio.length;
  }

  /** A copy of the buffered bytes from one position to another. */
  read(fromByte: number, toByte: number): Uint8Array {
    const from = Math.max(fromByte, this.startByte);
    const length = Math.max(0, Math.min(toByte, this.#endByte) - from);
    const at = from % this.#bytes.length;
    const untilEnd = Math.min(length, this.#bytes.length - at);
    const copy = new Uint8Array(length);
    copy.set(this.#bytes.subarray(at, at + untilEnd), 0);
    copy.set(this.#bytes.subarray(0, length - untilEnd), untilEnd);
    return copy;
  }
}

/**
 * The first µ-law code (ITU-T G.711, without sign and inversion) for 64 or more of 14 bits, 42 dB below the loudest.
 * Speech on the telephone is far above it, the noise of a quiet call below.
 */
const LOUD_MULAW_CODE = 24;
const MULAW_MAGNITUDE = 0x7f;

/** High byte of a 16-bit sample between -256 and 255: the same 42 dB. */
const QUIET_POSITIVE = 0;
const QUIET_NEGATIVE = 0xff;

/** Whether no sample is louder than the noise of a quiet call. µ-law, or 16-bit little-endian samples. */
export function isQuiet(audio: Uint8Array, { encoding }: InputFormat): boolean {
  return encoding === "mulaw" ? isQuietMulaw(audio) : isQuietLinear(audio);
}

/** By index: this runs for every frame of every call, and an iterator takes three times as long. */
function isQuietMulaw(audio: Uint8Array): boolean {
  for (let at = 0; at < audio.length; at += 1) {
    if ((~(audio[at] ?? 0) & MULAW_MAGNITUDE) >= LOUD_MULAW_CODE) return false;
  }
  return true;
}

function isQuietLinear(audio: Uint8Array): boolean {
  for (let at = 1; at < audio.length; at += 2) {
    const high = audio[at];
    if (high !== QUIET_POSITIVE && high !== QUIET_NEGATIVE) return false;
  }
  return true;
}

/** What an STT that reconnects keeps itself, and replays. */
const OWN_RING_MS = 2_000;
/** A word fades for this long after the end that an STT reports. */
const FADING_MS = 300;
/** A voice may begin this long before it is loud enough to be detected. */
const ONSET_MS = 500;

/**
 * The position from which a call's audio must be replayed to an STT that has not received it. Positions are bytes
 * of the whole stream.
 */
export class UnsettledAudio {
  readonly #format: InputFormat;
  readonly #meter: VoiceActivityDetector;
  #endByte = 0;
  #settledByte = 0;
  /** Where the unsettled voice begins, and where the newest ends. */
  #voiceByte: number | undefined;
  #voiceEndByte = 0;

  constructor(format: InputFormat) {
    this.#format = format;
    this.#meter = new VoiceActivityDetector(format);
  }

  /** Whole samples, as they arrive. */
  hear(audio: Uint8Array): void {
    const fromByte = this.#endByte;
    this.#endByte += audio.length;
    if (this.#meter.hear(audio) === 0) return;
    this.#voiceByte ??= fromByte;
    this.#voiceEndByte = this.#endByte;
  }

  /** Audio before this position is finally transcribed; if that is unknown, all but the newest. */
  settle(lastWordEndMs: number | undefined): void {
    const newestMs = this.#endByte / bytesPerMs(this.#format);
    const settledMs = lastWordEndMs ?? Math.max(0, newestMs - OWN_RING_MS);
    const sampleBytes = bytesPerSample(this.#format.encoding);
    const sample = Math.round((settledMs * bytesPerMs(this.#format)) / sampleBytes);
    const byte = Math.min(sample * sampleBytes, this.#endByte);
    if (byte <= this.#settledByte) return;
    this.#settledByte = byte;
    if (this.#voiceByte === undefined || this.#voiceByte >= byte) return;
    const fadedByte = byte + bytesOfMs(this.#format, FADING_MS);
    this.#voiceByte = this.#voiceEndByte > fadedByte ? byte : undefined;
  }

  /** A silence without speech is not replayed, because the turn would wait for it. */
  get fromByte(): number {
    const voiceByte = this.#voiceByte ?? this.#endByte;
    return Math.max(this.#settledByte, voiceByte - bytesOfMs(this.#format, ONSET_MS));
  }
}

/** The newest audio is always kept and replayed, with or without a voice. */
const RING_MS = 2_000;
/** Speech without a result is kept for this long: an STT under load answers seconds later. The chain keeps as much. */
const UNSETTLED_MAX_MS = 8_000;
/**
 * What the caller says without a connection: as long as the reconnect attempts last, plus unsettled audio before
 * it.
 */
const OUTAGE_MS = 12_000;

/**
 * A long silence is sent in pieces of this length, since a frame of 20 ms costs as much to send. The first sound
 * sends the rest of the silence with it.
 */
const QUIET_PIECE_MS = 200;
/**
 * Silence after speech is sent as it arrives for this long beyond the endpointing, or until the vendor has
 * reported the end of speech: it ends the caller's turn.
 */
const AFTER_SPEECH_MS = 800;

/** The maximum length of a message: one vendor refuses more than a second. */
const PIECE_MAX_MS = 800;

/** Backlog is sent in steps of this length at this multiple of real time: the vendor would refuse a burst. */
const REPLAY_STEP_MS = 20;
const REPLAY_SPEED = 2;

/** A timer this late shows that the process was blocked: the caller's audio since then has not been read yet. */
const STOOD_STILL_MS = 50;
const RECHECK_MS = 100;

/** Four seconds of 16 kHz PCM beyond what the system buffers: a vendor this far behind no longer reads. */
const SEND_BUFFER_MAX_BYTES = 128 * 1024;

type FeedSocket = Pick<VendorSocket, "bufferedBytes" | "sendBinary" | "sendText">;

/** The caller's audio that may have to be sent again. Two feeds share it while two connections are open. */
export class ReplayBuffer {
  readonly ring: AudioRing;
  readonly #bytesPerMs: number;
  readonly #ringBytes: number;
  readonly #unsettled: UnsettledAudio;
  #settledByte = 0;

  constructor(format: InputFormat) {
    this.#bytesPerMs = bytesPerMs(format);
    this.#ringBytes = bytesOfMs(format, RING_MS);
    this.#unsettled = new UnsettledAudio(format);
    this.ring = new AudioRing(this.#ringBytes);
  }

  get settledByte(): number {
    return this.#settledByte;
  }

  /** `isLive`: a socket receives the audio as it arrives. */
  write(audio: Uint8Array, isLive: boolean): void {
    this.#unsettled.hear(audio);
    this.#dropOldest(audio.length, isLive);
    this.ring.write(audio);
  }

  /** The vendor has finished the audio before `byte`. */
  settle(byte: number): void {
    if (byte <= this.#settledByte) return;
    this.#settledByte = byte;
    this.#unsettled.settle(byte / this.#bytesPerMs);
  }

  /**
   * Where a new socket begins: at the oldest voice without a result. The audio from `lostByte` on was never sent,
   * and the last `RING_MS` before it may be partly transcribed.
   */
  replayFromByte(lostByte: number): number {
    const fromByte = Math.min(this.#unsettled.fromByte, lostByte - this.#ringBytes);
    return Math.max(this.#settledByte, this.ring.startByte, fromByte);
  }

  /** Frees the memory that an outage or a late result has used. */
  shrink(): void {
    const neededBytes = Math.max(this.#ringBytes, this.#unsettledBytes);
    if (this.ring.capacityBytes >= 2 * neededBytes) this.ring.resize(neededBytes);
  }

  get #unsettledBytes(): number {
    const { endByte } = this.ring;
    return Math.min(endByte - this.#unsettled.fromByte, UNSETTLED_MAX_MS * this.#bytesPerMs);
  }

  #dropOldest(sizeBytes: number, isLive: boolean): void {
    const { startByte, endByte, capacityBytes } = this.ring;
    const keptBytes = isLive
      ? this.#unsettledBytes
      : endByte - Math.max(this.#settledByte, startByte);
    const neededBytes = keptBytes + sizeBytes;
    const maxBytes = (isLive ? UNSETTLED_MAX_MS : OUTAGE_MS) * this.#bytesPerMs;
    if (neededBytes <= capacityBytes || capacityBytes >= maxBytes) return;
    this.ring.resize(Math.min(maxBytes, Math.max(neededBytes, 2 * capacityBytes)));
  }
}

/**
 * Sends the caller's audio to one socket after another. It keeps the newest audio and replays to a new socket,
 * paced, what the vendor had not settled. It maps a socket's time to the time of the whole stream.
 */
export class AudioFeed {
  readonly #clock: Clock;
  readonly #rules: FeedRules;
  readonly #format: InputFormat;
  readonly #bytesPerMs: number;
  readonly #ringBytes: number;
  readonly #replayBuffer: ReplayBuffer;
  readonly #ring: AudioRing;
  readonly #endpointingMs: number;
  readonly #afterSpeechBytes: number;
  #socket: FeedSocket | undefined;
  #quietFromByte = 0;
  #isQuietNow = true;
  #sentByte = 0;
  /** The start of the audio that no socket received. */
  #lostByte: number | undefined;
  #socketStartMs = 0;
  #lastSentMs = 0;
  #closing = false;
  #isCatchingUp = false;
  #cancelReplay: CancelTimer | undefined;
  #replayedMs = 0;
  #cancelKeepAlive: CancelTimer | undefined;

  /** The vendor takes `endpointingMs` of silence for the end of speech. */
  constructor(
    clock: Clock,
    rules: FeedRules,
    format: InputFormat,
    endpointingMs: number,
    kept = new ReplayBuffer(format),
  ) {
    this.#clock = clock;
    this.#rules = rules;
    this.#format = format;
    this.#bytesPerMs = bytesPerMs(format);
    this.#endpointingMs = endpointingMs;
    this.#afterSpeechBytes = (endpointingMs + AFTER_SPEECH_MS) * this.#bytesPerMs;
    this.#ringBytes = RING_MS * this.#bytesPerMs;
    this.#replayBuffer = kept;
    this.#ring = kept.ring;
  }

  /** A feed for a second, parallel socket. This one keeps the audio, the other one receives it through `follow`. */
  beside(): AudioFeed {
    const other = new AudioFeed(
      this.#clock,
      this.#rules,
      this.#format,
      this.#endpointingMs,
      this.#replayBuffer,
    );
    other.#quietFromByte = this.#quietFromByte;
    other.#isQuietNow = this.#isQuietNow;
    return other;
  }

  /** Stream time, in ms, of a socket's time in seconds. */
  streamMs(socketSec: number): number {
    return Math.max(0, Math.round(this.#socketStartMs + socketSec * 1_000));
  }

  /** Words that began after this socket time are transcribed again in full on the next socket. */
  get bufferStartSec(): number {
    const wholeByte = this.#sentByte - this.#ringBytes;
    const heldFromByte = Math.max(this.#replayBuffer.settledByte, this.#ring.startByte, wholeByte);
    return (heldFromByte / this.#bytesPerMs - this.#socketStartMs) / 1_000;
  }

  /** The vendor has finished the audio before this socket time: it is not replayed. */
  settle(socketSec: number): void {
    const sampleBytes = bytesPerSample(this.#format.encoding);
    const sample = Math.round((this.streamMs(socketSec) * this.#bytesPerMs) / sampleBytes);
    this.#replayBuffer.settle(Math.min(sample * sampleBytes, this.#sentByte));
    if (this.#cancelReplay === undefined) this.#replayBuffer.shrink();
  }

  /** The vendor has reported the end of speech, so further silence ends nothing. Sound is sent as before. */
  speechEnded(): void {
    if (this.#isQuietNow) this.#quietFromByte = this.#ring.endByte;
  }

  /** Whether audio is being replayed from an outage that was longer than the audio that is always kept. */
  get isCatchingUp(): boolean {
    return this.#isCatchingUp;
  }

  /** Whether the vendor's socket is congested. */
  get isCongested(): boolean {
    return this.#socket !== undefined && this.#socket.bufferedBytes > SEND_BUFFER_MAX_BYTES;
  }

  attach(socket: FeedSocket): void {
    this.#socket = socket;
    this.#sentByte = this.#replayBuffer.replayFromByte(this.#lostByte ?? this.#ring.endByte);
    this.#lostByte = undefined;
    this.#socketStartMs = this.#sentByte / this.#bytesPerMs;
    this.#isCatchingUp = this.#ring.endByte - this.#sentByte > this.#ringBytes;
    this.#sendSilence(this.#rules.openingSilenceMs);
    this.#keepAliveIn(this.#rules.keepAliveMs);
    if (this.#sentByte < this.#ring.endByte) {
      this.#replayedMs = this.#clock.monotonicMs();
      this.#cancelReplay = this.#clock.every(REPLAY_STEP_MS, () => this.#replay());
    }
  }

  detach(): void {
    if (this.#socket !== undefined) this.#lostByte = this.#sentByte;
    this.#socket = undefined;
    this.#cancelReplay?.();
    this.#cancelReplay = undefined;
    this.#cancelKeepAlive?.();
  }

  write(audio: Uint8Array): void {
    this.#replayBuffer.write(audio, this.#isLive);
    this.follow(audio);
  }

  get #isLive(): boolean {
    return this.#socket !== undefined && this.#cancelReplay === undefined;
  }

  /** Sends what the other feed has just written. */
  follow(audio: Uint8Array): void {
    const { endByte } = this.#ring;
    const isNext =
      this.#sentByte === endByte - audio.length &&
      audio.length <= bytesOfMs(this.#format, PIECE_MAX_MS);
    this.#isQuietNow = isQuiet(audio, this.#format);
    if (!this.#isQuietNow) this.#quietFromByte = endByte + this.#afterSpeechBytes;
    if (!this.#isLive || this.#mayWait()) return;
    if (isNext) {
      this.#send(audio);
      this.#sentByte = endByte;
    } else {
      this.#sendUntil(endByte);
    }
  }

  /** Sends the end mark after all audio. */
  end(): void {
    this.#closing = true;
    if (this.#cancelReplay !== undefined) return;
    this.#sendEnd();
  }

  /** A rest that is shorter than the vendor's minimum is padded with silence. */
  #sendEnd(): void {
    if (this.#socket === undefined) return;
    const { endByte } = this.#ring;
    const pieceBytes = this.#pieceBytes;
    if (this.#sentByte < endByte && endByte - this.#sentByte < pieceBytes) {
      const piece = new Uint8Array(pieceBytes).fill(silenceByte(this.#format.encoding));
      piece.set(this.#ring.read(this.#sentByte, endByte));
      this.#send(piece);
      this.#sentByte = endByte;
    } else this.#sendUntil(endByte);
    this.#socket.sendText(this.#rules.endMark);
  }

  get #pieceBytes(): number {
    return bytesOfMs(this.#format, this.#rules.soundPieceMs);
  }

  #mayWait(): boolean {
    const { endByte } = this.#ring;
    const isSound = endByte < this.#quietFromByte;
    const pieceMs = isSound ? this.#rules.soundPieceMs : QUIET_PIECE_MS;
    return endByte - this.#sentByte < pieceMs * this.#bytesPerMs;
  }

  #send(data: Uint8Array): void {
    this.#lastSentMs = this.#clock.monotonicMs();
    this.#socket?.sendBinary(data);
  }

  /** The silence counts on the socket's clock, but not on the caller's. */
  #sendSilence(durationMs: number): void {
    if (durationMs === 0) return;
    this.#socketStartMs -= durationMs;
    this.#send(silenceOf(this.#format, durationMs));
  }

  #sendUntil(toByte: number): void {
    const skippedBytes = this.#ring.startByte - this.#sentByte;
    if (skippedBytes > 0) {
      // More arrived than the ring holds: the socket's time continues with the audio.
      this.#sentByte += skippedBytes;
      this.#socketStartMs += skippedBytes / this.#bytesPerMs;
    }
    const pieces = Math.ceil((toByte - this.#sentByte) / bytesOfMs(this.#format, PIECE_MAX_MS));
    for (let left = pieces; left > 0; left--) {
      const durationMs = (toByte - this.#sentByte) / left / this.#bytesPerMs;
      const until = left === 1 ? toByte : this.#sentByte + bytesOfMs(this.#format, durationMs);
      this.#send(this.#ring.read(this.#sentByte, until));
      this.#sentByte = until;
    }
  }

  #replay(): void {
    // A late step sends correspondingly more: with fixed steps a busy process would never catch up
    // with the caller.
    const nowMs = this.#clock.monotonicMs();
    const stepMs = Math.max(1, Math.floor((nowMs - this.#replayedMs) * REPLAY_SPEED));
    if (stepMs < this.#rules.soundPieceMs) return;
    this.#replayedMs = nowMs;
    const { endByte } = this.#ring;
    const fromByte = Math.max(this.#sentByte, this.#ring.startByte);
    const toByte = fromByte + stepMs * this.#bytesPerMs;
    // A rest that would be too short for a piece of its own is included, or waits for the caller's next words.
    if (endByte - toByte > this.#pieceBytes) {
      this.#sendUntil(toByte);
      return;
    }
    if (endByte - fromByte >= this.#pieceBytes) this.#sendUntil(endByte);
    this.#cancelReplay?.();
    this.#cancelReplay = undefined;
    this.#isCatchingUp = false;
    this.#replayBuffer.shrink();
    if (this.#closing) this.#sendEnd();
  }

  /**
   * After the process was blocked, timers run before sockets: silence sent immediately would be in the middle of a
   * word.
   */
  #keepAliveIn(waitMs: number, isSecondLook = false): void {
    const dueMs = this.#clock.monotonicMs() + waitMs;
    this.#cancelKeepAlive = this.#clock.after(waitMs, () => {
      const isLate = this.#clock.monotonicMs() - dueMs > STOOD_STILL_MS;
      if (isLate && !isSecondLook) this.#keepAliveIn(RECHECK_MS, true);
      else this.#keepAlive();
    });
  }

  #keepAlive(): void {
    const { keepAlive, keepAliveMs } = this.#rules;
    const dueMs = this.#lastSentMs + keepAliveMs;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= dueMs) {
      this.#lastSentMs = nowMs;
      if (keepAlive === undefined) this.#sendSilence(keepAliveMs);
      else this.#socket?.sendText(keepAlive);
    }
    this.#keepAliveIn(nowMs >= dueMs ? keepAliveMs : dueMs - nowMs);
  }
}
