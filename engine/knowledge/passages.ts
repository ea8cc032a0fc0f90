/** A passage is what the LLM gets at once: a few sentences. */
const PASSAGE_CHARACTERS_MAX = 700;
const HEADING_CHARACTERS_MAX = 120;
/** Headings above a passage take so much room in it at most; the nearest ones count. */
const TITLES_CHARACTERS_MAX = 200;
const HEADING = /^(#{1,6})\s+(.+)$/;
const SENTENCE_END = /(?<=[.!?。！？।]["'”»)]?)\s+|(?<=[。！？])/u;

/** Cuts a text where paragraphs, and else sentences, end. Each passage says below which headings it stands. */
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

/** A "sentence" without an end, such as a table, is cut between words where it has any. */
function slicesOf(sentence: string): readonly string[] {
  const slices: string[] = [];
  let rest = sentence;
  while (rest.length > PASSAGE_CHARACTERS_MAX) {
    const blank = rest.lastIndexOf(" ", PASSAGE_CHARACTERS_MAX);
    const end = blank > PASSAGE_CHARACTERS_MAX / 2 ? blank : PASSAGE_CHARACTERS_MAX;
    // Half a character is no text.
    const cut = /[\ud800-\udbff]$/.test(rest.slice(0, end)) ? end - 1 : end;
    slices.push(rest.slice(0, cut).trim());
    rest = rest.slice(cut).trim();
  }
  return rest === "" ? slices : [...slices, rest];
}
