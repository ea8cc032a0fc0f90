import assert from "node:assert/strict";
import { test } from "node:test";
import { parseNovaMessage } from "../../../../engine/vendors/deepgram/deepgram-nova.js";

const read = (message: object) => parseNovaMessage(JSON.stringify(message));

function results(alternatives: readonly object[], more: object = {}) {
  return read({ type: "Results", start: 2, duration: 1.5, channel: { alternatives }, ...more });
}

const NOTHING_HEARD = {
  kind: "results",
  text: "",
  isFinal: false,
  speechFinal: false,
  words: [],
  startSec: 2,
  lastWordEndSec: undefined,
  settledSec: 3.5,
};

test("words are those of the best guess, as they are written, with where they end", () => {
  const words = [
    { word: "book", punctuated_word: "Book", start: 2.25, end: 2.5 },
    { word: "it", start: 2.5, end: 2.75 },
    { end: 3 },
  ];
  assert.deepEqual(results([{ transcript: " Book it ", words }, { transcript: "other" }]), {
    ...NOTHING_HEARD,
    text: "Book it",
    words: [
      { text: "Book", endSec: 2.5 },
      { text: "it", endSec: 2.75 },
      { text: undefined, endSec: 3 },
    ],
    startSec: 2.25,
    lastWordEndSec: 3,
    settledSec: 3,
  });
});

test("without words a guess begins and ends with its piece of audio", () => {
  assert.deepEqual(results([]), NOTHING_HEARD);
  assert.deepEqual(results([{ transcript: "hm" }]), { ...NOTHING_HEARD, text: "hm" });
  const timeless = { transcript: "hm", words: [{ word: "hm", end: 2.5 }] };
  assert.deepEqual(results([timeless]), {
    ...NOTHING_HEARD,
    text: "hm",
    words: [{ text: "hm", endSec: 2.5 }],
    lastWordEndSec: 2.5,
    settledSec: 2.5,
  });
});

test("words followed by a silence are final, whether that is reported or not", () => {
  const final = { ...NOTHING_HEARD, isFinal: true };
  assert.deepEqual(results([], { is_final: true }), final);
  assert.deepEqual(results([], { speech_final: true }), { ...final, speechFinal: true });
  assert.deepEqual(results([], { is_final: true, speech_final: true }), {
    ...final,
    speechFinal: true,
  });
  assert.deepEqual(results([], { is_final: false, speech_final: false }), NOTHING_HEARD);
});

test("voices that start, ends of utterances and errors are reported, with their text if any", () => {
  assert.deepEqual(read({ type: "SpeechStarted", timestamp: 1 }), { kind: "speechStarted" });
  assert.deepEqual(read({ type: "UtteranceEnd", last_word_end: 1.5 }), {
    kind: "utteranceEnd",
    lastWordEndSec: 1.5,
  });
  const error = (words: object) => read({ type: "Error", ...words });
  assert.deepEqual(error({ description: "one", message: "two" }), {
    kind: "error",
    detail: { code: undefined, message: "one" },
  });
  assert.deepEqual(error({ message: "two" }), {
    kind: "error",
    detail: { code: undefined, message: "two" },
  });
  for (const silent of [{}, { message: 5 }]) {
    assert.deepEqual(error(silent), {
      kind: "error",
      detail: { code: undefined, message: undefined },
    });
  }
});

test("a kind that is not known is another, and what does not fit its kind is no message", () => {
  assert.deepEqual(read({ type: "Metadata" }), { kind: "other" });
  assert.equal(parseNovaMessage("[{"), undefined);
  assert.equal(read({}), undefined);
  assert.equal(read({ type: "Results" }), undefined);
  assert.equal(read({ type: "UtteranceEnd" }), undefined);
});
