/** One line of a CSV text; a quoted field may go on over several. */
export interface CsvRecord {
  /** Where it begins, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

export class UnclosedQuoteError extends Error {
  override readonly name = "UnclosedQuoteError";
  /** Where the record with the quote begins. */
  readonly line: number;

  constructor(line: number) {
    super(`the quote of line ${line} is not closed`);
    this.line = line;
  }
}

const BYTE_ORDER_MARK = "\uFEFF";
const DELIMITERS = [",", ";", "\t"] as const;

/** The delimiter that occurs most in the first line: spreadsheets of many countries write semicolons. */
function delimiterOf(text: string): string {
  const [head = ""] = text.split(/[\r\n]/, 1);
  const countOf = (delimiter: string) => head.split(delimiter).length;
  return [...DELIMITERS].sort((one, other) => countOf(other) - countOf(one))[0] ?? ",";
}

/**
 * The records of a CSV text (RFC 4180), one at a time, so that a reader can leave the event loop to calls in between. Empty lines
 * are left out. Throws an UnclosedQuoteError.
 */
export function* csvRecords(given: string): Generator<CsvRecord> {
  const text = given.startsWith(BYTE_ORDER_MARK) ? given.slice(1) : given;
  const delimiter = delimiterOf(text);
  const fieldEnd = new RegExp(`[${delimiter}\r\n]|$`, "g");
  let at = 0;
  let line = 1;
  while (at < text.length) {
    const first = line;
    const fields: string[] = [];
    for (;;) {
      let field = "";
      if (text[at] === '"') {
        const quoted = quotedField(text, at, first);
        field = quoted.value;
        at = quoted.end;
        line += field.split("\n").length - 1;
      }
      fieldEnd.lastIndex = at;
      const end = fieldEnd.exec(text)?.index ?? text.length;
      fields.push(field + text.slice(at, end));
      at = end + 1;
      if (text[end] !== delimiter) break;
    }
    if (text[at - 1] === "\r" && text[at] === "\n") at += 1;
    line += 1;
    if (fields.some((field) => field.trim() !== "")) yield { line: first, fields };
  }
}

function quotedField(text: string, from: number, line: number) {
  let value = "";
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) throw new UnclosedQuoteError(line);
    value += text.slice(at, quote);
    at = quote + 1;
    if (text[at] !== '"') return { value, end: at };
    value += '"';
    at += 1;
  }
}
