import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  EMPTY_TRANSCRIPT_BUFFER,
  onSilenceTimeout,
  onTranscript,
  onUtteranceEnd,
  pendingText,
  type TranscriptBuffer,
} from "../../../engine/conversation/transcript-buffer.js";

const TURN_TEXT_CHARACTERS_MAX = 20_000;

type Message =
  | { interim: string; endMs?: number }
  | { final: string; endMs?: number }
  | { speechFinal: string; endMs?: number; isFinal?: boolean }
  | { utteranceEndMs: number }
  | { silence: true };

function step(state: TranscriptBuffer, message: Message) {
  if ("silence" in message) return onSilenceTimeout(state);
  if ("utteranceEndMs" in message) return onUtteranceEnd(state, message.utteranceEndMs);
  const lastWordEndMs = message.endMs;
  if ("interim" in message) {
    const text = message.interim;
    return onTranscript(state, { text, isFinal: false, speechFinal: false, lastWordEndMs });
  }
  if ("final" in message) {
    const text = message.final;
    return onTranscript(state, { text, isFinal: true, speechFinal: false, lastWordEndMs });
  }
  const { speechFinal: text, isFinal = true } = message;
  return onTranscript(state, { text, isFinal, speechFinal: true, lastWordEndMs });
}

function turnsOf(messages: readonly Message[]): string[] {
  const turns: string[] = [];
  let state = EMPTY_TRANSCRIPT_BUFFER;
  for (const message of messages) {
    const next = step(state, message);
    if (next.turnText !== undefined) turns.push(next.turnText);
    state = next.state;
  }
  return turns;
}

const CASES: Readonly<
  Record<string, readonly [messages: readonly Message[], turns: readonly string[]]>
> = {
  "one final with the vendor's silence mark is a turn": [
    [{ speechFinal: "hello", endMs: 500 }],
    ["hello"],
  ],
  "a turn is all final words since the last one, not only those with the mark": [
    [
      { final: "i would", endMs: 400 },
      { final: "like to", endMs: 900 },
      { speechFinal: "book", endMs: 1_300 },
    ],
    ["i would like to book"],
  ],
  "words that are only guessed do not stand beside their final version": [
    [
      { interim: "i wood", endMs: 300 },
      { interim: "i would like", endMs: 600 },
      { speechFinal: "i would like it", endMs: 900 },
    ],
    ["i would like it"],
  ],
  "an utterance end after the mark is not a second turn": [
    [{ speechFinal: "hello", endMs: 500 }, { utteranceEndMs: 500 }],
    ["hello"],
  ],
  "an utterance end gives the final words when the mark never came": [
    [{ final: "in the noise", endMs: 800 }, { utteranceEndMs: 800 }],
    ["in the noise"],
  ],
  "an utterance end gives the guessed words when they are all there is": [
    [{ interim: "are you there", endMs: 700 }, { utteranceEndMs: 700 }],
    ["are you there"],
  ],
  "an utterance end of older words does not cut newer ones off": [
    [
      { final: "well", endMs: 500 },
      { interim: "i think", endMs: 1_400 },
      { utteranceEndMs: 500 },
      { speechFinal: "i think so", endMs: 1_700 },
    ],
    ["well i think so"],
  ],
  "an utterance end 50 ms before the newest word is of that word": [
    [{ final: "yes please", endMs: 1_000 }, { utteranceEndMs: 950 }],
    ["yes please"],
  ],
  "an utterance end more than 50 ms before the newest word is of an older one": [
    [{ final: "yes please", endMs: 1_000 }, { utteranceEndMs: 949 }],
    [],
  ],
  "an utterance end may be off by a rounding": [
    [{ final: "yes please", endMs: 1_000 }, { utteranceEndMs: 960 }],
    ["yes please"],
  ],
  "empty results in silence are no turn": [
    [{ speechFinal: "" }, { final: "  " }, { utteranceEndMs: -1 }, { silence: true }],
    [],
  ],
  "an empty final with the mark ends the turn that was heard before it": [
    [{ final: "good morning", endMs: 900 }, { speechFinal: "" }],
    ["good morning"],
  ],
  "a guess that the final takes back is not said": [
    [{ interim: "uh", endMs: 200 }, { final: "" }, { utteranceEndMs: 200 }],
    [],
  ],
  "an empty guess takes nothing back": [
    [{ interim: "one two", endMs: 400 }, { interim: "" }, { utteranceEndMs: 400 }],
    ["one two"],
  ],
  "two marks in a row are two turns": [
    [
      { speechFinal: "yes", endMs: 300 },
      { speechFinal: "at nine", endMs: 900 },
    ],
    ["yes", "at nine"],
  ],
  "the mark without the word final is final": [
    [
      { interim: "at", endMs: 200 },
      { speechFinal: "at nine", endMs: 500, isFinal: false },
    ],
    ["at nine"],
  ],
  "the silence timer ends what nothing else ended": [
    [
      { final: "is anybody", endMs: 600 },
      { interim: "there", endMs: 800 },
      { silence: true },
      { silence: true },
    ],
    ["is anybody there"],
  ],
  "guessed words that were answered do not come again when they are settled": [
    [
      { interim: "hello there", endMs: 700 },
      { silence: true },
      { speechFinal: "hello there", endMs: 710 },
      { speechFinal: "who is it", endMs: 2_000 },
    ],
    ["hello there", "who is it"],
  ],
  "guessed words that have grown since they were answered are a new turn": [
    [
      { interim: "hello", endMs: 400 },
      { utteranceEndMs: 400 },
      { speechFinal: "hello i need help", endMs: 1_600 },
    ],
    ["hello", "hello i need help"],
  ],
  "an empty final does not tell where words end": [
    [{ final: "yes please", endMs: 1_000 }, { final: "", endMs: 3_000 }, { utteranceEndMs: 1_000 }],
    ["yes please"],
  ],
  "an older final does not take back where the newest word ends": [
    [
      { final: "yes please", endMs: 1_000 },
      { final: "and", endMs: 700 },
      { utteranceEndMs: 900 },
      { utteranceEndMs: 950 },
    ],
    ["yes please and"],
  ],
  "words up to 50 ms behind those that were answered are the same": [
    [
      { interim: "hello", endMs: 700 },
      { silence: true },
      { speechFinal: "hello", endMs: 750 },
      { speechFinal: "hello", endMs: 751 },
    ],
    ["hello", "hello"],
  ],
  "what was answered stays answered when later words were final": [
    [
      { interim: "hello", endMs: 700 },
      { silence: true },
      { speechFinal: "who is it", endMs: 2_000 },
      { speechFinal: "hello", endMs: 710 },
    ],
    ["hello", "who is it"],
  ],
  "words without times come after those that were answered": [
    [{ interim: "hello", endMs: 700 }, { silence: true }, { speechFinal: "you" }],
    ["hello", "you"],
  ],
  "words without times are taken as they come": [
    [{ final: "no times" }, { interim: "here" }, { utteranceEndMs: 0 }],
    ["no times here"],
  ],
};

for (const [title, [messages, turns]] of Object.entries(CASES)) {
  test(title, () => assert.deepEqual(turnsOf(messages), turns));
}

test("the words of the turn are counted as they come, guesses included", () => {
  const first = step(EMPTY_TRANSCRIPT_BUFFER, { final: "i would", endMs: 400 });
  assert.equal(first.words, 2);
  const second = step(first.state, { interim: "like tea", endMs: 800 });
  assert.equal(second.words, 4);
  assert.equal(pendingText(second.state), "i would like tea");
  const ended = step(second.state, { speechFinal: "like coffee please", endMs: 1_200 });
  assert.equal(ended.words, 5);
  assert.equal(pendingText(ended.state), "");
  assert.equal(step(ended.state, { utteranceEndMs: 1_200 }).words, 0);
});

test("only the newest words of a turn without an end are kept", () => {
  let state = EMPTY_TRANSCRIPT_BUFFER;
  for (let count = 0; count < 3_000; count += 1) {
    state = step(state, { final: `word${count} and more`, endMs: count * 100 }).state;
    assert.ok(state.finals.length <= TURN_TEXT_CHARACTERS_MAX);
  }
  assert.ok(step(state, { silence: true }).turnText?.endsWith("word2999 and more"));
});

const message = fc.oneof(
  fc.record({ interim: fc.constantFrom("", "a b", "c"), endMs: fc.nat(5_000) }),
  fc.record({ final: fc.constantFrom("", "d e", "f"), endMs: fc.nat(5_000) }),
  fc.record({ speechFinal: fc.constantFrom("", "g h", "i"), endMs: fc.nat(5_000) }),
  fc.record({ utteranceEndMs: fc.nat(5_000) }),
  fc.constant({ silence: true } as const),
);

test("in any case: a turn has words, leaves no state behind, and silence leaves no words behind", () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 40 }), (messages) => {
      let state = EMPTY_TRANSCRIPT_BUFFER;
      for (const next of messages) {
        const result = step(state, next);
        if (result.turnText !== undefined) {
          assert.match(result.turnText, /\S/);
          assert.equal(pendingText(result.state), "");
        }
        assert.equal(result.words === 0, (result.turnText ?? pendingText(result.state)) === "");
        state = result.state;
      }
      assert.equal(pendingText(onSilenceTimeout(state).state), "");
    }),
  );
});
