/** Scripts without spaces are cut between characters, everything else between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** The whole words among the first `chars` characters of `text`, which may be a fraction of one. */
export function wholeWords(text: string, chars: number): string {
  if (chars >= text.length) return text;
  return text.slice(0, lastBorder(text, Math.floor(chars))).trimEnd();
}

/** The latest index, at most `end`, at which nothing is torn apart. */
function lastBorder(text: string, end: number): number {
  for (let index = end; index > 0; index -= 1) {
    if (isBorder(text, index)) return index;
  }
  return 0;
}

function isBorder(text: string, index: number): boolean {
  const before = text.charAt(index - 1);
  const after = text.charAt(index);
  if (/\s/.test(before) || /\s/.test(after)) return true;
  if (!UNSPACED.test(before) && !UNSPACED.test(after)) return false;
  return graphemes.segment(text).containing(index)?.index === index;
}
