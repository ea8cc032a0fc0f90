/**
 * What can be spoken of a piece of a reply: no markdown, bullets, tags or emoji, links as their text, bare addresses as
 * their host; '' when no letter or digit is left. Long texts are taken in pieces, so the time is linear in the text.
 */
export function speakable(text: string): string {
  const plain = MARKUP.test(text) ? piecesOf(text).map(withoutMarkup).join(" ") : text;
  const words = plain.replace(/\s+/g, " ").trim();
  return SPOKEN.test(words) ? words : "";
}

const SPOKEN = /[\p{L}\p{N}]/u;

/** A text without any of these is spoken as it is. */
const MARKUP =
  /[\n*_#`~[\]<>|\\&•–+-]|:\/\/|www\.|\p{Extended_Pictographic}|\p{Regional_Indicator}/u;

/** A sentence with a link is shorter; the time for a piece of nothing but marks grows with its square. */
const PIECE_CHARACTERS_MAX = 2_000;

type Rule = readonly [pattern: RegExp, replacement: string];

/** In this order: a later rule counts on what the earlier ones have removed. */
const RULES: readonly Rule[] = [
  // Lines that are only layout: fences with their language, rules, table borders.
  [/^[ \t]*(?:```|~~~)[^\n`]{0,40}$/gm, ""],
  [/^[ \t]*(?:[-*_=][ \t]*){3,200}$/gm, ""],
  [/^[ \t|:-]*\|[ \t|:-]*$/gm, ""],
  // Marks at the start of a line: headings, quotations, bullets, check boxes.
  [/^[ \t]*(?:>[ \t]?){1,5}/gm, ""],
  [/^[ \t]*#{1,6}[ \t]+/gm, ""],
  [/^[ \t]*[-*+•–][ \t]+(?:\[[ xX]\][ \t]+)?/gm, ""],
  // Images and links, whole ones and what a cut left of them; notes; bare addresses.
  [/!?\[([^[\]\n]{0,300})\]\([^()\s]{0,1000}(?:[ \t]"[^"\n]{0,200}")?\)/g, "$1"],
  [/\]\([^()\s]{0,1000}\)?/g, ""],
  [/\[\^?\d{1,3}\]/g, ""],
  [/<(?=https?:|mailto:)([^<>\s]{1,1000})>/gi, "$1"],
  [/mailto:/gi, ""],
  [
    /\b(?:https?|ftp|wss?):\/\/(?:www\.)?([\w.-]{1,253})(?::\d{1,5})?(?:\/(?:[^\s<>]{0,1000}[\w/])?)?/gi,
    "$1",
  ],
  // Tags and entities.
  [/<\/?[a-z][^<>]{0,200}>/gi, " "],
  [/&nbsp;/gi, " "],
  [/&amp;/gi, "&"],
  [/&lt;/gi, "<"],
  [/&gt;/gi, ">"],
  [/&(?:quot|#34);/gi, '"'],
  [/&(?:apos|#39);/gi, "'"],
  // A backslash only protects the mark after it; a table's bars part its cells.
  [/\\([\\`*_{}[\]()#+.!|>~-])/g, "$1"],
  [/[ \t]*\|[ \t]*/g, ", "],
  [/(?<=\d)[ \t]*\*[ \t]*(?=\d)/g, " × "],
  [/[*`]|~~/g, ""],
  // Underscores around words are emphasis; inside they belong to a name or an address.
  [/(?<![\p{L}\p{N}])_{1,3}(?=[\p{L}\p{N}])|(?<=[\p{L}\p{N}.,!?])_{1,3}(?![\p{L}\p{N}_])/gu, ""],
  [/(?<!\p{L})#+/gu, ""],
  [/[[\]]/g, ""],
  // Emoji with what joins and colours them.
  [
    /\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Emoji_Modifier}|\u{200D}|\u{FE0F}|\u{20E3}/gu,
    "",
  ],
  // A line that does not end with a mark is a list's item or a title: a pause belongs after it.
  [/(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[ \t]*\n\s*/gu, "，"],
  [/(?<=[\p{L}\p{N})%"'”])[ \t]*\n\s*(?=[\p{L}\p{N}])/gu, ", "],
  // What the rules above may have left: empty cells, marks with spaces before them.
  [/^[\s,]+|[\s,，]+$/g, ""],
  [/(?:,\s*){2,}/g, ", "],
];

/** Runs of blanks are one blank; what is longer than any sentence is cut, at a blank where there is one. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let rest = text.replace(/[ \t]{2,}/g, " ");
  while (rest.length > PIECE_CHARACTERS_MAX) {
    const blank = rest.lastIndexOf(" ", PIECE_CHARACTERS_MAX);
    const end = blank > 0 ? blank : PIECE_CHARACTERS_MAX;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...pieces, rest];
}

function withoutMarkup(text: string): string {
  let plain = text;
  for (const [pattern, replacement] of RULES) plain = plain.replace(pattern, replacement);
  return plain;
}
