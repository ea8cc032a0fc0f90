/** Terms of one passage. */
export const TERMS_MAX = 1_000;
/** Terms of one question, some twelve words: the search time grows with them. Only the end of a longer one is used. */
export const QUESTION_TERMS_MAX = 64;
/** Shorter words do not help a search. */
const WORD_CHARACTERS_MIN = 2;
/** Word parts of this length let a search find compounds by their parts and words by their other forms. */
const GRAM_CHARACTERS = 4;
const HASH_CHARACTERS = 8;

const UNSPACED = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}ー]`;
const RUNS = new RegExp(String.raw`(${UNSPACED}+)|((?:(?!${UNSPACED})[\p{L}\p{M}\p{N}])+)`, "gu");
const LATIN_ACCENTS = /[\u0300-\u036f]/g;

/**
 * Returns the distinct terms of a text for an organization's index: words, their parts of four characters, and pairs of
 * characters for languages without spaces. The hashes include the organization, so that terms of different
 * organizations never match.
 */
export function searchTerms(orgId: string, text: string): readonly string[] {
  const seed = hash(orgId, 0);
  const hashed = new Set<string>();
  for (const term of plainTerms(text)) {
    if (hashed.size >= TERMS_MAX) break;
    hashed.add(
      hash(term, seed).toString(36).padStart(HASH_CHARACTERS, "0").slice(-HASH_CHARACTERS),
    );
  }
  return [...hashed];
}

/** Returns the terms for searching a question. */
export function questionTerms(orgId: string, question: string): readonly string[] {
  return searchTerms(orgId, question).slice(-QUESTION_TERMS_MAX);
}

/** The terms before they are hashed. */
export function* plainTerms(text: string): Generator<string> {
  for (const [, unspaced, word] of folded(text).matchAll(RUNS)) {
    if (unspaced !== undefined) yield* pairsOf(Array.from(unspaced));
    else if (word !== undefined) yield* termsOfWord(Array.from(word));
  }
}

function* pairsOf(characters: readonly string[]): Generator<string> {
  if (characters.length === 1) yield characters.join("");
  for (let at = 0; at + 1 < characters.length; at += 1) yield characters.slice(at, at + 2).join("");
}

function* termsOfWord(characters: readonly string[]): Generator<string> {
  if (characters.length < WORD_CHARACTERS_MIN && !/\p{N}/u.test(characters.join(""))) return;
  yield ` ${characters.join("")} `;
  const bounded = [" ", ...characters];
  for (let at = 0; at + GRAM_CHARACTERS <= bounded.length; at += 1) {
    yield bounded.slice(at, at + GRAM_CHARACTERS).join("");
  }
}

/** Removes case and the accents of Latin letters; marks in other scripts are part of the word. */
function folded(text: string): string {
  return text
    .normalize("NFKD")
    .replace(LATIN_ACCENTS, "")
    .normalize("NFC")
    .toLowerCase()
    .replaceAll("ß", "ss");
}

/** A 53-bit hash for tables; it is not cryptographic. */
function hash(text: string, seed: number): number {
  let high = 0xdeadbeef ^ seed;
  let low = 0x41c6ce57 ^ seed;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 0x9e3779b1);
    low = Math.imul(low ^ code, 0x5f356495);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return (low >>> 0) * 2 ** 21 + (high >>> 11);
}
