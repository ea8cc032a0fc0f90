/** The LLM receives whole passages, of a few sentences each. */
const PASSAGE_CHARACTERS_MAX = 700;
const HEADING_CHARACTERS_MAX = 120;
/** Limits the headings above a passage; the nearest ones are kept. */
const TITLES_CHARACTERS_MAX = 200;
const HEADING = /^(#{1,6})\s+(.+)$/;
const SENTENCE_END = /(?<=[.!?。！？।]["'”»)]?)\s+|(?<=[。！？])/u;

/** Splits a text at the ends of paragraphs, or else of sentences. Each passage starts with the headings above it. */
export function passagesOf(text: string): readonly string[] {
  const passages: string[] = [];
  const headings: string[] = [];
  let body = "";
  const finish = () => {
    const titles = headings
      .filter((heading) => heading !== "")
      .join(" > ")
      .slice(-TITLES_CHARACTERS_MAX);
    if (body !== "") passages.push(titles === "" ? body : `${titles}\n${body}`);
    body = "";
  };
  for (const paragraph of text.split(/\n\s*\n|\n(?=#{1,6}\s)|(?<=^#{1,6}\s.*)\n/m)) {
    const block = paragraph.trim();
    const [, marks, title] = HEADING.exec(block) ?? [];
    if (marks !== undefined && title !== undefined) {
      finish();
      headings.length = marks.length - 1;
      headings[marks.length - 1] = title.slice(0, HEADING_CHARACTERS_MAX);
      for (let at = 0; at < headings.length; at += 1) headings[at] ??= "";
      continue;
    }
    for (const piece of piecesOf(block)) {
      if (body !== "" && body.length + piece.length > PASSAGE_CHARACTERS_MAX) finish();
      body = body === "" ? piece : `${body}\n${piece}`;
    }
  }
  finish();
  return passages;
}

function piecesOf(block: string): readonly string[] {
  if (block.length <= PASSAGE_CHARACTERS_MAX) return block === "" ? [] : [block];
  const pieces: string[] = [];
  let piece = "";
  for (const sentence of block.split(SENTENCE_END).flatMap(slicesOf)) {
    if (piece !== "" && piece.length + sentence.length > PASSAGE_CHARACTERS_MAX) {
      pieces.push(piece);
      piece = "";
    }
    piece = piece === "" ? sentence : `${piece} ${sentence}`;
  }
  return piece === "" ? pieces : [...pieces, piece];
}

/** Text without sentence ends, such as a table, is split between words where possible. */
function slicesOf(sentence: string): readonly string[] {
  const slices: string[] = [];
  let rest = sentence;
  while (rest.length > PASSAGE_CHARACTERS_MAX) {
    const blank = rest.lastIndexOf(" ", PASSAGE_CHARACTERS_MAX);
    const end = blank > PASSAGE_CHARACTERS_MAX / 2 ? blank : PASSAGE_CHARACTERS_MAX;
    // Avoids splitting a surrogate pair.
    const cut = /[\ud800-\udbff]$/.test(rest.slice(0, end)) ? end - 1 : end;
    slices.push(rest.slice(0, cut).trim());
    rest = rest.slice(cut).trim();
  }
  return rest === "" ? slices : [...slices, rest];
}
