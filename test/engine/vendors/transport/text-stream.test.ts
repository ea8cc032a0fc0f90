import assert from "node:assert/strict";
import { test } from "node:test";
import {
  LineSplitter,
  OverlongLineError,
} from "../../../../engine/vendors/transport/text-stream.js";

const MAX_CHARS = 5;

/** The lines of the chunks; a line `stop` is the last that is wanted. */
function linesOf(...chunks: readonly string[]) {
  const lines: string[] = [];
  const splitter = new LineSplitter(MAX_CHARS);
  const stopped = chunks.map((chunk) =>
    splitter.write(Buffer.from(chunk), (line) => {
      lines.push(line);
      return line === "stop";
    }),
  );
  return { lines, rest: splitter.end(), hasStopped: stopped.includes(true) };
}

test("a line ends with LF, CR LF or CR, also where a chunk ends between the two", () => {
  for (const chunks of [["a\nb\nc"], ["a\r\nb\r\nc"], ["a\rb\rc"], ["a\r", "\nb", "\r\n", "c"]]) {
    assert.deepEqual(linesOf(...chunks), { lines: ["a", "b"], rest: "c", hasStopped: false });
  }
  assert.deepEqual(linesOf("a\r", "b\n").lines, ["a", "b"]);
  assert.deepEqual(linesOf("a\r", "\n", "\nb\n").lines, ["a", "", "b"]);
  assert.deepEqual(linesOf("a\n\rb\n").lines, ["a", "", "b"]);
  assert.deepEqual(linesOf("a\n", "\n").lines, ["a", ""]);
});

test("a byte order mark is none of the text at its beginning, and is anywhere else", () => {
  assert.deepEqual(linesOf("\uFEFFa\n").lines, ["a"]);
  assert.deepEqual(linesOf("a\n", "\uFEFFb\n").lines, ["a", "\uFEFFb"]);
});

test("reading stops after the wanted line", () => {
  assert.deepEqual(linesOf("a\nstop\nb\n"), {
    lines: ["a", "stop"],
    rest: undefined,
    hasStopped: true,
  });
  assert.equal(linesOf("a\nb\n").hasStopped, false);
});

test("a line is as long as is allowed and no longer, whether it has ended, and in however many pieces it comes", () => {
  assert.deepEqual(linesOf("12345\n12345").lines, ["12345"]);
  assert.deepEqual(linesOf("123", "45", "\n").lines, ["12345"]);
  for (const chunks of [["123456\n"], ["123456"], ["123", "456"], ["12345\n", "12345", "6\n"]]) {
    assert.throws(() => linesOf(...chunks), OverlongLineError);
  }
  assert.throws(() => linesOf("123456"), /longer than 5 characters/);
});

test("the rest is returned once, and none if the last line has ended", () => {
  const splitter = new LineSplitter(MAX_CHARS);
  splitter.write(Buffer.from("ab"), () => false);
  assert.equal(splitter.end(), "ab");
  assert.equal(splitter.end(), undefined);
  assert.equal(linesOf("a\n").rest, undefined);
  assert.equal(linesOf("").rest, undefined);
});
