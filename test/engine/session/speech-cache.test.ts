import assert from "node:assert/strict";
import { test } from "node:test";
import { SpeechCache, voiceKeyOf } from "../../../engine/session/speech-cache.js";

const VOICE = voiceKeyOf(["org", "provider", "model", 1, "en-US"]);

function sentence(sizeBytes: number) {
  return { audio: new Uint8Array(sizeBytes), durationMs: 100 };
}

test("a sentence said before is found again, by voice and text", () => {
  const cache = new SpeechCache(1_000);
  const hello = sentence(100);
  cache.keep(VOICE, "Hello.", hello);
  assert.equal(cache.find(VOICE, "Hello."), hello);
  assert.equal(cache.find(VOICE, "Hello"), undefined);
  assert.equal(cache.find(voiceKeyOf(["another org"]), "Hello."), undefined);
});

test("every part of a voice makes another key, and parts do not run together", () => {
  const parts = [
    ["a", "b"],
    ["ab", ""],
    ["a", "b", 1],
    ["a", "b", 2],
  ];
  assert.equal(new Set(parts.map(voiceKeyOf)).size, parts.length);
});

test("what is kept stays within its bytes, the least recently used goes first", () => {
  const cache = new SpeechCache(1_000);
  for (const text of ["one", "two", "three"]) cache.keep(VOICE, text, sentence(400));
  assert.equal(cache.sizeBytes, 800);
  assert.equal(cache.find(VOICE, "one"), undefined);
  assert.ok(cache.find(VOICE, "three"));
});

test("a sentence larger than the whole cache is not kept, and pushes nothing out", () => {
  const cache = new SpeechCache(1_000);
  cache.keep(VOICE, "small", sentence(10));
  cache.keep(VOICE, "large", sentence(1_001));
  assert.equal(cache.find(VOICE, "large"), undefined);
  assert.ok(cache.find(VOICE, "small"));
});

test("long sentences and silence are not kept", () => {
  const cache = new SpeechCache(1_000);
  cache.keep(VOICE, "x".repeat(200), sentence(1));
  cache.keep(VOICE, "x".repeat(201), sentence(1));
  cache.keep(VOICE, "silence", sentence(0));
  assert.ok(cache.find(VOICE, "x".repeat(200)));
  assert.equal(cache.find(VOICE, "x".repeat(201)), undefined);
  assert.equal(cache.find(VOICE, "silence"), undefined);
});

test("a cache of no bytes keeps nothing", () => {
  const cache = new SpeechCache(0);
  cache.keep(VOICE, "Hello.", sentence(1));
  assert.equal(cache.find(VOICE, "Hello."), undefined);
  assert.equal(cache.sizeBytes, 0);
});
