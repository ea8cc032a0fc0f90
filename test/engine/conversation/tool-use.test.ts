import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

/** How many tools are started when a model asks for so many at once, and how many of those calls it is told that it made. */
function startedOf(requestedCount: number) {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools: [{ kind: "http", name: "book" }] });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "book them all" });
  const turnId = call.turn?.id ?? 0;
  const toolCalls = Array.from({ length: requestedCount }, (_, at) => ({
    id: `${at}`,
    name: "book",
    argumentsJson: "{}",
  }));
  call.send({ type: "replyDone", turnId, tokens: 1, toolCalls });
  const ran = call.effects.filter(({ type }) => type === "runTool").length;
  const [asked] = call.turn?.toolMessages ?? [];
  return { ran, told: asked?.role === "assistant" ? asked.toolCalls?.length : undefined };
}

test("of the tools that a model asks for at once eight are started, and the others were never asked for", () => {
  assert.deepEqual(startedOf(8), { ran: 8, told: 8 });
  assert.deepEqual(startedOf(9), { ran: 8, told: 8 });
});
