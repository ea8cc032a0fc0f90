const CHUNK = /[\p{L}\p{N}\p{M}]+(?:['’.@_-][\p{L}\p{N}\p{M}]+)*/gu;
const HAN_AND_KANA = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/gu;
const UNSPACED_ALPHABETS = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
const LATIN_ONLY = /^[^\u0250-\u{10ffff}]*$/u;

/** A Chinese or Japanese word has about two characters, a Thai one about four. */
const HAN_PER_WORD = 2;
const ALPHABETIC_PER_WORD = 4;

/** How many words a person would count; in scripts without spaces an estimate from the characters. */
export function wordCount(text: string): number {
  if (LATIN_ONLY.test(text)) return text.match(CHUNK)?.length ?? 0;
  const han = text.match(HAN_AND_KANA)?.length ?? 0;
  const alphabetic = text.match(UNSPACED_ALPHABETS)?.length ?? 0;
  const spaced = text.replace(HAN_AND_KANA, " ").replace(UNSPACED_ALPHABETS, " ");
  return (
    (spaced.match(CHUNK)?.length ?? 0) +
    Math.ceil(han / HAN_PER_WORD) +
    Math.ceil(alphabetic / ALPHABETIC_PER_WORD)
  );
}
