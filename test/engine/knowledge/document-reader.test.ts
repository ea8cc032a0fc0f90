import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DOCUMENT_BYTES_MAX,
  DocumentReader,
  READING_MAX_MS,
  READINGS_WAITING_MAX,
  READINGS_WAITING_PER_ORGANIZATION_MAX,
} from "../../../engine/knowledge/document-reader.js";
import type { DocumentFormat } from "../../../engine/knowledge/document-text.js";
import { RequestError } from "../../../engine/request-error.js";
import { SystemClock } from "../../../engine/time/clock.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { encryptedPdf, pdf } from "./sample-pdf.js";

const ENDLESS = new URL(`data:text/javascript,${encodeURIComponent("for(;;){}")}`);

/** Resolves when the next document is being read and its time limit is set on the clock. */
const begun = () => new Promise((resolve) => setImmediate(resolve));

function read(name: string, format: DocumentFormat, bytes: Uint8Array | string) {
  const reader = new DocumentReader({ clock: new SystemClock() });
  return reader.read({ orgId: "org", name, format, bytes: Buffer.from(bytes) });
}

async function textOf(name: string, format: DocumentFormat, bytes: Uint8Array | string) {
  const content = await read(name, format, bytes);
  assert.ok("passages" in content, JSON.stringify(content));
  return content.passages.map(({ text }) => text).join("\n");
}

test("the text of a PDF is read", async () => {
  const text = await textOf(
    "prices.pdf",
    "pdf",
    pdf(["A haircut costs thirty euros.", "Dyeing costs sixty."]),
  );
  assert.match(text, /haircut costs thirty euros/);
  assert.match(text, /Dyeing costs sixty/);
});

test("the text of HTML is read without scripts and navigation, below its headings", async () => {
  const page =
    "<head><title>x</title></head><nav>Home</nav><script>alert(1)</script><h1>Prices</h1><p>Cut: <b>30</b>&nbsp;&euro;</p><ul><li>One<li>Two</ul>";
  const text = await textOf("page.html", "html", page);
  assert.equal(text, "Prices\nCut: 30 €\nOne\nTwo");
});

test("a document is read in the charset that its server or the page itself names", async () => {
  const decode = async (bytes: Buffer, charset?: string, format: DocumentFormat = "html") => {
    const reader = new DocumentReader({ clock: new SystemClock() });
    const content = await reader.read({ orgId: "org", name: "page", format, bytes, charset });
    return "error" in content ? content.error : content.passages.map(({ text }) => text).join();
  };
  const latin = Buffer.from("<p>Gr\xfc\xdfe f\xfcr 5 \x80", "latin1");
  assert.equal(await decode(latin, "ISO-8859-1"), "Grüße für 5 €");
  const withMeta = Buffer.concat([Buffer.from('<meta charset="windows-1252">'), latin]);
  assert.equal(await decode(withMeta), "Grüße für 5 €");
  const older = '<meta http-equiv="content-type" content="text/html; charset=windows-1252">';
  assert.equal(await decode(Buffer.concat([Buffer.from(older), latin])), "Grüße für 5 €");
  assert.equal(await decode(Buffer.from([0x93, 0xfa, 0x96, 0x7b]), "Shift_JIS", "txt"), "日本");
  assert.equal(await decode(Buffer.from("\ufeffGrüße", "utf16le"), undefined, "txt"), "Grüße");
  assert.equal(await decode(latin), '"page" is not text in UTF-8: save it in UTF-8');
  assert.equal(
    await decode(latin, "klingon"),
    '"page" has the unknown charset "klingon": save it in UTF-8',
  );
});

test("what a page hides, and its footer, are not read", async () => {
  const page = `<div hidden>A<p>B</p></div><p aria-hidden="true">C</p><p style="color:red; display: none">D</p>
    <div role="navigation">E</div><footer><p>F</p></footer><input hidden><p style="display:block">Seen</p>
    <p aria-hidden="false">Also</p>`;
  assert.equal(await textOf("page.html", "html", page), "Seen\nAlso");
});

test("a large page with too much text is refused for its text, not for the memory it takes", async () => {
  const content = await read(
    "long.html",
    "html",
    "<p>some <b>words</b> more</p>\n".repeat(320_000),
  );
  assert.ok("error" in content);
  assert.match(content.error, /more than 1,000,000 characters of text/);
});

test("the error for an unusable document names it and the reason", async () => {
  const cases: readonly (readonly [string, DocumentFormat, Uint8Array | string, RegExp])[] = [
    ["lie.pdf", "pdf", "just words", /^"lie\.pdf" is not a PDF/],
    ["lie.txt", "txt", pdf(["words"]), /^"lie\.txt" is a PDF and not txt/],
    ["broken.pdf", "pdf", "%PDF-1.7\nnothing more", /^"broken\.pdf" is a damaged PDF/],
    ["secret.pdf", "pdf", encryptedPdf(), /^"secret\.pdf" is encrypted/],
    ["scan.pdf", "pdf", pdf(["", ""]), /^"scan\.pdf" is a scan/],
    [
      "long.pdf",
      "pdf",
      pdf(Array.from({ length: 5_000 }, () => "page")),
      /5000 pages, more than 1,000/,
    ],
    ["empty.md", "md", " \n ", /^"empty\.md" has no text/],
    ["tiny.md", "md", "# a\ny\n".repeat(5_001), /^"tiny\.md" has more than 5,000 sections/],
    ["latin.txt", "txt", Buffer.from("caf\xe9", "latin1"), /is not text in UTF-8/],
    ["much.txt", "txt", "words ".repeat(200_000), /more than 1,000,000 characters/],
    [
      "huge.html",
      "html",
      Buffer.alloc(50 * 1024 * 1024, "<p>x"),
      /^"huge\.html" has more than 10 MB/,
    ],
  ];
  for (const [name, format, bytes, expected] of cases) {
    const content = await read(name, format, bytes);
    assert.ok("error" in content, name);
    assert.match(content.error, expected);
  }
});

test("endlessly nested HTML is refused immediately", async () => {
  const content = await read("deep.html", "html", Buffer.alloc(DOCUMENT_BYTES_MAX, "<div><p>x"));
  assert.ok("error" in content);
  assert.match(content.error, /nested too deeply/);
});

test("reading a document that blocks its thread times out", async () => {
  const clock = new VirtualClock();
  const reader = new DocumentReader({ clock, thread: ENDLESS });
  const reading = reader.read({
    orgId: "org",
    name: "loop.pdf",
    format: "pdf",
    bytes: Buffer.of(1),
  });
  await begun();
  clock.advance(READING_MAX_MS);
  assert.deepEqual(await reading, { error: '"loop.pdf" takes longer than 15 s to read' });
});

/** With so many organizations, none of them has more documents waiting than it may. */
const ORGANIZATIONS = Math.ceil(READINGS_WAITING_MAX / READINGS_WAITING_PER_ORGANIZATION_MAX);

function endless(orgId: string) {
  return { orgId, name: "loop.pdf", format: "pdf", bytes: Buffer.of(1) } as const;
}

const isRefused = (error: unknown) => error instanceof RequestError && error.code === "overloaded";

test("a document beyond the full queue is refused", async () => {
  const clock = new VirtualClock();
  const reader = new DocumentReader({ clock, thread: ENDLESS });
  const readings = Array.from({ length: READINGS_WAITING_MAX + 1 }, (_, index) =>
    reader.read(endless(`org-${index % ORGANIZATIONS}`)),
  );
  await assert.rejects(reader.read(endless("another")), isRefused);
  for (let left = readings.length; left > 0; left -= 1) {
    await begun();
    clock.advance(READING_MAX_MS);
  }
  for (const reading of await Promise.all(readings)) assert.ok("error" in reading);
});

test("an organization with many documents leaves room for others, and they take turns", async () => {
  const clock = new VirtualClock();
  const reader = new DocumentReader({ clock, thread: ENDLESS });
  const ended: string[] = [];
  const read = (orgId: string) => reader.read(endless(orgId)).then(() => ended.push(orgId));
  const ofMany = Array.from({ length: 1 + READINGS_WAITING_PER_ORGANIZATION_MAX }, () =>
    read("many"),
  );
  await assert.rejects(reader.read(endless("many")), isRefused);
  const all = [...ofMany, read("other")];
  for (let left = all.length; left > 0; left -= 1) {
    await begun();
    clock.advance(READING_MAX_MS);
  }
  await Promise.all(all);
  assert.deepEqual(ended, ["many", "other", "many", "many", "many"]);
});
