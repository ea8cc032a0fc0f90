/** A symbol of the tone code: the pair of one of eight low and one of eight high tones, 0 to 63. */
export type ToneSymbol = number;

export const LOW_TONES_HZ = [400, 550, 700, 850, 1000, 1150, 1300, 1450] as const;
export const HIGH_TONES_HZ = [1700, 1900, 2100, 2300, 2500, 2700, 2900, 3100] as const;

/** Stands before and after every utterance, so that two utterances without a gap stay two. */
export const MARK: ToneSymbol = 60;
/** The next letter is upper case. */
const SHIFT: ToneSymbol = 61;
/** The symbol before this one once more: equal neighbours could not be told from one long symbol. */
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

/** Two neighbours in the answer are never equal. */
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
