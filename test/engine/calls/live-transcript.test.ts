import assert from "node:assert/strict";
import { test } from "node:test";
import { LiveTranscript } from "../../../engine/calls/live-transcript.js";

const PRESENT_WORDS_MAX = 50;
const caller = (text: string, isFinal = true) => ({ role: "user", text, isFinal }) as const;
const agent = (text: string, isFinal = false) => ({ role: "assistant", text, isFinal }) as const;

function saying(...words: Parameters<LiveTranscript["add"]>[0][]): LiveTranscript {
  const present = new LiveTranscript();
  for (const each of words) present.add(each);
  return present;
}

test("guesses are replaced by what they become, on either side by itself", () => {
  const present = saying(
    caller("what", false),
    caller("what is"),
    caller("the time"),
    agent("It is"),
    caller("hm", false),
    agent("It is ten."),
  );
  assert.deepEqual(present.all, [
    caller("what is"),
    caller("the time"),
    agent("It is ten."),
    caller("hm", false),
  ]);
});

test("what a turn holds is forgotten once that is stored, and nothing of what follows", () => {
  const present = saying(caller("yes"), agent("Never heard"), caller("wait", false));
  const stored = present.settle();
  assert.equal(present.all.length, 3, "it is in no record yet");
  present.add(caller("wait a moment"));
  present.add(agent("Of course."));
  stored();
  assert.deepEqual(present.all, [caller("wait a moment"), agent("Of course.")]);
});

test("of turns that are not stored for a long time, the latest words are kept", () => {
  const texts = Array.from({ length: PRESENT_WORDS_MAX + 5 }, (_, index) => `${index}`);
  const present = saying(...texts.map((text) => caller(text)));
  assert.deepEqual(
    present.all.map(({ text }) => text),
    texts.slice(5),
  );
});
