import type { CancelTimer, Clock } from "../../time/clock.js";
import {
  type ListenOptions,
  type SpeechListener,
  type SpeechStream,
  VendorError,
} from "../contracts.js";
import { UtteranceCutter } from "./utterance-cutter.js";

/** Waits before each try of one utterance. */
const RETRY_DELAYS_MS = [0, 250, 1_000] as const;
/** Utterances that wait for the vendor; one that is further behind than this does not keep up with the caller. */
const WAITING_MAX = 8;
/** The last words come within a moment, or not at all. */
const FINISH_TIMEOUT_MS = 5_000;
/** A stream of nothing but silence shows the vendor the newest of it, once, so that a wrong key or address comes out. */
const SILENCE_SHOWN_MS = 1_000;

interface Utterance {
  readonly audio: Uint8Array;
  readonly endMs: number;
  readonly isWhole: boolean;
}

export interface TranscriptionStreamParts {
  readonly vendor: string;
  readonly clock: Clock;
  readonly options: ListenOptions;
  readonly silenceMs: number;
  readonly listener: SpeechListener;
  readonly transcribe: (audio: Uint8Array, signal: AbortSignal) => Promise<string>;
}

/** One call's recognition by a vendor that takes recordings: one utterance after the other, in order. */
export class TranscriptionStream implements SpeechStream {
  readonly #parts: TranscriptionStreamParts;
  readonly #signal: AbortSignal;
  readonly #ending = new AbortController();
  readonly #onAbort = () => this.close();
  readonly #cutter: UtteranceCutter;
  readonly #waiting: Utterance[] = [];
  #isAsking = false;
  #hasAsked = false;
  #hasAudio = false;
  #tries = 0;
  #lostMs: number | undefined;
  #cancelTimer: CancelTimer = () => undefined;
  #cancelFinish: CancelTimer = () => undefined;
  #finished: Promise<void> | undefined;
  #resolveFinished: () => void = () => undefined;
  #isClosed = false;

  constructor(parts: TranscriptionStreamParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort);
    this.#cutter = new UtteranceCutter(parts.options.format, parts.silenceMs, {
      onStarted: () => {
        if (!this.#isClosed) parts.listener.onSpeechStarted();
      },
      onUtterance: (audio, endMs, isWhole) => this.#take({ audio, endMs, isWhole }),
    });
  }

  write(audio: Uint8Array): void {
    if (this.#isClosed || this.#finished !== undefined || audio.length === 0) return;
    this.#hasAudio = true;
    this.#cutter.write(audio);
  }

  finish(): Promise<void> {
    if (this.#finished !== undefined) return this.#finished;
    this.#finished = new Promise((resolve) => {
      this.#resolveFinished = resolve;
    });
    if (this.#isClosed) {
      this.#resolveFinished();
      return this.#finished;
    }
    this.#cancelFinish = this.#parts.clock.after(FINISH_TIMEOUT_MS, () => this.close());
    this.#cutter.end();
    if (!this.#hasAsked && this.#hasAudio) {
      this.#take({ audio: this.#cutter.newest(SILENCE_SHOWN_MS), endMs: 0, isWhole: true });
    }
    if (!this.#isAsking) this.close();
    return this.#finished;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#cancelTimer();
    this.#cancelFinish();
    this.#waiting.length = 0;
    this.#ending.abort();
    this.#resolveFinished();
  }

  #take(utterance: Utterance): void {
    if (this.#isClosed) return;
    this.#hasAsked = true;
    this.#waiting.push(utterance);
    const { vendor } = this.#parts;
    if (this.#waiting.length > WAITING_MAX) {
      this.#fail(new VendorError(vendor, "unavailable", `${vendor}: does not keep up`));
    } else if (!this.#isAsking) this.#askNext();
  }

  #askNext(): void {
    const utterance = this.#waiting[0];
    this.#isAsking = utterance !== undefined;
    if (utterance === undefined) {
      if (this.#finished !== undefined) this.close();
      return;
    }
    this.#parts.transcribe(utterance.audio, this.#ending.signal).then(
      (text) => this.#tell(utterance, text),
      (cause: unknown) => this.#retry(cause),
    );
  }

  #tell({ endMs, isWhole }: Utterance, text: string): void {
    if (this.#isClosed) return;
    const { listener, clock } = this.#parts;
    this.#tries = 0;
    if (this.#lostMs !== undefined) {
      listener.onRecovered(clock.monotonicMs() - this.#lostMs);
      this.#lostMs = undefined;
    }
    this.#waiting.shift();
    const lastWordEndMs = text === "" ? undefined : Math.round(endMs);
    listener.onTranscript({ text, isFinal: true, speechFinal: isWhole, lastWordEndMs });
    this.#askNext();
  }

  #retry(cause: unknown): void {
    if (this.#isClosed) return;
    const { vendor, listener, clock } = this.#parts;
    const error =
      cause instanceof VendorError
        ? cause
        : new VendorError(vendor, "badAnswer", `${vendor}: transcription failed`, { cause });
    const delayMs = RETRY_DELAYS_MS[this.#tries];
    if (!error.retryable || delayMs === undefined) {
      this.#fail(error);
      return;
    }
    this.#tries++;
    if (this.#lostMs === undefined) {
      this.#lostMs = clock.monotonicMs();
      listener.onLost(error);
    }
    if (!this.#isClosed) this.#cancelTimer = clock.after(delayMs, () => this.#askNext());
  }

  #fail(error: VendorError): void {
    this.close();
    this.#parts.listener.onFailed(error);
  }
}
