import {
  HIGH_TONES_HZ,
  LOW_TONES_HZ,
  MARK,
  SymbolReader,
  type ToneSymbol,
  toSymbols,
} from "./tone-alphabet.js";
import { HOP_MS, ToneDetector } from "./tone-detector.js";

/** Long enough that two whole windows of the detector fall into every symbol, wherever they begin. */
const SYMBOL_MS = 40;
/** Slower speech than this would only be longer. */
const SYMBOL_MS_MAX = 160;
const FADE_MS = 3;
const AMPLITUDE = 0.35 * 32767;

const waves = new Map<string, readonly Int16Array[]>();

/**
 * Text as sound: one pair of tones a character, about 25 characters a second, decoded by ToneDecoder exactly. Any rate
 * from 8000 Hz. Speeds above 1 sound as 1: a shorter symbol could not be told in the detector's window.
 */
export function encodeSpeech(text: string, sampleRateHz: number, speed = 1): Int16Array {
  const wantedMs = Math.round(SYMBOL_MS / speed / HOP_MS) * HOP_MS;
  const symbolMs = Math.min(Math.max(wantedMs, SYMBOL_MS), SYMBOL_MS_MAX);
  const key = `${sampleRateHz}/${symbolMs}`;
  let table = waves.get(key);
  if (table === undefined) {
    table = Array.from({ length: 64 }, (_, symbol) => wave(symbol, sampleRateHz, symbolMs));
    waves.set(key, table);
  }
  const symbols = toSymbols(text);
  const length = table[0]?.length ?? 0;
  const pcm = new Int16Array(symbols.length * length);
  for (const [position, symbol] of symbols.entries()) {
    pcm.set(table[symbol] ?? new Int16Array(length), position * length);
  }
  return pcm;
}

/** Fades in and out in the shape of a cosine: a click would spread over all tones. */
function wave(symbol: ToneSymbol, sampleRateHz: number, symbolMs: number): Int16Array {
  const low = (2 * Math.PI * (LOW_TONES_HZ[symbol >> 3] ?? 0)) / sampleRateHz;
  const high = (2 * Math.PI * (HIGH_TONES_HZ[symbol & 7] ?? 0)) / sampleRateHz;
  const length = Math.round((sampleRateHz * symbolMs) / 1000);
  const fade = (sampleRateHz * FADE_MS) / 1000;
  return Int16Array.from({ length }, (_, n) => {
    const fromEdge = Math.min(n, length - n, fade) / fade;
    const envelope = 0.5 - 0.5 * Math.cos(Math.PI * fromEdge);
    return AMPLITUDE * envelope * (Math.sin(low * n) + Math.sin(high * n));
  });
}

/** Times count from the first sample written. */
export interface HeardWord {
  /** Empty between two spaces of an utterance. `[speech, 1.8 s]` for a voice that is not in the code. */
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly isHuman: boolean;
}

export interface ToneListener {
  onWord(word: HeardWord): void;
  /** Sound begins after a silence. */
  onSpeechStarted?(atMs: number): void;
  /** Told every 10 ms of silence: how long it has lasted, and where it ends. */
  onQuiet?(quietMs: number, atMs: number): void;
  /** Told every 10 ms of sound. */
  onLoud?(atMs: number): void;
}

/** A window may straddle two symbols and look like a third; two windows that agree do not. */
const AGREEING_WINDOWS = 2;
const SPEECH_START_HOPS = 3;
const UTTERANCE_END_HOPS = 2;
const PAUSE_HOPS = 10;
/** A shorter noise is a click, not a voice. */
const HUMAN_HOPS_MIN = 10;
/** A human voice holds nearly no clean pair of tones; of any piece of the code, however short, a larger share is one. */
const HUMAN_CLEAN_SHARE_MAX = 0.2;
/** So much sound without a symbol is not the code. */
const LOST_HOPS = 10;
/** Without a mark (audio that begins in mid-utterance) so many symbols in a row are taken for the code. */
const UNMARKED_SYMBOLS = 4;

interface PlacedSymbol {
  readonly symbol: ToneSymbol;
  readonly startMs: number;
}

/** Finds the words in a stream of PCM, however it is cut into pieces. A stretch of other sound is one human word. */
export class ToneDecoder {
  readonly #listener: ToneListener;
  readonly #detector: ToneDetector;
  readonly #reader = new SymbolReader();
  #nowMs = 0;
  #quietHops = 0;
  #loudHops = 0;
  #isSpeaking = false;

  #candidate: ToneSymbol | undefined;
  #agreeing = 0;
  #lost = 0;
  #last: ToneSymbol | undefined;

  #isCode = false;
  #unmarked: PlacedSymbol[] = [];
  /** Set while the first, cut word of an unmarked utterance is being skipped. */
  #isFragment = false;
  #isOpen = false;
  #word = "";
  #wordStartMs: number | undefined;
  #human: { startMs: number; endMs: number; hops: number; cleanHops: number } | undefined;

  /** Throws a RangeError unless the rate is a multiple of 8000. */
  constructor(sampleRateHz: number, listener: ToneListener) {
    this.#listener = listener;
    this.#detector = new ToneDetector(sampleRateHz, (symbol, isLoud) => {
      this.#nowMs += HOP_MS;
      if (isLoud) this.#hearSound(symbol);
      else this.#hearNothing();
    });
  }

  write(pcm: Int16Array): void {
    this.#detector.write(pcm);
  }

  /** Reports what is not complete yet: no more audio comes. */
  end(): void {
    this.#endUtterance(this.#nowMs);
    this.#endHuman();
  }

  get positionMs(): number {
    return this.#nowMs;
  }

  /** The human voice that is being heard and has not paused yet. */
  get ongoing(): HeardWord | undefined {
    if (this.#human === undefined) return undefined;
    const { startMs, endMs, hops, cleanHops } = this.#human;
    const isCode = cleanHops > hops * HUMAN_CLEAN_SHARE_MAX;
    return hops < HUMAN_HOPS_MIN || isCode ? undefined : humanWord(startMs, endMs);
  }

  #hearNothing(): void {
    this.#quietHops += 1;
    this.#loudHops = 0;
    this.#candidate = undefined;
    if (this.#quietHops === UTTERANCE_END_HOPS) {
      this.#endUtterance(this.#nowMs - UTTERANCE_END_HOPS * HOP_MS);
    }
    if (this.#quietHops === PAUSE_HOPS) {
      this.#endHuman();
      this.#isSpeaking = false;
    }
    this.#listener.onQuiet?.(this.#quietHops * HOP_MS, this.#nowMs);
  }

  #hearSound(symbol: ToneSymbol | undefined): void {
    this.#quietHops = 0;
    this.#loudHops += 1;
    if (!this.#isSpeaking && this.#loudHops >= SPEECH_START_HOPS) {
      this.#isSpeaking = true;
      this.#listener.onSpeechStarted?.(this.#nowMs - SPEECH_START_HOPS * HOP_MS);
    }
    this.#agreeing = symbol !== undefined && symbol === this.#candidate ? this.#agreeing + 1 : 1;
    this.#candidate = symbol;
    this.#lost = symbol === undefined ? this.#lost + 1 : 0;
    if (this.#lost === LOST_HOPS) this.#endUtterance(this.#nowMs - LOST_HOPS * HOP_MS);
    if (symbol !== undefined && this.#agreeing === AGREEING_WINDOWS && symbol !== this.#last) {
      this.#last = symbol;
      this.#accept({ symbol, startMs: this.#nowMs - (AGREEING_WINDOWS + 1) * HOP_MS });
    }
    if (!this.#isCode) this.#hearHuman(symbol !== undefined);
    this.#listener.onLoud?.(this.#nowMs);
  }

  #accept(placed: PlacedSymbol): void {
    if (placed.symbol === MARK) {
      this.#endHuman();
      this.#endUtterance(placed.startMs);
      this.#last = MARK;
      this.#isCode = true;
      return;
    }
    if (this.#isCode) {
      this.#read(placed);
      return;
    }
    this.#unmarked.push(placed);
    if (this.#unmarked.length < UNMARKED_SYMBOLS) return;
    const symbols = this.#unmarked;
    this.#unmarked = [];
    this.#human = undefined;
    this.#isCode = true;
    this.#isFragment = true;
    for (const symbol of symbols) this.#read(symbol);
  }

  #read({ symbol, startMs }: PlacedSymbol): void {
    this.#isOpen = true;
    this.#wordStartMs ??= startMs;
    const character = this.#reader.push(symbol);
    if (character === undefined) return;
    if (character === " ") this.#endWord(startMs);
    else this.#word += character;
  }

  #endWord(endMs: number): void {
    const word = {
      text: this.#word,
      startMs: this.#wordStartMs ?? endMs,
      endMs,
      isHuman: false,
    };
    this.#word = "";
    this.#wordStartMs = undefined;
    if (this.#isFragment) this.#isFragment = false;
    else this.#listener.onWord(word);
  }

  #endUtterance(endMs: number): void {
    if (this.#isOpen) this.#endWord(endMs);
    this.#isOpen = false;
    this.#isCode = false;
    this.#isFragment = false;
    this.#unmarked = [];
    this.#last = undefined;
    this.#reader.reset();
  }

  #hearHuman(isClean: boolean): void {
    this.#human ??= { startMs: this.#nowMs - HOP_MS, endMs: this.#nowMs, hops: 0, cleanHops: 0 };
    this.#human.endMs = this.#nowMs;
    this.#human.hops += 1;
    if (isClean) this.#human.cleanHops += 1;
  }

  #endHuman(): void {
    const word = this.ongoing;
    this.#human = undefined;
    if (word !== undefined) this.#listener.onWord(word);
  }
}

export function humanWord(startMs: number, endMs: number): HeardWord {
  const text = `[speech, ${((endMs - startMs) / 1000).toFixed(1)} s]`;
  return { text, startMs, endMs, isHuman: true };
}

/** All that a recording says, exactly; utterances are joined by a space. */
export function decodeSpeech(pcm: Int16Array, sampleRateHz: number): string {
  const words: string[] = [];
  const decoder = new ToneDecoder(sampleRateHz, { onWord: (word) => words.push(word.text) });
  decoder.write(pcm);
  decoder.end();
  return words.join(" ");
}
