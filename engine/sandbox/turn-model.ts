import { type DecodedWord, humanWord, ToneDecoder } from "./telephone/tone-code.js";

/** The silence after which the model is as confident as it gets, for each kind of ending; see `confidenceOf`. */
const SURE_AFTER_MS = 200;
const LIKELY_AFTER_MS = 600;
const UPDATE_MS = 250;

/** Words that do not end a turn. */
const UNFINISHED =
  /(?:^|\s)(?:uhm|uh|um|and|or|but|so|the|a|an|my|is|are|to|of|for|in|at|because|äh|ähm|und|oder|aber|mein|meine|ist)$/i;

export interface TurnModelListener {
  onStart(): void;
  /** More words arrived; the turn's state has not changed. */
  onUpdate(): void;
  /** Called every 10 ms of silence in a turn. */
  onQuiet(confidence: number, quietMs: number): void;
  /** The caller speaks again, in a turn that has not ended. */
  onResumed(): void;
}

/**
 * A simulated STT with turn detection. The real model is unknown; this one is confident of an end after a full
 * stop, takes it for likely after other words and a longer silence, and waits after a comma or a word that needs
 * another.
 */
export class TurnModel {
  readonly #listener: TurnModelListener;
  readonly #decoder: ToneDecoder;
  #words: DecodedWord[] = [];
  #isQuiet = true;
  #updatedMs = 0;
  #hasNewWords = false;
  #isLoud = false;

  constructor(sampleRateHz: number, listener: TurnModelListener) {
    this.#listener = listener;
    this.#decoder = new ToneDecoder(sampleRateHz, {
      onWord: (word) => this.#hear(word),
      onLoud: (atMs) => this.#advance(atMs),
      onQuiet: (quietMs, atMs) => this.#fallSilent(quietMs, atMs),
    });
  }

  get positionMs(): number {
    return this.#decoder.positionMs;
  }

  /** The words of the open turn; empty if none is open. */
  get words(): readonly DecodedWord[] {
    return this.#words;
  }

  /** Whether the last written audio contained any sound. */
  write(pcm: Int16Array): boolean {
    this.#isLoud = false;
    this.#decoder.write(pcm);
    return this.#isLoud;
  }

  /** The open turn is over. */
  close(): void {
    this.#words = [];
    this.#hasNewWords = false;
  }

  /** No more audio follows: incomplete words are reported. */
  end(): void {
    this.#decoder.end();
  }

  #hear(word: DecodedWord): void {
    if (word.text === "") return;
    const last = this.#words.at(-1);
    if (last?.isHuman === true && word.isHuman) {
      this.#words[this.#words.length - 1] = humanWord(last.startMs, word.endMs);
    } else this.#words.push(word);
    this.#hasNewWords = true;
    if (this.#words.length === 1 && last === undefined) {
      this.#updatedMs = this.positionMs;
      this.#listener.onStart();
    }
  }

  #advance(atMs: number): void {
    this.#isLoud = true;
    if (this.#isQuiet && this.#words.length > 0) this.#listener.onResumed();
    this.#isQuiet = false;
    this.#update(atMs);
  }

  #fallSilent(quietMs: number, atMs: number): void {
    this.#isQuiet = true;
    if (this.#words.length === 0) return;
    this.#update(atMs);
    this.#listener.onQuiet(this.#confidenceOf(quietMs), quietMs);
  }

  #update(atMs: number): void {
    if (!this.#hasNewWords || this.#words.length === 0 || atMs - this.#updatedMs < UPDATE_MS)
      return;
    this.#updatedMs = atMs;
    this.#hasNewWords = false;
    this.#listener.onUpdate();
  }

  #confidenceOf(quietMs: number): number {
    const text = this.#words.map((word) => word.text).join(" ");
    if (text.endsWith(",") || text.endsWith("...") || UNFINISHED.test(text)) return 0.2;
    if (/[.?!]$/.test(text)) return quietMs >= SURE_AFTER_MS ? 0.9 : 0.3;
    if (quietMs >= LIKELY_AFTER_MS) return 0.75;
    return quietMs >= SURE_AFTER_MS ? 0.5 : 0.3;
  }
}
