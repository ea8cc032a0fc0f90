import assert from "node:assert/strict";
import { test } from "node:test";
import { csvTextOf } from "../../../api/console/model/csv-text.js";

const TEXT = "to;name\n+4930123456;Jürgen Groß\n";

test("a file is read in the encoding that its spreadsheet wrote", () => {
  const bom = "\uFEFF";
  for (const [what, bytes] of [
    ["UTF-8", Buffer.from(TEXT)],
    ["UTF-8 with a byte order mark", Buffer.from(bom + TEXT)],
    ["Windows-1252", Buffer.from(TEXT, "latin1")],
    ["UTF-16", Buffer.from(bom + TEXT, "utf16le")],
  ] as const) {
    assert.equal(csvTextOf(bytes), TEXT, what);
  }
});
