import { bytesPerMs, type InputFormat } from "../../audio/audio-format.js";
import { VoiceActivityDetector } from "../../audio/vad.js";
import type { CancelTimer, Clock } from "../../time/clock.js";
import {
  type ListenOptions,
  type SpeechListener,
  type SpeechStream,
  type SpeechToText,
  VendorError,
  type VendorFault,
} from "../contracts.js";
import { languageField } from "../spoken-language.js";
import { openVendorSocket, type SocketAccess } from "../transport/socket-vendor.js";
import type { VendorSocket } from "../transport/web-socket.js";
import { type RefusalDetail, reasonOf, safeText, vendorTextOf } from "../vendor-fault.js";
import { AudioFeed } from "./audio-feed.js";
import type { MessageReader, RecognizerDialect, SttMessage } from "./stt-dialect.js";

/**
 * An STT returns interim results about once a second. This much voice without one, which is five seconds of speech
 * with its pauses, means that it is dead.
 */
const VOICE_UNANSWERED_MAX_MS = 3_000;
/** Two seconds of speech without an interim result are enough to open a second STT in parallel. */
const VOICE_SUSPECT_MS = 1_200;
/** A shorter voice is enough once it has ended: its result is late by then. */
const ENDED_VOICE_SUSPECT_MS = 1_000;
const ENDED_AGO_MS = 1_500;
/** Two utterances of this length ("Hello?") and no result for either: no STT is that late. A cough is shorter. */
const SHORT_UTTERANCE_MS = 360;
const SHORT_UNANSWERED_MAX = 2;
/**
 * A caller who says "Hello?" and waits never adds up to much voice. This many utterances without a result over
 * this much time, a second connection included, mean that the STT has failed.
 */
const UNANSWERED_MAX = 3;
/**
 * An STT that has returned something in this call probably works: some vendors return nothing for a noise, and a
 * dog barks more than three times.
 */
const UNANSWERED_PROVEN_MAX = 5;
const UNANSWERED_MIN_MS = 10_000;
/** Three coughs are less voice than this, three short words are more. */
const UNANSWERED_VOICE_MIN_MS = 1_350;
/** Noises this far apart are not a caller who tries again. */
const UNANSWERED_APART_MAX_MS = 15_000;
/** How often this much voice may get no result, on one connection and then on two, before the STT has failed. */
const DEAF_TIMES_MAX = 2;

/** "unanswered": an utterance has ended, and STT returned no result. */
export type SttHealth = "fine" | "doubtful" | "unanswered" | "deaf" | "lost";

/**
 * Compares the voice in the audio with the results of STT: its socket may be open and its pings answered while it
 * transcribes nothing. Results count, with words or without, and ends of speech; a reported start of speech does
 * not.
 */
export class SttStallDetector {
  readonly #meter: VoiceActivityDetector;
  readonly #bytesPerMs: number;
  #silentVoiceMs = 0;
  /** Voice of the newest utterance, and the silence after it. */
  #utteranceMs = 0;
  #quietMs = 0;
  /** Utterances longer than a cough that have ended since the last result. */
  #endedUtterances = 0;
  /** The voice in them. */
  #unansweredVoiceMs = 0;
  /** The time since the first of them began. */
  #unansweredMs = 0;
  #hasUnderstood = false;
  #isSuspected = false;
  #deafTimes = 0;

  constructor(format: InputFormat) {
    this.#meter = new VoiceActivityDetector(format);
    this.#bytesPerMs = bytesPerMs(format);
  }

  /**
   * Whole samples that STT receives. After "deaf" it counts from zero; it reports "doubtful" and "unanswered" once
   * until the next result.
   */
  hear(audio: Uint8Array): SttHealth {
    const voicedMs = this.#meter.hear(audio);
    // Voice in syllables, which typing and knocks do not have.
    const { syllablesMs } = this.#meter;
    this.#silentVoiceMs += syllablesMs;
    this.#follow(voicedMs, syllablesMs, audio);
    if (this.#silentVoiceMs >= VOICE_UNANSWERED_MAX_MS) {
      this.#silentVoiceMs = 0;
      this.#deafTimes += 1;
      return this.#deafTimes > DEAF_TIMES_MAX ? "lost" : "deaf";
    }
    if (this.#becomesSuspect()) return "doubtful";
    if (this.#isStalled) {
      this.#forgetUtterances();
      return "lost";
    }
    return this.#becomesUnanswered() ? "unanswered" : "fine";
  }

  /** STT has returned its result for some audio. */
  understood(): void {
    this.#hasUnderstood = true;
    this.#silentVoiceMs = 0;
    this.#utteranceMs = 0;
    this.#forgetUtterances();
    this.#isSuspected = false;
    this.#deafTimes = 0;
  }

  #forgetUtterances(): void {
    this.#endedUtterances = 0;
    this.#unansweredVoiceMs = 0;
    this.#unansweredMs = 0;
  }

  #follow(voicedMs: number, syllablesMs: number, audio: Uint8Array): void {
    const durationMs = audio.length / this.#bytesPerMs;
    if (this.#unansweredMs > 0 || voicedMs > 0) this.#unansweredMs += durationMs;
    if (voicedMs === 0) {
      const wasEnded = this.#quietMs >= ENDED_AGO_MS;
      this.#quietMs += durationMs;
      const isEnded = !wasEnded && this.#quietMs >= ENDED_AGO_MS;
      if (isEnded) this.#endUtterance();
      if (this.#quietMs >= UNANSWERED_APART_MAX_MS) this.#forgetUtterances();
      return;
    }
    if (this.#quietMs >= ENDED_AGO_MS) this.#utteranceMs = 0;
    this.#quietMs = 0;
    this.#utteranceMs += syllablesMs;
  }

  /** A cough does not count towards the voice that a dead STT has missed, otherwise many of them would add up. */
  #endUtterance(): void {
    if (this.#utteranceMs >= SHORT_UTTERANCE_MS) {
      this.#endedUtterances += 1;
      this.#unansweredVoiceMs += this.#utteranceMs;
    } else this.#silentVoiceMs = Math.max(0, this.#silentVoiceMs - this.#utteranceMs);
  }

  /** A cough is too short, however many there are. */
  #becomesSuspect(): boolean {
    if (this.#isSuspected) return false;
    const limitMs = this.#quietMs < ENDED_AGO_MS ? VOICE_SUSPECT_MS : ENDED_VOICE_SUSPECT_MS;
    this.#isSuspected = this.#utteranceMs >= limitMs;
    return this.#isSuspected;
  }

  get #isStalled(): boolean {
    if (this.#deafTimes === 0 || this.#quietMs < ENDED_AGO_MS) return false;
    if (this.#unansweredVoiceMs < UNANSWERED_VOICE_MIN_MS) return false;
    const utterancesMax = this.#hasUnderstood ? UNANSWERED_PROVEN_MAX : UNANSWERED_MAX;
    return this.#endedUtterances >= utterancesMax && this.#unansweredMs >= UNANSWERED_MIN_MS;
  }

  /** Counts as one of the connections without results, if its voice has not been counted yet. */
  #becomesUnanswered(): boolean {
    if (this.#deafTimes > 0 || this.#quietMs < ENDED_AGO_MS) return false;
    const isShort = this.#utteranceMs < ENDED_VOICE_SUSPECT_MS;
    if (isShort && this.#endedUtterances < SHORT_UNANSWERED_MAX) return false;
    this.#silentVoiceMs = 0;
    this.#deafTimes = 1;
    return true;
  }
}

/** Delays before each attempt; a caller notices an agent that hears nothing after a few seconds, and then hangs up. */
const RECONNECT_DELAYS_MS = [0, 100, 250, 500, 1_000, 2_000] as const;
const RECONNECT_TIMEOUT_MS = 10_000;

/** A connection that lasted this long was a good one; shorter ones count as attempts of the same outage. */
const STABLE_AFTER_MS = 5_000;

/** Some invalid messages are ignored; a peer that sends nothing else is not the vendor. */
const GARBAGE_MESSAGES_MAX = 20;

/** The last results arrive within some hundred milliseconds, or not at all. */
const FINISH_TIMEOUT_MS = 2_000;

export type RecognizerSocket = Pick<
  VendorSocket,
  "bufferedBytes" | "destroy" | "listen" | "sendBinary" | "sendText"
>;

export interface RecognizerStreamParts {
  readonly dialect: RecognizerDialect;
  readonly clock: Clock;
  readonly format: InputFormat;
  readonly endpointingMs: number;
  readonly listener: SpeechListener;
  readonly apiKey: string;
  readonly connect: (signal: AbortSignal) => Promise<RecognizerSocket>;
}

interface Connection {
  readonly socket: RecognizerSocket;
  readonly reader: MessageReader;
  readonly feed: AudioFeed;
}

/**
 * One call's STT stream: it outlives its sockets, and reports times of the whole stream whichever socket they came
 * from.
 */
export class RecognizerStream implements SpeechStream {
  readonly #parts: RecognizerStreamParts;
  #feed: AudioFeed;
  readonly #watch: SttStallDetector;
  readonly #signal: AbortSignal;
  readonly #ending = new AbortController();
  readonly #onAbort = () => this.close();
  #reader: MessageReader;
  #phase: "open" | "finishing" | "closed" = "open";
  #socket: RecognizerSocket | undefined;
  /** Opened when the current connection seemed dead. The one that returns words first continues alone. */
  #second: Connection | undefined;
  /** Since when the current connection has been suspected of being dead. */
  #suspectedMs: number | undefined;
  #openedMs = 0;
  #lostMs: number | undefined;
  #tries = 0;
  #garbageCount = 0;
  #cancelTimer: CancelTimer = () => undefined;
  #finished: Promise<void> | undefined;
  #resolveFinished: () => void = () => undefined;

  constructor(parts: RecognizerStreamParts, socket: RecognizerSocket, signal: AbortSignal) {
    this.#parts = parts;
    const { dialect, clock, format, endpointingMs } = parts;
    this.#feed = new AudioFeed(clock, dialect.feed, format, endpointingMs);
    this.#reader = dialect.newReader();
    this.#watch = new SttStallDetector(format);
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort);
    this.#attach(socket);
  }

  write(audio: Uint8Array): void {
    // An empty frame is an old way to ask the vendor to close.
    if (this.#phase !== "open" || audio.length === 0) return;
    this.#feed.write(audio);
    this.#second?.feed.follow(audio);
    if (this.#feed.isCongested) this.#lose(this.#fault("unavailable", "does not read"));
    // Results for audio that follows a long outage cannot have arrived yet.
    if (this.#socket !== undefined && !this.#feed.isCatchingUp) this.#compare(audio);
  }

  finish(): Promise<void> {
    if (this.#finished !== undefined) return this.#finished;
    if (this.#phase === "closed" || this.#socket === undefined) {
      this.close();
      return Promise.resolve();
    }
    this.#phase = "finishing";
    this.#trust();
    this.#finished = new Promise((resolve) => {
      this.#resolveFinished = resolve;
    });
    this.#cancelTimer = this.#parts.clock.after(FINISH_TIMEOUT_MS, () => this.close());
    this.#feed.end();
    return this.#finished;
  }

  /** Idempotent. */
  close(): void {
    this.#phase = "closed";
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#cancelTimer();
    this.#ending.abort();
    this.#trust();
    this.#detach();
    this.#resolveFinished();
  }

  #attach(socket: RecognizerSocket): void {
    this.#socket = socket;
    this.#openedMs = this.#parts.clock.monotonicMs();
    this.#garbageCount = 0;
    this.#reader = this.#parts.dialect.newReader();
    this.#listenTo(socket);
    this.#feed.attach(socket);
  }

  #listenTo(socket: RecognizerSocket): void {
    const isSecond = () => socket === this.#second?.socket;
    socket.listen({
      onText: (text) => (isSecond() ? this.#takeOfSecond(text) : this.#take(text)),
      onBinary: () => (isSecond() ? this.#dropSecond() : this.#countGarbage()),
      onClosed: (code, reason) =>
        isSecond() ? this.#dropSecond() : this.#lose(this.#closeFault(code, reason)),
    });
  }

  #detach(): void {
    this.#feed.detach();
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #take(text: string): void {
    const messages = this.#reader.read(text);
    if (messages === undefined) this.#countGarbage();
    else {
      if (messages.some(showsSttIsHearing)) {
        this.#watch.understood();
        this.#trust();
      }
      this.#deliver(messages);
    }
  }

  /** The current connection may only be slow: its words count until the second one has returned some. */
  #suspect(): void {
    if (this.#suspectedMs !== undefined || this.#socket === undefined) return;
    const { clock, connect } = this.#parts;
    const sinceMs = clock.monotonicMs();
    this.#suspectedMs = sinceMs;
    const isStillSuspected = () => this.#suspectedMs === sinceMs && this.#socket !== undefined;
    connect(this.#ending.signal).then(
      (socket) => {
        if (isStillSuspected()) this.#addSecond(socket);
        else socket.destroy();
      },
      () => {
        // The next utterance without a result opens another connection.
        if (isStillSuspected()) this.#suspectedMs = undefined;
      },
    );
  }

  #addSecond(socket: RecognizerSocket): void {
    const feed = this.#feed.beside();
    this.#second = { socket, feed, reader: this.#parts.dialect.newReader() };
    this.#listenTo(socket);
    feed.attach(socket);
  }

  /** The current connection works, or is closed. */
  #trust(): void {
    this.#suspectedMs = undefined;
    const second = this.#second;
    this.#second = undefined;
    second?.feed.detach();
    second?.socket.destroy();
  }

  /** The next utterance without a result opens another connection. */
  #dropSecond(): void {
    this.#trust();
  }

  #takeOfSecond(text: string): void {
    const messages = this.#second?.reader.read(text);
    if (messages === undefined || messages.some(({ kind }) => kind === "error")) this.#dropSecond();
    else if (messages.some((each) => each.kind === "words" && each.text !== "")) {
      this.#promoteSecond(this.#fault("timeout", "returned no words for speech"));
      if (this.#phase === "closed") return;
      this.#watch.understood();
      this.#deliver(messages);
    }
  }

  /** The second connection has received everything since the last result, and continues alone. */
  #promoteSecond(error: VendorError): void {
    const { clock, listener } = this.#parts;
    const second = this.#second;
    if (second === undefined) return;
    const sttOutageMs = clock.monotonicMs() - (this.#suspectedMs ?? 0);
    this.#second = undefined;
    this.#suspectedMs = undefined;
    this.#detach();
    this.#socket = second.socket;
    this.#feed = second.feed;
    this.#reader = second.reader;
    this.#openedMs = clock.monotonicMs();
    this.#garbageCount = 0;
    listener.onLost(error);
    if (this.#phase !== "closed") listener.onRecovered(sttOutageMs);
  }

  #deliver(messages: readonly SttMessage[]): void {
    for (const each of messages) {
      // An earlier event may have ended the call.
      if (this.#phase === "closed") return;
      this.#deliverOne(each);
    }
  }

  #deliverOne(message: SttMessage): void {
    const { listener, dialect } = this.#parts;
    switch (message.kind) {
      case "words": {
        const { text, isFinal, speechFinal, lastWordEndSec: endSec, language } = message;
        // Without words it is no end of speech: some vendors report this in the middle of speech.
        if (speechFinal && text !== "") this.#feed.speechEnded();
        const lastWordEndMs = endSec === undefined ? undefined : this.#feed.streamMs(endSec);
        const words = {
          text,
          isFinal,
          speechFinal,
          lastWordEndMs,
          ...languageField(language),
        };
        const { hasTurnDetection, turnSilenceMaxMs } = dialect;
        const limit = turnSilenceMaxMs === undefined ? {} : { turnSilenceMaxMs };
        listener.onTranscript(hasTurnDetection ? { ...words, hasTurnDetection, ...limit } : words);
        break;
      }
      case "settled":
        this.#feed.settle(message.sec);
        break;
      case "wordless":
        break;
      case "speechStarted":
        listener.onSpeechStarted();
        break;
      case "utteranceEnd":
        listener.onUtteranceEnd(this.#feed.streamMs(message.lastWordEndSec));
        break;
      case "turn":
        if (message.mark === "endOfTurn") this.#feed.speechEnded();
        listener.onTurn({ mark: message.mark, text: message.text });
        break;
      case "error":
        this.#lose(this.#toVendorError(message.fault, "reports an error", message.detail));
        break;
    }
  }

  /** A voice without results: a second connection may return them. */
  #compare(audio: Uint8Array): void {
    const hearing = this.#watch.hear(audio);
    if (hearing === "fine") return;
    const { listener } = this.#parts;
    if (hearing === "lost") {
      this.close();
      listener.onFailed(this.#fault("timeout", "returned no words for speech"));
    } else if (listener.onSttStall !== undefined) {
      // The chain opens a parallel stream of another vendor, or a second one of the same vendor.
      listener.onSttStall(hearing === "doubtful" ? "doubtful" : "deaf");
    } else if (hearing !== "doubtful") this.#suspect();
  }

  #countGarbage(): void {
    this.#garbageCount++;
    if (this.#garbageCount > GARBAGE_MESSAGES_MAX) {
      this.#lose(this.#fault("badAnswer", "sent an unreadable message"));
    }
  }

  #closeFault(code: number, reason: string): VendorError {
    const fault = this.#parts.dialect.closeFault(code, reason);
    return this.#toVendorError(fault, `closed with ${code}`, { code: undefined, message: reason });
  }

  /** An error with the vendor's reason. */
  #toVendorError(kind: VendorFault, what: string, detail: RefusalDetail): VendorError {
    const { apiKey, dialect } = this.#parts;
    const words = [`${dialect.vendor}: ${what}`, reasonOf(detail)].filter(Boolean).join(": ");
    const vendorText = vendorTextOf(detail, apiKey);
    return new VendorError(dialect.vendor, kind, safeText(words, apiKey), { vendorText });
  }

  #fault(kind: VendorFault, message: string): VendorError {
    const { vendor } = this.#parts.dialect;
    return new VendorError(vendor, kind, `${vendor}: ${message}`);
  }

  #asVendorError(cause: unknown): VendorError {
    if (cause instanceof VendorError) return cause;
    const { vendor } = this.#parts.dialect;
    return new VendorError(vendor, "disconnected", `${vendor}: connection failed`, { cause });
  }

  #lose(error: VendorError): void {
    if (this.#second !== undefined && this.#phase === "open") return this.#promoteSecond(error);
    this.#detach();
    // Nothing is replayed after the end.
    const heldFromSec =
      this.#phase === "finishing" ? Number.POSITIVE_INFINITY : this.#feed.bufferStartSec;
    this.#deliver(this.#reader.lost(heldFromSec));
    // A listener may have ended the call.
    if (this.#phase === "closed") return;
    if (this.#phase === "finishing") {
      this.close();
      return;
    }
    const nowMs = this.#parts.clock.monotonicMs();
    if (nowMs - this.#openedMs >= STABLE_AFTER_MS) this.#tries = 0;
    this.#lostMs = nowMs;
    if (error.retryable) this.#parts.listener.onLost(error);
    this.#reconnectLater(error);
  }

  #reconnectLater(error: VendorError): void {
    if (this.#phase !== "open") return;
    const delayMs = RECONNECT_DELAYS_MS[this.#tries];
    const sttOutageMs = this.#parts.clock.monotonicMs() - (this.#lostMs ?? 0);
    if (!error.retryable || delayMs === undefined || sttOutageMs + delayMs > RECONNECT_TIMEOUT_MS) {
      this.close();
      this.#parts.listener.onFailed(error);
      return;
    }
    this.#tries++;
    this.#cancelTimer = this.#parts.clock.after(delayMs, () => {
      this.#parts.connect(this.#ending.signal).then(
        (socket) => this.#recover(socket),
        (cause: unknown) => this.#reconnectLater(this.#asVendorError(cause)),
      );
    });
  }

  #recover(socket: RecognizerSocket): void {
    if (this.#phase !== "open") {
      socket.destroy();
      return;
    }
    const sttOutageMs = this.#parts.clock.monotonicMs() - (this.#lostMs ?? 0);
    this.#attach(socket);
    this.#parts.listener.onRecovered(sttOutageMs);
  }
}

/** A dead STT can still report a start of speech, or an empty result. */
function showsSttIsHearing(message: SttMessage): boolean {
  if (message.kind === "turn") return message.mark !== "startOfTurn";
  return message.kind !== "speechStarted";
}

/** An STT vendor with a WebSocket: opens one for a call, and another when it breaks. */
export class SocketRecognizer implements SpeechToText {
  readonly #dialect: RecognizerDialect;
  readonly #access: SocketAccess;

  constructor(dialect: RecognizerDialect, access: SocketAccess) {
    this.#dialect = dialect;
    this.#access = access;
  }

  async open(
    options: ListenOptions,
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<SpeechStream> {
    const dialect = this.#dialect;
    const { vendor } = dialect;
    const target = dialect.target(options);
    const connect = (until: AbortSignal) => openVendorSocket(dialect, this.#access, target, until);
    const socket = await connect(signal);
    if (signal.aborted) {
      socket.destroy();
      throw new VendorError(vendor, "aborted", `${vendor}: aborted`);
    }
    const { context, apiKey } = this.#access;
    const { clock } = context;
    const { format, endpointingMs } = options;
    const parts = { dialect, clock, format, endpointingMs, listener, apiKey, connect };
    return new RecognizerStream(parts, socket, signal);
  }
}
