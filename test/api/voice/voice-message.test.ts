import assert from "node:assert/strict";
import { test } from "node:test";
import { errorMessage, voiceMessage } from "../../../api/voice/voice-message.js";
import type { ClientMessage } from "../../../engine/conversation/effects.js";

const LINE = { agentName: "Ada", historyKey: "key" };

const CONTRACT: readonly (readonly [ClientMessage, unknown])[] = [
  [{ type: "connected" }, { type: "connected", agentName: "Ada", historyKey: "key" }],
  [
    { type: "transcript", role: "user", text: 'say "hi"\n', isFinal: false },
    { type: "transcript", payload: { role: "user", text: 'say "hi"\n', isFinal: false } },
  ],
  [
    { type: "transcript", role: "assistant", text: "hi", isFinal: true },
    { type: "transcript", payload: { role: "assistant", text: "hi", isFinal: true } },
  ],
  [{ type: "audioStop" }, { type: "audioStop" }],
  [{ type: "audioEnd" }, { type: "audioEnd" }],
  [
    { type: "error", reason: "sttFailed", message: "no" },
    { type: "error", payload: { message: "no", code: "speech_recognition_failed" } },
  ],
];

test("every message is the contract's JSON, without a field more", () => {
  for (const [message, expected] of CONTRACT) {
    assert.deepEqual(JSON.parse(voiceMessage(message, LINE)), expected);
  }
});

test("an error can be sent before the conversation exists", () => {
  assert.deepEqual(JSON.parse(errorMessage("overloaded", "no")), {
    type: "error",
    payload: { message: "no", code: "overloaded" },
  });
});
