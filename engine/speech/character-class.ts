/** Classes of UTF-16 code units that the sentence splitter asks for on every character, so they are plain comparisons. */

/** From here on scripts are written without spaces between words (and every code unit is a good part of a syllable). */
const WIDE_FROM = 0x2e80;

/** A wide character takes about as long to say as three Latin letters. */
const WIDE_WEIGHT = 3;

/** Whether String.prototype.trim removes the character. */
export function isSpace(code: number): boolean {
  if (code < 0x80) return code === 32 || (code >= 9 && code <= 13);
  return (
    code === 0xa0 ||
    code === 0x3000 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x1680 ||
    code === 0xfeff
  );
}

/** What can end a sentence: . ! ? and the new line; … ‼ ⁇ ⁈ ⁉; what can be nothing else; the wide ones. */
export function isTerminator(code: number): boolean {
  if (code < 0x80) return code === 46 || code === 10 || code === 33 || code === 63;
  return (
    code === 0x2026 ||
    isWideTerminator(code) ||
    isPlainTerminator(code) ||
    code === 0x203c ||
    (code >= 0x2047 && code <= 0x2049)
  );
}

/** Terminals of Unicode that are something else as often: stops in numbers and abbreviations, and the marks that are told apart above. */
const NOT_PLAIN = ".!?\u2024\ufe52\uff0e\u203c\u2047\u2048\u2049\u3002\uff01\uff1f\uff61";
const TERMINAL = /\p{Sentence_Terminal}/u;
/** From here on a code unit may be one; before it there is only ASCII's punctuation. */
const PLAIN_FROM = 0x0589;
const plainTerminators = new Set<number>();
for (let code = PLAIN_FROM; code <= 0xffff; code += 1) {
  const mark = String.fromCharCode(code);
  if (TERMINAL.test(mark) && !NOT_PLAIN.includes(mark)) plainTerminators.add(code);
}

/**
 * The ends of a sentence in Arabic, Urdu, Hindi, Burmese, Khmer, Armenian, Amharic and all other scripts of the basic plane, which are
 * used for nothing else: with or without a space after them.
 */
export function isPlainTerminator(code: number): boolean {
  return code >= PLAIN_FROM && plainTerminators.has(code);
}

/** As `isPlainTerminator` of the character that ends at `index`, which may be a surrogate pair: 𑁇 (Brahmi), 𑅁 (Chakma). */
export function isPlainTerminatorAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (!isLowSurrogate(code)) return isPlainTerminator(code);
  return (
    isHighSurrogate(text.charCodeAt(index - 1)) && TERMINAL.test(text.slice(index - 1, index + 1))
  );
}

/** As `isTerminator` of the character that ends at `index`. */
export function isTerminatorAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return isLowSurrogate(code) ? isPlainTerminatorAt(text, index) : isTerminator(code);
}

/** 。 ！ ？ ｡ end a sentence without a space after them. */
export function isWideTerminator(code: number): boolean {
  return code === 0x3002 || code === 0xff01 || code === 0xff1f || code === 0xff61;
}

/** ， 、 ； ： end a clause without a space after them. */
export function isWideClauseMark(code: number): boolean {
  return code === 0xff0c || code === 0x3001 || code === 0xff1b || code === 0xff1a;
}

const CLOSERS = new Set(Array.from(`"')]}*_\`~’”»›」』）】》〉］｝`, (mark) => mark.charCodeAt(0)));

/** Quotes, brackets and emphasis marks that stay with the sentence that they close. */
export function isCloser(code: number): boolean {
  return CLOSERS.has(code);
}

const OPENERS = new Set(
  Array.from(`"'([{*_\`~‘“«‹「『（【《〈¿¡—–-`, (mark) => mark.charCodeAt(0)),
);

export function isOpener(code: number): boolean {
  return OPENERS.has(code);
}

/** ¿ ¡, wide scripts, pictographs and emoji: what may begin a sentence with no space before it. */
export function beginsUnspaced(code: number): boolean {
  return code === 0xbf || code === 0xa1 || code >= 0x2600;
}

/** Thai, Lao, Tibetan, Burmese, Khmer: words are written together, and a space is where a speaker pauses. */
export function isPausedBySpace(code: number): boolean {
  return (code >= 0x0e00 && code <= 0x109f) || (code >= 0x1780 && code <= 0x17ff);
}

/** Chinese and Japanese: words are written together, and a space is rare. Hangul is wide and has spaces. */
export function isWideLetter(code: number): boolean {
  return (code >= 0x3041 && code <= 0x9fff) || (code >= 0xf900 && code <= 0xfaff);
}

export function weightOf(code: number): number {
  return code < WIDE_FROM ? 1 : WIDE_WEIGHT;
}

export function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
