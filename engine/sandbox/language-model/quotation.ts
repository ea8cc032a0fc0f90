/** A quotation is for recognizing what was heard, not for reading a book back. */
const QUOTE_CHARACTERS_MAX = 200;

/** Shortened, and without the mark at its end, so that the sentence around it has one end. */
export function quoted(text: string): string {
  const plain = text.replace(/[\s.!?]+$/u, "");
  const characters = Array.from(plain);
  if (characters.length <= QUOTE_CHARACTERS_MAX) return plain;
  return characters.slice(0, QUOTE_CHARACTERS_MAX).join("");
}
