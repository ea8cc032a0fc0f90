import { Parser } from "htmlparser2";
import { extractText, getDocumentProxy } from "unpdf";

export const DOCUMENT_FORMATS = ["md", "txt", "html", "pdf"] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

export const DOCUMENT_CHARACTERS_MAX = 1_000_000;
/** The whole text of a document up to this length is kept, and may stand in the prompt. */
export const SMALL_DOCUMENT_CHARACTERS_MAX = 4_000;
export const PDF_PAGES_MAX = 1_000;
/** A scanned page has fewer characters: at most a stamp of the scanner. */
const CHARACTERS_PER_PAGE_MIN = 10;

const PDF_START = "%PDF-";
/** The signature of a PDF may follow a few other bytes. */
const PDF_START_MAX_BYTES = 1_024;

/** A document that cannot be used. `reason` continues a sentence that starts with the document's name. */
export class UnreadableDocument {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/**
 * Returns the text of a document, or why it has none. A malformed document may take very long, so this runs in a thread
 * that can be terminated.
 */
export async function documentText(
  format: DocumentFormat,
  bytes: Uint8Array,
): Promise<string | UnreadableDocument> {
  const isPdf = Buffer.from(
    bytes.buffer,
    bytes.byteOffset,
    Math.min(bytes.length, PDF_START_MAX_BYTES),
  )
    .toString("latin1")
    .includes(PDF_START);
  if (format === "pdf") {
    return isPdf
      ? await pdfText(bytes)
      : new UnreadableDocument("is not a PDF, although its name or type says so");
  }
  if (isPdf)
    return new UnreadableDocument(`is a PDF and not ${format}: give it a name that ends in .pdf`);
  const text = decoded(bytes);
  if (text === undefined) return new UnreadableDocument("is not text in UTF-8");
  const words = format === "html" ? htmlText(text) : text;
  return typeof words === "string" ? checked(words) : words;
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

function checked(text: string): string | UnreadableDocument {
  const clean = text
    .replaceAll("\r\n", "\n")
    .replace(/[^\P{Cc}\t\n]/gu, " ")
    .replace(/\p{Cs}/gu, "\ufffd")
    .trim();
  if (clean === "") return new UnreadableDocument("has no text");
  if (clean.length <= DOCUMENT_CHARACTERS_MAX) return clean;
  const most = DOCUMENT_CHARACTERS_MAX.toLocaleString("en-US");
  return new UnreadableDocument(`has more than ${most} characters of text: split it`);
}

const SKIPPED = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "head",
  "nav",
  "iframe",
]);
const HEADINGS = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);
const INLINE = new Set(
  ["a", "abbr", "b", "bdi", "cite", "code", "data", "em", "font", "i", "kbd", "label"].concat([
    "mark",
    "q",
    "s",
    "small",
    "span",
    "strong",
    "sub",
    "sup",
    "time",
    "u",
    "var",
    "wbr",
  ]),
);

/** No real page is nested as deeply, and the parser's time grows with the square of the depth. */
const HTML_DEPTH_MAX = 1_000;

/** Returns the text of a page, with headings in Markdown. */
function htmlText(html: string): string | UnreadableDocument {
  const parts: string[] = [];
  let skippedDepth = 0;
  let depth = 0;
  const parser = new Parser({
    onopentag: (name) => {
      depth += 1;
      if (depth > HTML_DEPTH_MAX) parser.pause();
      if (SKIPPED.has(name)) skippedDepth += 1;
      if (HEADINGS.has(name)) parts.push(`\n\n${"#".repeat(Number(name[1]))} `);
      else if (name === "br" || name === "tr" || name === "li") parts.push("\n");
      else if (name === "td" || name === "th") parts.push(" ");
      else if (!INLINE.has(name)) parts.push("\n\n");
    },
    ontext: (text) => {
      if (skippedDepth === 0) parts.push(text.replace(/\s+/g, " "));
    },
    onclosetag: (name) => {
      depth -= 1;
      if (SKIPPED.has(name)) skippedDepth = Math.max(0, skippedDepth - 1);
      if (!INLINE.has(name) && name !== "td" && name !== "th" && name !== "li") parts.push("\n\n");
    },
  });
  parser.end(html);
  if (depth > HTML_DEPTH_MAX) return new UnreadableDocument("is nested too deeply");
  return parts
    .join("")
    .replace(/[ \t]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n");
}

async function pdfText(bytes: Uint8Array): Promise<string | UnreadableDocument> {
  let pages: number;
  try {
    const document = await getDocumentProxy(bytes, { stopAtErrors: false, verbosity: 0 });
    pages = document.numPages;
    if (pages > PDF_PAGES_MAX) {
      const most = PDF_PAGES_MAX.toLocaleString("en-US");
      return new UnreadableDocument(`has ${pages} pages, more than ${most}: split it`);
    }
    const { text } = await extractText(document, { mergePages: false });
    const words = text.map((page) => page.replace(/[ \t]+/g, " ")).join("\n\n");
    if (words.replace(/\s/g, "").length < pages * CHARACTERS_PER_PAGE_MIN) {
      return new UnreadableDocument("is a scan: its pages are pictures without text");
    }
    return checked(words);
  } catch (error) {
    const name = error instanceof Error ? error.name : "";
    if (name === "PasswordException") {
      return new UnreadableDocument("is encrypted: remove its password");
    }
    return new UnreadableDocument("is a damaged PDF");
  }
}
