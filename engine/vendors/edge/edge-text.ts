/** What the service takes in one request, after escaping. */
const SSML_TEXT_MAX_BYTES = 4_096;

/** Text with nothing to say in it makes the service answer without audio. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** Cuts text into pieces that have at most `maxBytes` of UTF-8 once escaped, between words where it can, never inside a character. */
export function textPieces(text: string, maxBytes: number = SSML_TEXT_MAX_BYTES): string[] {
  // Half a surrogate pair becomes U+FFFD, and control characters, which XML forbids, become spaces.
  const clean = Buffer.from(text).toString().replaceAll(FORBIDDEN_IN_XML, " ");
  const pieces: string[] = [];
  let piece = "";
  let pieceBytes = 0;
  for (const word of wordsOf(clean)) {
    const wordBytes = escapedBytes(word);
    if (pieceBytes + wordBytes <= maxBytes) {
      piece += word;
      pieceBytes += wordBytes;
      continue;
    }
    if (piece !== "") pieces.push(piece);
    const parts = charactersUpTo(word, maxBytes);
    piece = parts.pop() ?? "";
    pieceBytes = escapedBytes(piece);
    pieces.push(...parts);
  }
  if (piece !== "") pieces.push(piece);
  return pieces.filter(isSpeakable);
}

export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Controls other than tab and line ends, and the two that are no characters. */
const FORBIDDEN_IN_XML = /[^\P{Cc}\t\n\r]|[\uFFFE\uFFFF]/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Each word with the white space behind it. */
function wordsOf(text: string): string[] {
  return text.match(/\S*\s+|\S+/g) ?? [];
}

function escapedBytes(text: string): number {
  return Buffer.byteLength(escapeXml(text));
}

function charactersUpTo(word: string, maxBytes: number): string[] {
  const parts: string[] = [];
  let part = "";
  let partBytes = 0;
  for (const character of word) {
    const bytes = escapedBytes(character);
    if (partBytes + bytes > maxBytes) {
      parts.push(part);
      part = "";
      partBytes = 0;
    }
    part += character;
    partBytes += bytes;
  }
  parts.push(part);
  return parts;
}
