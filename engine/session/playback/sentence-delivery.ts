import type { TimedWord } from "../../speech/word-marks.js";
import type { CancelTimer, Clock } from "../../time/clock.js";
import type { CallerChannel, SentenceId } from "./caller-channel.js";
import type { PlayoutDelay } from "./playout-delay.js";

const NO_AUDIO = new Uint8Array(0);
/** Words that wait to be told; a sentence of two minutes has fewer. */
export const TIMED_WORDS_MAX = 500;

/** What is told of a sentence while its audio comes; times are on the monotonic clock. */
export interface SentenceSound {
  readonly type: "sentenceGrew" | "sentenceWhole";
  /** The length of all audio that has come. */
  readonly durationMs: number;
  readonly firstByteAtMs: number;
  /** Words that the sentence's voice has timed since the sound before. */
  readonly words: readonly TimedWord[];
}

export interface DeliveryOptions {
  readonly id: SentenceId;
  readonly caller: CallerChannel;
  /** Undefined where only whole sentences are sent: then no growth is told. */
  readonly playoutDelay: PlayoutDelay | undefined;
  readonly expectedMs: number;
  readonly clock: Clock;
  readonly report: (sound: SentenceSound) => void;
}

/** One sentence on its way from the voice to the caller: it waits until it may be played, and then passes as it comes. */
export class SentenceDelivery {
  readonly #options: DeliveryOptions;
  #waiting: Uint8Array[] = [];
  #words: TimedWord[] = [];
  #durationMs = 0;
  #firstByteAtMs: number | undefined;
  #newestByteAtMs: number | undefined;
  #firstAudioAtMs: number | undefined;
  #leastLeftMs = Number.POSITIVE_INFINITY;
  #cancelDelay: CancelTimer | undefined;
  #mayBegin = false;
  #isPlaying = false;
  #isOver = false;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  get isPlaying(): boolean {
    return this.#isPlaying;
  }

  /** When TTS gave the newest bytes, on the monotonic clock. */
  get newestByteAtMs(): number | undefined {
    return this.#newestByteAtMs;
  }

  /** TTS has given bytes, perhaps with nothing that can be heard yet. */
  firstByte(): void {
    this.#newestByteAtMs = this.#options.clock.monotonicMs();
    this.#firstByteAtMs ??= this.#newestByteAtMs;
  }

  /** The next audio of the sentence; the bytes are not changed afterwards. */
  add(audio: Uint8Array, durationMs: number): void {
    if (this.#isOver || audio.byteLength === 0) return;
    this.firstByte();
    this.#measure();
    this.#durationMs += durationMs;
    const { id, caller, playoutDelay } = this.#options;
    if (this.#isPlaying) caller.sendAudio(audio, id, false);
    else this.#waiting.push(audio);
    if (playoutDelay === undefined) return;
    if (this.#mayBegin) this.#tell("sentenceGrew");
    else this.#cancelDelay ??= this.#delayBegin(playoutDelay);
  }

  /** Where words end in the audio of the sentence; more than any sentence has are left out. */
  timed(words: readonly TimedWord[]): void {
    if (!this.#isOver) this.#words.push(...words.slice(0, TIMED_WORDS_MAX - this.#words.length));
  }

  /** No more audio comes. */
  finish(): void {
    if (this.#isOver) return;
    const { id, caller, playoutDelay, clock } = this.#options;
    this.#end();
    const nowMs = clock.monotonicMs();
    playoutDelay?.observe({
      durationMs: this.#durationMs,
      elapsedMs: nowMs - (this.#firstAudioAtMs ?? nowMs),
      leastLeftMs: this.#leastLeftMs,
    });
    if (this.#isPlaying) caller.sendAudio(NO_AUDIO, id, true);
    this.#tell("sentenceWhole");
  }

  /** What has come goes to the caller, and from now on what comes. Throws the second time. */
  play(): void {
    const { id, caller } = this.#options;
    if (this.#isPlaying)
      throw new Error(`sentence ${id.index} has no audio that is not played yet`);
    this.#isPlaying = true;
    const waiting = this.#waiting.splice(0);
    for (const [index, audio] of waiting.entries()) {
      caller.sendAudio(audio, id, this.#isOver && index === waiting.length - 1);
    }
  }

  /** The sentence ends for the caller with what has been sent of it. */
  cut(): void {
    if (this.#isOver) return;
    this.#end();
    this.#options.caller.sendAudio(NO_AUDIO, this.#options.id, true);
  }

  /** Nobody waits for it any more. */
  drop(): void {
    this.#end();
    this.#waiting = [];
  }

  #end(): void {
    this.#isOver = true;
    this.#cancelDelay?.();
  }

  /** What would be left to play now that more comes, had the sentence begun with its first audio. */
  #measure(): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#firstAudioAtMs ??= nowMs;
    if (this.#durationMs === 0) return;
    const leftMs = this.#durationMs - (nowMs - this.#firstAudioAtMs);
    this.#leastLeftMs = Math.min(this.#leastLeftMs, leftMs);
  }

  #delayBegin(playoutDelay: PlayoutDelay): CancelTimer | undefined {
    const { clock, expectedMs } = this.#options;
    const delayMs = playoutDelay.of(expectedMs);
    const begin = () => {
      this.#mayBegin = true;
      this.#tell("sentenceGrew");
    };
    if (delayMs >= 1) return clock.after(delayMs, begin);
    begin();
    return undefined;
  }

  #tell(type: SentenceSound["type"]): void {
    const firstByteAtMs = this.#firstByteAtMs ?? this.#options.clock.monotonicMs();
    const words = this.#words;
    this.#words = [];
    this.#options.report({ type, durationMs: this.#durationMs, firstByteAtMs, words });
  }
}
