import assert from "node:assert/strict";
import { test } from "node:test";
import { withPassages } from "../../../engine/conversation/passages-note.js";
import { replyTo } from "../../../engine/sandbox/language-model/simulated-language-model.js";
import type { ChatMessage } from "../../../engine/vendors/contracts.js";

const NOTE = 'Passages:\n{"document":"hours.md","text":"The shop closes at four on Saturdays."}';
const history: readonly ChatMessage[] = [
  { role: "system", content: "You are kind." },
  { role: "user", content: "Hello." },
  { role: "assistant", content: "Good day." },
];

test("a turn's passages stand behind the history, with the caller's last words", () => {
  const question = { role: "user", content: "When does the shop close on Saturdays?" } as const;
  const tools: readonly ChatMessage[] = [
    { role: "assistant", content: "", toolCalls: [{ id: "1", name: "look", argumentsJson: "{}" }] },
    { role: "tool", content: "done", toolCallId: "1" },
  ];
  const messages = withPassages([...history, question, ...tools], NOTE);
  assert.deepEqual(messages.slice(0, 3), history);
  assert.deepEqual(messages[3], {
    role: "user",
    content: `${NOTE}\n\nThe caller's words:\n${question.content}`,
  });
  assert.deepEqual(messages.slice(4), tools);
  assert.equal(replyTo(messages.slice(0, 4)), "The shop closes at four on Saturdays.");
});

test("without passages, or before any words of the caller, the conversation stays as it is", () => {
  assert.equal(withPassages(history, ""), history);
  const prompt = history.slice(0, 1);
  assert.equal(withPassages(prompt, NOTE), prompt);
});
