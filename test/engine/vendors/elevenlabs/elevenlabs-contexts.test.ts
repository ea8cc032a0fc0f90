import assert from "node:assert/strict";
import { test } from "node:test";
import { MP3 } from "../../../../engine/audio/audio-format.js";
import { contextDialect } from "../../../../engine/vendors/elevenlabs/elevenlabs.js";

const REQUEST = { text: "ok", modelId: "eleven_flash_v2_5", speed: 1, language: "en", format: MP3 };

function readerOf(id = "one") {
  return contextDialect("voice", {}).newReader(id, REQUEST);
}

test("a socket that waited too long is gone, and any other error is reported only by its code", () => {
  const said = (error: string) => readerOf().text(JSON.stringify({ error, message: "a secret" }));
  const timeout = "input_timeout_exceeded";
  assert.deepEqual(said(timeout), [
    {
      kind: "failed",
      fault: "disconnected",
      message: `${timeout}, about a time that was exceeded`,
    },
  ]);
  const [other] = said("x".repeat(101));
  assert.ok(other?.kind === "failed");
  assert.equal(other.message, "reports an error");
  assert.equal(other.fault, "refused");
});

test("what another sentence says on the same socket is not this one's", () => {
  const audio = Buffer.from([1, 2, 3]).toString("base64");
  const reader = readerOf();
  assert.deepEqual(reader.text(JSON.stringify({ contextId: "other", audio })), []);
  assert.deepEqual(reader.text(JSON.stringify({ contextId: "one", audio })), [
    { kind: "audio", bytes: Buffer.from([1, 2, 3]) },
  ]);
  assert.deepEqual(reader.text(JSON.stringify({ contextId: "one", isFinal: true })), [
    { kind: "done" },
  ]);
});

test("word times count from their own piece if the length of the others is unknown", () => {
  const reader = readerOf();
  const audio = Buffer.alloc(4_800).toString("base64");
  reader.text(JSON.stringify({ contextId: "one", audio }));
  const alignment = { chars: ["a", " "], charStartTimesMs: [10, 20], charDurationsMs: [10, 10] };
  assert.deepEqual(reader.text(JSON.stringify({ contextId: "one", alignment })), [
    { kind: "words", words: [{ text: "a", startMs: 10, endMs: 20 }] },
  ]);
});
