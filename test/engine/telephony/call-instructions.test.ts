import assert from "node:assert/strict";
import { test } from "node:test";
import { plainAddress } from "../../../engine/telephony/call-instructions.js";

test("a stream's address is a WebSocket's and nothing else, whatever else is right", () => {
  for (const url of ["wss://voice.example.com/stream", "ws://127.0.0.1:8080/stream"]) {
    assert.equal(plainAddress(url), url);
  }
  for (const url of [
    "https://voice.example.com/stream",
    "wss://voice.example.com/stream?token=secret",
    "wss://voice.example.com/stream#secret",
    "wss://name@voice.example.com/stream",
    "wss://:secret@voice.example.com/stream",
  ]) {
    assert.throws(() => plainAddress(url), RangeError, url);
  }
});
