import assert from "node:assert/strict";
import { test } from "node:test";
import {
  SpeechCache,
  type SpokenSentence,
  sizeBytesOf,
  voiceKeyOf,
} from "../../../engine/conversation/speech-cache.js";

const SAID_ONCE_MAX = 16_384;

const VOICE = voiceKeyOf("org", ["provider", "model", 1, "en-US"]);

function sentence(sizeBytes: number) {
  return { audio: new Uint8Array(sizeBytes), durationMs: 100, words: [] };
}

function keepTwice(cache: SpeechCache, text: string, spoken: SpokenSentence) {
  cache.keep(VOICE, text, spoken);
  cache.keep(VOICE, text, spoken);
}

test("a sentence said once takes no room", () => {
  const cache = new SpeechCache(1_000);
  cache.keep(VOICE, "Hello.", sentence(100));
  assert.equal(cache.find(VOICE, "Hello."), undefined);
  assert.equal(cache.sizeBytes, 0);
  cache.keep(VOICE, "Hello.", sentence(100));
  assert.ok(cache.find(VOICE, "Hello."));
});

test("a sentence that was said once is dropped after enough others", () => {
  const cache = new SpeechCache(1_000);
  cache.keep(VOICE, "Hello.", sentence(1));
  for (let said = 0; said <= SAID_ONCE_MAX; said += 1) cache.keep(VOICE, `${said}`, sentence(1));
  cache.keep(VOICE, "Hello.", sentence(1));
  assert.equal(cache.find(VOICE, "Hello."), undefined);
});

test("a sentence said before is found again, by voice and text", () => {
  const cache = new SpeechCache(1_000);
  const hello = sentence(100);
  keepTwice(cache, "Hello.", hello);
  assert.equal(cache.find(VOICE, "Hello."), hello);
  assert.equal(cache.find(VOICE, "Hello"), undefined);
  assert.equal(
    cache.find(voiceKeyOf("another org", ["provider", "model", 1, "en-US"]), "Hello."),
    undefined,
  );
});

test("every part of a voice makes another key, and parts do not run together", () => {
  const parts = [
    ["a", "b"],
    ["ab", ""],
    ["a", "b", 1],
    ["a", "b", 2],
  ];
  assert.equal(new Set(parts.map((each) => voiceKeyOf("org", each))).size, parts.length);
});

test("what is kept stays within its bytes, the least recently used goes first", () => {
  const cache = new SpeechCache(1_000);
  for (const text of ["one", "two", "three"]) keepTwice(cache, text, sentence(400));
  assert.equal(cache.sizeBytes, 800);
  assert.equal(cache.find(VOICE, "one"), undefined);
  assert.ok(cache.find(VOICE, "three"));
});

test("the times of a sentence's words count in addition to its audio", () => {
  const cache = new SpeechCache(1_000);
  const words = Array.from({ length: 10 }, (_, n) => ({ text: "word", endMs: n * 100 }));
  keepTwice(cache, "timed", { ...sentence(300), words });
  assert.equal(cache.sizeBytes, 300 + 10 * (48 + 2 * 4));
  assert.deepEqual(cache.find(VOICE, "timed")?.words, words);
  const endless = Array.from({ length: 20 }, () => ({ text: "word", endMs: 1 }));
  keepTwice(cache, "endless", { ...sentence(1), words: endless });
  assert.equal(cache.find(VOICE, "endless"), undefined);
});

test("a sentence larger than the whole cache is not kept, and pushes nothing out", () => {
  const cache = new SpeechCache(1_000);
  keepTwice(cache, "small", sentence(10));
  keepTwice(cache, "large", sentence(1_001));
  assert.equal(cache.find(VOICE, "large"), undefined);
  assert.ok(cache.find(VOICE, "small"));
});

test("long sentences and silence are not kept", () => {
  const cache = new SpeechCache(1_000);
  keepTwice(cache, "x".repeat(200), sentence(1));
  keepTwice(cache, "x".repeat(201), sentence(1));
  keepTwice(cache, "silence", sentence(0));
  assert.ok(cache.find(VOICE, "x".repeat(200)));
  assert.equal(cache.find(VOICE, "x".repeat(201)), undefined);
  assert.equal(cache.find(VOICE, "silence"), undefined);
});

test("a cache of no bytes keeps nothing", () => {
  const cache = new SpeechCache(0);
  keepTwice(cache, "Hello.", sentence(1));
  assert.equal(cache.find(VOICE, "Hello."), undefined);
  assert.equal(cache.sizeBytes, 0);
});

test("a sentence without a sound takes a byte, since a cache counts nothing that takes none", () => {
  assert.equal(sizeBytesOf(sentence(0)), 1);
  assert.equal(sizeBytesOf(sentence(7)), 7);
});

test("one organization's speech pushes out its own, never what another has less of", () => {
  const cache = new SpeechCache(1_000);
  keepTwice(cache, "Hello.", sentence(100));
  const greedy = voiceKeyOf("greedy", ["provider"]);
  for (let n = 0; n < SAID_ONCE_MAX + 100; n += 1) cache.keep(greedy, `once ${n}`, sentence(100));
  for (let n = 0; n < 100; n += 1) {
    cache.keep(greedy, `twice ${n}`, sentence(100));
    cache.keep(greedy, `twice ${n}`, sentence(100));
  }
  assert.ok(cache.find(VOICE, "Hello.") !== undefined);
  assert.ok(cache.find(greedy, "twice 99") !== undefined);
  assert.ok(cache.sizeBytes <= 1_000);
  // What was said once is remembered as well.
  cache.keep(VOICE, "Again.", sentence(1));
  for (let n = 0; n < SAID_ONCE_MAX; n += 1) cache.keep(greedy, `more ${n}`, sentence(100));
  cache.keep(VOICE, "Again.", sentence(1));
  assert.ok(cache.find(VOICE, "Again.") !== undefined);
});
