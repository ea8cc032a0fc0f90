import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

/** What TTS was asked for after each of these tokens, and after the model has given nothing for `stallMs`. */
function asked(tokens: readonly string[], stallMs: number, intervalMs = 20): readonly string[] {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "hello" });
  for (const text of tokens) {
    call.clock.advance(intervalMs);
    call.send({ type: "replyToken", turnId: 1, text });
  }
  call.clock.advance(stallMs);
  assert.deepEqual(call.crashes, []);
  return call.effects.flatMap((each) => (each.type === "synthesize" ? [each.text] : []));
}

const FIRST = "Your table is booked.";

test("a later sentence that is whole goes to TTS when the model stalls behind it", () => {
  for (const second of [
    " It is by the window.",
    ' He said "see you soon."',
    " Is that fine?",
    " It is for two people!",
    " Das Zimmer ist bereit.",
    " मेज़ तैयार है।",
    " Sure.",
    " Well...",
  ]) {
    assert.deepEqual(asked([FIRST, second], 299), [FIRST], second);
    assert.deepEqual(asked([FIRST, second], 300), [FIRST, second.trim()], second);
  }
});

test("behind a number or an abbreviation the stall has to be longer", () => {
  for (const second of [" It costs 30.", " We close at 5 p.m.", " It ships from the U.S."]) {
    assert.deepEqual(asked([FIRST, second], 999), [FIRST], second);
    assert.deepEqual(asked([FIRST, second], 1_000), [FIRST, second.trim()], second);
  }
});

test("what surely goes on waits for the model", () => {
  for (const second of [" Please ask Dr.", "\n1.", " It is by the", " and so on, ", " (", "?!"]) {
    assert.deepEqual(asked([FIRST, second], 5_000), [FIRST], second);
  }
});

test("every sentence goes, one stall after the other, and none twice", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "hello" });
  const sentences = ["One is here.", "Two is here.", "Three is here."];
  for (const [index, text] of sentences.entries()) {
    call.send({ type: "replyToken", turnId: 1, text: `${index === 0 ? "" : " "}${text}` });
    call.clock.advance(1_000);
    const sound = { durationMs: 800, firstByteAtMs: call.clock.monotonicMs() };
    call.send({ type: "sentenceWhole", turnId: 1, index, ...sound });
  }
  call.send({ type: "replyDone", turnId: 1, tokens: 9 });
  const texts = call.effects.flatMap((each) => (each.type === "synthesize" ? [each.text] : []));
  assert.deepEqual(texts, sentences);
});

test("tokens that come on time are cut as they were", () => {
  assert.deepEqual(asked([FIRST, " It is 3", ".", "5 m from the window", ".", " Fine"], 0, 250), [
    FIRST,
    "It is 3.5 m from the window.",
  ]);
});
