import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { AssemblyAiReader } from "../../../../engine/vendors/assemblyai/assemblyai.js";

interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const BOOK: Word = { text: "book", start: 1_500, end: 1_800 };
const IT: Word = { text: "it", start: 1_900, end: 2_100 };

describe("what AssemblyAI's messages say", () => {
  let reader: AssemblyAiReader;
  let told: unknown[];

  beforeEach(() => {
    told = [];
    reader = new AssemblyAiReader((code, reason) => {
      told.push([code, reason]);
      return "rateLimited";
    });
  });

  function read(message: object) {
    return reader.read(JSON.stringify(message));
  }

  function turn(order: number, transcript: string, words?: readonly Word[], isEnd = false) {
    return read({ type: "Turn", turn_order: order, end_of_turn: isEnd, transcript, words });
  }

  const guess = (text: string, lastWordEndSec: number | undefined) => ({
    kind: "words",
    text,
    speechFinal: false,
    lastWordEndSec,
    isFinal: false,
  });
  const started = (text: string) => ({ kind: "turn", mark: "startOfTurn", text });

  it("is nothing where it is no message, and where it is one of another kind", () => {
    assert.equal(reader.read("[{"), undefined);
    assert.equal(read({ type: 1 }), undefined);
    assert.equal(read({ type: "Turn" }), undefined);
    assert.deepEqual(read({ type: "Begin" }), []);
  });

  it("is an error by its code and reason, and one that may pass where there is none", () => {
    assert.deepEqual(read({ type: "Error", error_code: 4029, error: "busy" }), [
      { kind: "error", fault: "rateLimited", detail: { code: "4029", message: "busy" } },
    ]);
    for (const message of [{ type: "Error" }, { type: "Error", error_code: "x" }]) {
      assert.deepEqual(read(message), [
        {
          kind: "error",
          fault: "rateLimited",
          detail: { code: "3005", message: "no reason given" },
        },
      ]);
    }
    const unknown = [3005, "no reason given"];
    assert.deepEqual(told, [[4029, "busy"], unknown, unknown]);
  });

  it("is a turn that starts once, with the words that may still change", () => {
    assert.deepEqual(turn(0, "", []), [{ kind: "wordless" }]);
    assert.deepEqual(turn(0, "", [BOOK]), [
      { kind: "speechStarted" },
      started("book"),
      guess("book", 1.8),
    ]);
    assert.deepEqual(turn(0, "book", [BOOK, IT]), [guess("book it", 2.1)]);
    assert.deepEqual(turn(0, " book it ", undefined), [guess("book it", undefined)]);
  });

  it("is a turn whose voice was reported before, and the next voice is reported again", () => {
    assert.deepEqual(read({ type: "SpeechStarted" }), [{ kind: "speechStarted" }]);
    assert.deepEqual(turn(0, "", [BOOK]), [started("book"), guess("book", 1.8)]);
    turn(0, "Book.", [BOOK], true);
    assert.deepEqual(turn(1, "", [IT]), [
      { kind: "speechStarted" },
      started("it"),
      guess("it", 2.1),
    ]);
  });

  it("is the end of a turn, once, with its text as it is written", () => {
    turn(3, "", [BOOK]);
    assert.deepEqual(turn(3, "Book it.", [BOOK, IT], true), [
      { kind: "settled", sec: 2.1 },
      { ...guess("Book it.", 2.1), isFinal: true },
      { kind: "turn", mark: "endOfTurn", text: "Book it." },
    ]);
    assert.deepEqual(turn(3, "Book it.", [BOOK, IT], true), []);
    assert.deepEqual(turn(2, "late", [BOOK]), []);
  });

  it("is kept for a connection that breaks, unless all of it can be heard again", () => {
    const lost = [
      { kind: "settled", sec: 2.1 },
      { ...guess("book it", 2.1), isFinal: true },
    ];
    assert.deepEqual(reader.lost(5), []);
    turn(0, "", [BOOK, IT]);
    assert.deepEqual(reader.lost(1.5), []);
    assert.deepEqual(reader.lost(1.6), lost);
    assert.deepEqual(reader.lost(1.6), [], "told once");
    turn(1, "one", []);
    assert.deepEqual(reader.lost(0), []);
    assert.deepEqual(reader.lost(0.001), [
      { kind: "settled", sec: 0 },
      { ...guess("one", 0), isFinal: true },
    ]);
    turn(2, "Two.", [IT], true);
    assert.deepEqual(reader.lost(5), []);
  });
});
