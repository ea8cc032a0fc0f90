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

/** The ends of a sentence in Arabic, Urdu, Hindi, Burmese, Khmer, Armenian and Amharic, which are used for nothing else. */
export function isPlainTerminator(code: number): boolean {
  return (
    code === 0x061f ||
    code === 0x06d4 ||
    code === 0x0964 ||
    code === 0x104b ||
    code === 0x17d4 ||
    code === 0x0589 ||
    code === 0x1362
  );
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

export function weightOf(code: number): number {
  return code < WIDE_FROM ? 1 : WIDE_WEIGHT;
}

export function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
