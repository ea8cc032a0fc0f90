import assert from "node:assert/strict";
import { test } from "node:test";
import { durationText, sizeText } from "../../../api/commands/measures.js";
import { folded, printTable } from "../../../api/commands/text-table.js";
import { RecordingTerminal } from "./recording-terminal.js";

test("columns are aligned, numbers to the right", () => {
  const terminal = new RecordingTerminal();
  printTable(
    terminal,
    ["name", "size"],
    [
      [{ text: "Ångström" }, { text: "7", isRightAligned: true }],
      [{ text: "B" }, { text: "12345", isRightAligned: true }],
    ],
  );
  assert.deepEqual(terminal.lines, [
    "name       size", //
    "Ångström      7",
    "B         12345",
  ]);
});

test("the widest column shrinks on a narrow terminal", () => {
  const terminal = new RecordingTerminal({ columns: 30 });
  const long = "a sentence that does not fit into the line";
  printTable(terminal, ["name", "text"], [[{ text: "short" }, { text: long }]]);
  assert.deepEqual(terminal.lines, ["name   text", "short  a sentence that does n…"]);
  const tiny = new RecordingTerminal({ columns: 3 });
  printTable(tiny, ["text"], [[{ text: long }]]);
  assert.deepEqual(tiny.lines, ["text", "a sentence …"]);
});

test("text is wrapped between words", () => {
  assert.deepEqual(folded("one two three four", 13), ["one two three", "four"]);
  assert.deepEqual(folded("one two three four", undefined), ["one two three four"]);
  assert.deepEqual(folded("incomprehensibilities", 12), ["incomprehensibilities"]);
  assert.deepEqual(folded("", 40), [""]);
});

test("sizes and durations are formatted for people", () => {
  const sizes = [0, 999, 1000, 2448, 12_600, 999_600, 5e12, 5e15];
  assert.deepEqual(sizes.map(sizeText), [
    "0 B",
    "999 B",
    "1.0 kB",
    "2.4 kB",
    "13 kB",
    "1.0 MB",
    "5.0 TB",
    "5000 TB",
  ]);
  assert.deepEqual([0, 34.6, 999.4, 999.6, 12_345].map(durationText), [
    "0 ms",
    "35 ms",
    "999 ms",
    "1.0 s",
    "12.3 s",
  ]);
});
