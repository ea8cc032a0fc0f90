import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import {
  LineSplitter,
  OverlongLineError,
  ServerSentEvents,
} from "../../../../engine/vendors/transport/text-stream.js";

const MAX_CHARS = 10_000;

function eventsOf(chunks: readonly Uint8Array[], maxChars = MAX_CHARS): string[] {
  const events: string[] = [];
  const parser = new ServerSentEvents(maxChars, (data) => {
    events.push(data);
    return data === "[DONE]";
  });
  if (!chunks.some((chunk) => parser.write(chunk))) parser.end();
  return events;
}

function linesOf(chunks: readonly Uint8Array[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter(MAX_CHARS);
  for (const chunk of chunks) splitter.write(chunk, (line) => lines.push(line) < 0);
  const last = splitter.end();
  if (last !== undefined) lines.push(last);
  return lines;
}

/** The bytes cut anywhere, even inside a character and between CR and LF. */
function cut(bytes: Uint8Array, borders: readonly number[]): Uint8Array[] {
  const sorted = [...borders].map((border) => border % (bytes.length + 1)).sort((a, b) => a - b);
  const starts = [0, ...sorted];
  return starts.map((start, index) => bytes.subarray(start, starts[index + 1]));
}

const borders = fc.array(fc.nat(), { maxLength: 20 });
const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
const text = fc
  .string({ unit: "grapheme", maxLength: 30 })
  .map((given) => given.replaceAll(/[\r\n\uFEFF]/g, ""));

describe("server-sent events", () => {
  it("come out the same wherever the bytes are cut", () => {
    const event = fc.record({ data: fc.array(text, { minLength: 1, maxLength: 3 }), end: lineEnd });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), borders, (events, at) => {
        const wire = events.map(({ data, end }) => {
          const lines = data.map((line) => `data: ${line}${end}`);
          return `: comment${end}event: x${end}${lines.join("")}${end}`;
        });
        const expected = events.map(({ data }) => data.join("\n"));
        assert.deepEqual(eventsOf(cut(Buffer.from(wire.join("")), at)), expected);
      }),
    );
  });

  it("may lack the space, the last empty line, or any data", () => {
    const wire = 'data:{"a":1}\n\n:\n\nretry: 5\n\ndata\n\ndata: [DONE]';
    assert.deepEqual(eventsOf([Buffer.from(wire)]), ['{"a":1}', "", "[DONE]"]);
  });

  it("stop where the reader says so", () => {
    assert.deepEqual(eventsOf([Buffer.from("data: [DONE]\n\ndata: more\n\n")]), ["[DONE]"]);
  });

  it("are refused when one grows past the limit, in one line or in many", () => {
    const long = Buffer.from(`data: ${"x".repeat(200)}`);
    assert.throws(() => eventsOf([long], 100), OverlongLineError);
    const many = Buffer.from(`data: ${"x".repeat(40)}\n`.repeat(4));
    assert.throws(() => eventsOf([many], 100), OverlongLineError);
    const event = (chars: number) => [
      Buffer.from(`data: ${"x".repeat(49)}\ndata: ${"x".repeat(chars - 50)}`),
    ];
    assert.equal(eventsOf(event(100), 100)[0]?.length, 100);
    assert.throws(() => eventsOf(event(101), 100), OverlongLineError);
  });
});

describe("lines", () => {
  it("come out the same wherever the bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, lineEnd)), text, borders, (ended, rest, at) => {
        const wire = ended.map(([line, end]) => `${line}${end}`).join("") + rest;
        const expected = wire.replaceAll(/\r\n|\r/g, "\n").split("\n");
        if (expected.at(-1) === "") expected.pop();
        assert.deepEqual(linesOf(cut(Buffer.from(wire), at)), expected);
      }),
    );
  });

  it("begin after a byte order mark, in one piece or in several", () => {
    const cutMark = [Buffer.of(0xef), Buffer.of(0xbb), Buffer.from([0xbf, 0x7b, 0x7d, 0x0a])];
    assert.deepEqual(linesOf(cutMark), ["{}"]);
    assert.deepEqual(linesOf([Buffer.from("a\n\uFEFFb\n")]), ["a", "\uFEFFb"]);
    assert.deepEqual(linesOf([Buffer.from("\uFEFF{}\n")]), ["{}"]);
  });

  it("survive bytes that are no UTF-8", () => {
    assert.deepEqual(linesOf([Uint8Array.of(0xff, 0x0a, 0xc3)]), ["\uFFFD", "\uFFFD"]);
  });
});
