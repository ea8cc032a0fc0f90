import { TextDecoder } from "node:util";
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

/** Browsers look for the charset of a page in as many bytes. */
const META_MAX_BYTES = 1_024;
const CHARSET_CHARACTERS_SHOWN = 40;
const BYTE_ORDER_MARKS: readonly (readonly [mark: readonly number[], charset: string])[] = [
  [[0xef, 0xbb, 0xbf], "utf-8"],
  [[0xff, 0xfe], "utf-16le"],
  [[0xfe, 0xff], "utf-16be"],
];

/** The characters from 0x80 on, which Node decodes as control characters of ISO-8859-1. */
const WINDOWS_1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

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

export function isPdf(bytes: Uint8Array): boolean {
  const startBytes = Math.min(bytes.length, PDF_START_MAX_BYTES);
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, startBytes);
  return start.toString("latin1").includes(PDF_START);
}

/**
 * Returns the text of a document, or why it has none. A malformed document may take very long, so this runs in a thread
 * that can be terminated.
 */
export async function documentText(
  format: DocumentFormat,
  bytes: Uint8Array,
  charset?: string,
): Promise<string | UnreadableDocument> {
  if (format === "pdf") {
    return isPdf(bytes)
      ? await pdfText(bytes)
      : new UnreadableDocument("is not a PDF, although its name or type says so");
  }
  if (isPdf(bytes))
    return new UnreadableDocument(`is a PDF and not ${format}: give it a name that ends in .pdf`);
  const text = decoded(bytes, charset ?? (format === "html" ? charsetInPage(bytes) : undefined));
  if (typeof text !== "string") return text;
  const words = format === "html" ? htmlText(text) : text;
  return typeof words === "string" ? checked(words) : words;
}

/** A byte order mark says more about a text than its server does. */
function decoded(bytes: Uint8Array, named = "utf-8"): string | UnreadableDocument {
  const charset = BYTE_ORDER_MARKS.find(([mark]) => mark.every((byte, at) => bytes[at] === byte));
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(charset?.[1] ?? named, { fatal: true });
  } catch {
    const shown = named.slice(0, CHARSET_CHARACTERS_SHOWN);
    return new UnreadableDocument(`has the unknown charset "${shown}": save it in UTF-8`);
  }
  const wrong = new UnreadableDocument(`is not text in ${decoder.encoding.toUpperCase()}`);
  try {
    const decodedText = decoder.decode(bytes);
    const text =
      decoder.encoding === "windows-1252"
        ? decodedText.replace(
            /[\x80-\x9f]/g,
            (control) => WINDOWS_1252[control.charCodeAt(0) - 0x80] ?? control,
          )
        : decodedText;
    return text.includes("\0") ? wrong : text;
  } catch {
    return wrong;
  }
}

/** The charset that a page names in its first bytes, if any. */
function charsetInPage(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, META_MAX_BYTES));
  const named = /<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"'>;/]+)/i.exec(start.toString("latin1"));
  // A page whose meta could be read as ASCII is not in UTF-16.
  return named?.[1]?.replace(/^utf-16.*$/i, "utf-8");
}

function checked(text: string): string | UnreadableDocument {
  const clean = text
    .replaceAll("\r\n", "\n")
    .replace(/[^\P{Cc}\t\n]/gu, " ")
    .replace(/\p{Cs}/gu, "\ufffd")
    .trim();
  if (clean === "") return new UnreadableDocument("has no text");
  return clean.length <= DOCUMENT_CHARACTERS_MAX ? clean : tooLong();
}

function tooLong(): UnreadableDocument {
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
  "footer",
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

/** Whether an element and all in it is no text of the page: hidden, or the same on each page of a site. */
function isSkipped(name: string, attributes: Readonly<Record<string, string>>): boolean {
  const { hidden, role = "", style = "" } = attributes;
  return (
    SKIPPED.has(name) ||
    hidden !== undefined ||
    attributes["aria-hidden"] === "true" ||
    /^(?:navigation|contentinfo)$/i.test(role.trim()) ||
    /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b/i.test(style)
  );
}

/** Returns the text of a page, with headings in Markdown. */
function htmlText(html: string): string | UnreadableDocument {
  const parts: string[] = [];
  /** The depth of the outermost element that is skipped; 0 outside of one. */
  let skippedDepth = 0;
  let depth = 0;
  let characters = 0;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      depth += 1;
      if (depth > HTML_DEPTH_MAX) parser.pause();
      if (skippedDepth === 0 && isSkipped(name, attributes)) skippedDepth = depth;
      if (skippedDepth > 0) return;
      if (HEADINGS.has(name)) parts.push(`\n\n${"#".repeat(Number(name[1]))} `);
      else if (name === "br" || name === "tr" || name === "li") parts.push("\n");
      else if (name === "td" || name === "th") parts.push(" ");
      else if (!INLINE.has(name)) parts.push("\n\n");
    },
    ontext: (text) => {
      if (skippedDepth > 0) return;
      parts.push(text.replace(/\s+/g, " "));
      // A page with far too much text is not read to its end, which would take too much memory.
      characters += text.replace(/\s+/g, "").length;
      if (characters > DOCUMENT_CHARACTERS_MAX) parser.pause();
    },
    onclosetag: (name) => {
      const isInSkipped = skippedDepth > 0;
      if (depth === skippedDepth) skippedDepth = 0;
      depth -= 1;
      if (isInSkipped) return;
      if (!INLINE.has(name) && name !== "td" && name !== "th" && name !== "li") parts.push("\n\n");
    },
  });
  parser.end(html);
  if (characters > DOCUMENT_CHARACTERS_MAX) return tooLong();
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
