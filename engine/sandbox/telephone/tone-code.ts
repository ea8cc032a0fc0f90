/** A symbol of the tone code: the pair of one of eight low and one of eight high tones, 0 to 63. */
export type ToneSymbol = number;

export const LOW_TONES_HZ = [400, 550, 700, 850, 1000, 1150, 1300, 1450] as const;
export const HIGH_TONES_HZ = [1700, 1900, 2100, 2300, 2500, 2700, 2900, 3100] as const;

/** Surrounds every utterance, so that two utterances without a gap stay two. */
export const MARK: ToneSymbol = 60;
/** The next letter is upper case. */
const SHIFT: ToneSymbol = 61;
/** Repeats the previous symbol: two equal neighbours would look like one long symbol. */
const REPEAT: ToneSymbol = 62;
/** Opens and closes the hexadecimal number of any character that has no symbol of its own. */
const ESCAPE: ToneSymbol = 63;

const CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789 .,?!'-:;\"()/@%$&+=#*_\n";
const SYMBOL_OF: ReadonlyMap<string, ToneSymbol> = new Map(
  Array.from(CHARACTERS, (character, symbol) => [character, symbol]),
);
const REPLACEMENT = "\uFFFD";
/** 10FFFF, the last code point, has six digits. */
const HEX_DIGITS_MAX = 6;

/** Two neighbours in the result are never equal. */
export function toSymbols(text: string): ToneSymbol[] {
  if (text === "") return [];
  const symbols: ToneSymbol[] = [MARK];
  const push = (symbol: ToneSymbol): void => {
    symbols.push(symbols.at(-1) === symbol ? REPEAT : symbol);
  };
  for (const character of text) for (const symbol of symbolsOf(character)) push(symbol);
  push(MARK);
  return symbols;
}

function symbolsOf(character: string): ToneSymbol[] {
  const own = SYMBOL_OF.get(character);
  if (own !== undefined) return [own];
  if (character >= "A" && character <= "Z" && character.length === 1) {
    return [SHIFT, ...symbolsOf(character.toLowerCase())];
  }
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return [ESCAPE, ...Array.from(hex, (digit) => SYMBOL_OF.get(digit) ?? 0), ESCAPE];
}

/** Turns symbols back into characters, one symbol at a time. */
export class SymbolReader {
  #last: ToneSymbol = MARK;
  #isShifted = false;
  #hex: string | undefined;

  reset(): void {
    this.#last = MARK;
    this.#isShifted = false;
    this.#hex = undefined;
  }

  /** The character that this symbol completes, if it completes one. */
  push(received: ToneSymbol): string | undefined {
    const symbol = received === REPEAT ? this.#last : received;
    this.#last = symbol;
    if (symbol === ESCAPE) return this.#escape();
    if (symbol === SHIFT) {
      this.#isShifted = true;
      return undefined;
    }
    const character = CHARACTERS[symbol];
    if (character === undefined) return undefined;
    if (this.#hex !== undefined) return this.#digit(this.#hex + character);
    const shifted = this.#isShifted ? character.toUpperCase() : character;
    this.#isShifted = false;
    return shifted;
  }

  #escape(): string | undefined {
    const hex = this.#hex;
    this.#hex = hex === undefined ? "" : undefined;
    if (hex === undefined) return undefined;
    const codePoint = Number(`0x${hex}`);
    const isCodePoint = hex !== "" && codePoint <= 0x10ffff;
    return isCodePoint ? String.fromCodePoint(codePoint) : REPLACEMENT;
  }

  #digit(hex: string): string | undefined {
    const isHex = hex.length <= HEX_DIGITS_MAX && /^[0-9a-f]+$/.test(hex);
    this.#hex = isHex ? hex : undefined;
    return isHex ? undefined : REPLACEMENT;
  }
}

/** The content of the last 20 ms, reported every 10 ms. `symbol` is undefined if there was no clean pair of tones. */
export type HopListener = (symbol: ToneSymbol | undefined, isLoud: boolean) => void;

export const HOP_MS = 10;
const ANALYSIS_RATE_HZ = 8000;
const HOP_SAMPLES = (ANALYSIS_RATE_HZ * HOP_MS) / 1000;
/** Every tone is a multiple of 50 Hz, so that its sine and cosine repeat after 20 ms: one short table is enough. */
const PERIOD_SAMPLES = 2 * HOP_SAMPLES;
const TONES_HZ = [...LOW_TONES_HZ, ...HIGH_TONES_HZ];
const GROUP = LOW_TONES_HZ.length;

/** -50 dBFS: anything below is silence, and costs nothing more. */
const GATE_ENERGY = (32768 * 10 ** (-50 / 20)) ** 2;
/** A voice is 9.5 dB above the background; this is a ratio of energies. */
const VOICE_OVER_FLOOR = 9;
/** Where the code is readable, the background is at least 17 dB below it. */
const CODE_OVER_FLOOR = 50;
/** The estimate of the background rises by 3 dB a second, and falls immediately. */
const FLOOR_RISE = 10 ** (0.3 / (1000 / HOP_MS));
/** The share of the window's energy in the two tones; two pure tones have all of it. */
const PURITY_MIN = 0.6;
/** The strongest tone of a group over the second: 6 dB, as a ratio of energies. */
const LEAD_MIN = 4;
/** Between the tones of a pair: 12 dB in either direction, for filters in the network that favour one end. */
const TWIST_MAX = 16;

const cosines = new Float32Array(TONES_HZ.length * PERIOD_SAMPLES);
const sines = new Float32Array(TONES_HZ.length * PERIOD_SAMPLES);
for (const [tone, hz] of TONES_HZ.entries()) {
  for (let n = 0; n < PERIOD_SAMPLES; n += 1) {
    const angle = (2 * Math.PI * hz * n) / ANALYSIS_RATE_HZ;
    cosines[tone * PERIOD_SAMPLES + n] = Math.cos(angle);
    sines[tone * PERIOD_SAMPLES + n] = Math.sin(angle);
  }
}

interface Hop {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;
  energySum: number;
}

function emptyHop(): Hop {
  return {
    real: new Float64Array(TONES_HZ.length),
    imaginary: new Float64Array(TONES_HZ.length),
    energySum: 0,
  };
}

/** Detects pairs of tones in PCM of 8, 16, 24 or 48 kHz, in windows of 20 ms that overlap by half. */
export class ToneDetector {
  readonly #listener: HopListener;
  readonly #factor: number;
  readonly #samples = new Float32Array(HOP_SAMPLES);
  readonly #powers = new Float64Array(TONES_HZ.length);
  #filled = 0;
  #sum = 0;
  #summed = 0;
  /** The hop's start in the 20 ms tables. */
  #phase = 0;
  #current = emptyHop();
  #previous = emptyHop();
  #floor: number | undefined;

  constructor(sampleRateHz: number, listener: HopListener) {
    const factor = sampleRateHz / ANALYSIS_RATE_HZ;
    if (!Number.isInteger(factor) || factor < 1) {
      throw new RangeError(`the tone decoder takes multiples of 8000 Hz, not ${sampleRateHz}`);
    }
    this.#factor = factor;
    this.#listener = listener;
  }

  write(pcm: Int16Array): void {
    const factor = this.#factor;
    const samples = this.#samples;
    let filled = this.#filled;
    let sum = this.#sum;
    let summed = this.#summed;
    for (let n = 0; n < pcm.length; n += 1) {
      sum += pcm[n] ?? 0;
      summed += 1;
      if (summed < factor) continue;
      samples[filled] = sum / factor;
      filled += 1;
      sum = 0;
      summed = 0;
      if (filled < HOP_SAMPLES) continue;
      filled = 0;
      this.#finishHop();
    }
    this.#filled = filled;
    this.#sum = sum;
    this.#summed = summed;
  }

  #finishHop(): void {
    [this.#current, this.#previous] = [this.#previous, this.#current];
    const current = this.#current;
    current.energySum = energyOf(this.#samples);
    const energy = current.energySum / HOP_SAMPLES;
    const floor = this.#trackFloor(energy);
    if (energy < GATE_ENERGY) {
      current.real.fill(0);
      current.imaginary.fill(0);
      this.#phase = HOP_SAMPLES - this.#phase;
      this.#listener(undefined, false);
      return;
    }
    transform(this.#samples, this.#phase, current);
    this.#phase = HOP_SAMPLES - this.#phase;
    const symbol = this.#pair();
    if (symbol !== undefined) this.#floor = Math.min(floor, energy / CODE_OVER_FLOOR);
    this.#listener(symbol, symbol !== undefined || energy > floor * VOICE_OVER_FLOOR);
  }

  #trackFloor(energy: number): number {
    const floor = Math.min(energy, (this.#floor ?? energy) * FLOOR_RISE);
    this.#floor = Math.max(floor, GATE_ENERGY / VOICE_OVER_FLOOR);
    return this.#floor;
  }

  #pair(): ToneSymbol | undefined {
    const { real, imaginary } = this.#current;
    const before = this.#previous;
    for (let tone = 0; tone < TONES_HZ.length; tone += 1) {
      const x = (real[tone] ?? 0) + (before.real[tone] ?? 0);
      const y = (imaginary[tone] ?? 0) + (before.imaginary[tone] ?? 0);
      this.#powers[tone] = x * x + y * y;
    }
    const low = this.#leader(0);
    const high = this.#leader(GROUP);
    if (low === undefined || high === undefined) return undefined;
    const lowPower = this.#powers[low] ?? 0;
    const highPower = this.#powers[high] ?? 0;
    if (lowPower > highPower * TWIST_MAX || highPower > lowPower * TWIST_MAX) return undefined;
    const energySum = this.#current.energySum + before.energySum;
    const purity = (2 * (lowPower + highPower)) / (PERIOD_SAMPLES * energySum);
    return purity < PURITY_MIN ? undefined : low * GROUP + (high - GROUP);
  }

  /** The tone of the group that is clearly above the other seven. */
  #leader(from: number): number | undefined {
    let best = from;
    let bestPower = 0;
    let secondPower = 0;
    for (let tone = from; tone < from + GROUP; tone += 1) {
      const power = this.#powers[tone] ?? 0;
      if (power > bestPower) {
        secondPower = bestPower;
        bestPower = power;
        best = tone;
      } else if (power > secondPower) secondPower = power;
    }
    return bestPower > secondPower * LEAD_MIN ? best : undefined;
  }
}

function energyOf(samples: Float32Array): number {
  let sum = 0;
  for (let n = 0; n < samples.length; n += 1) sum += (samples[n] ?? 0) ** 2;
  return sum;
}

/** The sums of the samples against every tone, with the tone's phase since the start of the stream. */
function transform(samples: Float32Array, phase: number, hop: Hop): void {
  for (let tone = 0; tone < TONES_HZ.length; tone += 1) {
    const offset = tone * PERIOD_SAMPLES + phase;
    let real = 0;
    let imaginary = 0;
    for (let n = 0; n < HOP_SAMPLES; n += 1) {
      const sample = samples[n] ?? 0;
      real += sample * (cosines[offset + n] ?? 0);
      imaginary += sample * (sines[offset + n] ?? 0);
    }
    hop.real[tone] = real;
    hop.imaginary[tone] = imaginary;
  }
}

/** Long enough that two whole windows of the detector fall into every symbol, wherever they begin. */
const SYMBOL_MS = 40;
/** Slower speech than this would only be longer. */
const SYMBOL_MS_MAX = 160;
const FADE_MS = 3;
const AMPLITUDE = 0.35 * 32767;

const waves = new Map<string, readonly Int16Array[]>();

/**
 * Text as sound: one pair of tones per character, about 25 characters a second, decoded by ToneDecoder exactly.
 * Any rate from 8000 Hz. Speeds above 1 have no effect: a shorter symbol could not be detected in the detector's
 * window.
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
export interface DecodedWord {
  /** Empty between two spaces of an utterance. `[speech, 1.8 s]` for a voice that is not in the code. */
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly isHuman: boolean;
}

export interface ToneListener {
  onWord(word: DecodedWord): void;
  /** Sound begins after a silence. */
  onSpeechStarted?(atMs: number): void;
  /** Called every 10 ms of silence: how long it has lasted, and where it ends. */
  onQuiet?(quietMs: number, atMs: number): void;
  /** Called every 10 ms of sound. */
  onLoud?(atMs: number): void;
}

/** A window may straddle two symbols and look like a third; two windows that agree do not. */
const AGREEING_WINDOWS = 2;
const SPEECH_START_HOPS = 3;
const UTTERANCE_END_HOPS = 2;
const PAUSE_HOPS = 10;
/** A shorter noise is a click, not a voice. */
const HUMAN_HOPS_MIN = 10;
/**
 * A human voice contains nearly no clean pair of tones; any piece of the code, however short, contains a larger
 * share.
 */
const HUMAN_CLEAN_SHARE_MAX = 0.2;
/** This much sound without a symbol is not the code. */
const LOST_HOPS = 10;
/** Without a mark (audio that begins in mid-utterance) this many symbols in a row count as the code. */
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
  #lostSamples = 0;
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

  /** Reports incomplete words: no more audio follows. */
  end(): void {
    this.#endUtterance(this.#nowMs);
    this.#endHuman();
  }

  get positionMs(): number {
    return this.#nowMs;
  }

  /** The current human voice, which has not paused yet. */
  get ongoing(): DecodedWord | undefined {
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
    this.#lostSamples = symbol === undefined ? this.#lostSamples + 1 : 0;
    if (this.#lostSamples === LOST_HOPS) this.#endUtterance(this.#nowMs - LOST_HOPS * HOP_MS);
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

export function humanWord(startMs: number, endMs: number): DecodedWord {
  const text = `[speech, ${((endMs - startMs) / 1000).toFixed(1)} s]`;
  return { text, startMs, endMs, isHuman: true };
}

/** Whether the decoded text contains a voice that is not in the code. */
export function hasUncodedSpeech(decoded: string): boolean {
  return /\[speech, [\d.]+ s\]/.test(decoded);
}

/** The exact text of a recording; utterances are joined by a space. */
export function decodeSpeech(pcm: Int16Array, sampleRateHz: number): string {
  const words: string[] = [];
  const decoder = new ToneDecoder(sampleRateHz, { onWord: (word) => words.push(word.text) });
  decoder.write(pcm);
  decoder.end();
  return words.join(" ");
}
