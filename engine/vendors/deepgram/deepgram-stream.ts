import type { CancelTimer, Clock } from "../../time/clock.js";
import { type SpeechListener, type SpeechStream, VendorError } from "../contracts.js";
import type { VendorSocket } from "../transport/web-socket.js";
import { safeText } from "../vendor-fault.js";
import type { AudioFormat } from "./audio-format.js";
import { DeepgramFeed } from "./deepgram-feed.js";
import { parseDeepgramMessage } from "./deepgram-messages.js";

const VENDOR = "deepgram";

/** Waits before each try; a caller notices a deaf agent after a few seconds, and hangs up after more. */
const RECONNECT_DELAYS_MS = [0, 100, 250, 500, 1_000, 2_000] as const;
const RECONNECT_TIMEOUT_MS = 10_000;

/** A connection that held this long was a good one; shorter ones count as tries of the same outage. */
const STABLE_AFTER_MS = 5_000;

/** Some rubbish is survived; a peer that sends nothing else is not the vendor. */
export const GARBAGE_MESSAGES_MAX = 20;

/** The last results come within some hundred milliseconds, or not at all. */
const FINISH_TIMEOUT_MS = 2_000;

/** "The audio cannot be decoded": a new connection would hear the same. */
const UNDECODABLE_AUDIO_CODE = 1008;
const SERVER_TROUBLE_CODE = 1011;

export interface DeepgramStreamParts {
  readonly clock: Clock;
  readonly format: AudioFormat;
  readonly endpointingMs: number;
  readonly listener: SpeechListener;
  readonly apiKey: string;
  readonly connect: (signal: AbortSignal) => Promise<VendorSocket>;
}

/** One call's recognition: outlives its sockets, and reports the time of the whole stream whatever socket it came over. */
export class DeepgramStream implements SpeechStream {
  readonly #parts: DeepgramStreamParts;
  readonly #feed: DeepgramFeed;
  readonly #signal: AbortSignal;
  readonly #ending = new AbortController();
  readonly #onAbort = () => this.close();
  #phase: "open" | "finishing" | "closed" = "open";
  #socket: VendorSocket | undefined;
  #openedMs = 0;
  #lostMs: number | undefined;
  #tries = 0;
  #garbageCount = 0;
  #cancelTimer: CancelTimer = () => undefined;
  #finished: Promise<void> | undefined;
  #resolveFinished: () => void = () => undefined;

  constructor(parts: DeepgramStreamParts, socket: VendorSocket, signal: AbortSignal) {
    this.#parts = parts;
    this.#feed = new DeepgramFeed(parts.clock, parts.format, parts.endpointingMs);
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort, { once: true });
    this.#attach(socket);
  }

  write(audio: Uint8Array): void {
    // An empty frame is the vendor's old way to be told "close".
    if (this.#phase !== "open" || audio.length === 0) return;
    this.#feed.write(audio);
    if (this.#feed.isCongested) this.#lose(fault("unavailable", "does not read"));
  }

  finish(): Promise<void> {
    if (this.#finished !== undefined) return this.#finished;
    if (this.#phase === "closed" || this.#socket === undefined) {
      this.close();
      return Promise.resolve();
    }
    this.#phase = "finishing";
    this.#finished = new Promise((resolve) => {
      this.#resolveFinished = resolve;
    });
    this.#cancelTimer = this.#parts.clock.after(FINISH_TIMEOUT_MS, () => this.close());
    this.#feed.end();
    return this.#finished;
  }

  close(): void {
    if (this.#phase === "closed") return;
    this.#phase = "closed";
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#cancelTimer();
    this.#ending.abort();
    this.#detach();
    this.#resolveFinished();
  }

  #attach(socket: VendorSocket): void {
    this.#socket = socket;
    this.#openedMs = this.#parts.clock.monotonicMs();
    this.#garbageCount = 0;
    socket.listen({
      onText: (text) => this.#take(text),
      onBinary: () => this.#countGarbage(),
      onClosed: (code, reason) => this.#lose(this.#closeFault(code, reason)),
    });
    this.#feed.attach(socket);
  }

  #detach(): void {
    this.#feed.detach();
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #take(text: string): void {
    const { listener } = this.#parts;
    const message = parseDeepgramMessage(text);
    switch (message?.kind) {
      case undefined:
        this.#countGarbage();
        break;
      case "results": {
        if (message.isFinal) this.#feed.settle(message.settledSec);
        // A silence that is still going on says nothing; the end of one may end a turn.
        if (message.text === "" && !message.isFinal) break;
        const { lastWordEndSec } = message;
        listener.onTranscript({
          text: message.text,
          isFinal: message.isFinal,
          speechFinal: message.speechFinal,
          lastWordEndMs:
            lastWordEndSec === undefined ? undefined : this.#feed.streamMs(lastWordEndSec),
        });
        break;
      }
      case "speechStarted":
        listener.onSpeechStarted();
        break;
      case "utteranceEnd":
        // Negative when there was no word.
        if (message.lastWordEndSec >= 0) {
          listener.onUtteranceEnd(this.#feed.streamMs(message.lastWordEndSec));
        }
        break;
      case "error":
        this.#lose(fault("unavailable", safeText(message.message, this.#parts.apiKey)));
        break;
      case "other":
        break;
    }
  }

  #countGarbage(): void {
    this.#garbageCount++;
    if (this.#garbageCount > GARBAGE_MESSAGES_MAX) {
      this.#lose(fault("badAnswer", "sends unreadable messages"));
    }
  }

  #closeFault(code: number, reason: string): VendorError {
    const words = safeText(`closed with ${code} ${reason}`, this.#parts.apiKey);
    if (code === UNDECODABLE_AUDIO_CODE) return fault("refused", words);
    return fault(code === SERVER_TROUBLE_CODE ? "unavailable" : "disconnected", words);
  }

  #lose(error: VendorError): void {
    if (this.#phase === "closed") return;
    this.#detach();
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
    const deafMs = this.#parts.clock.monotonicMs() - (this.#lostMs ?? 0);
    if (!error.retryable || delayMs === undefined || deafMs + delayMs > RECONNECT_TIMEOUT_MS) {
      this.close();
      this.#parts.listener.onFailed(error);
      return;
    }
    this.#tries++;
    this.#cancelTimer = this.#parts.clock.after(delayMs, () => {
      this.#parts.connect(this.#ending.signal).then(
        (socket) => this.#recover(socket),
        (cause: unknown) => this.#reconnectLater(asVendorError(cause)),
      );
    });
  }

  #recover(socket: VendorSocket): void {
    if (this.#phase !== "open") {
      socket.destroy();
      return;
    }
    const deafMs = this.#parts.clock.monotonicMs() - (this.#lostMs ?? 0);
    this.#attach(socket);
    this.#parts.listener.onRecovered(deafMs);
  }
}

function fault(kind: VendorError["fault"], message: string): VendorError {
  return new VendorError(VENDOR, kind, `${VENDOR}: ${message}`);
}

function asVendorError(cause: unknown): VendorError {
  if (cause instanceof VendorError) return cause;
  return new VendorError(VENDOR, "disconnected", `${VENDOR}: connection failed`, { cause });
}
