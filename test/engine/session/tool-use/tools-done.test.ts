import assert from "node:assert/strict";
import { test } from "node:test";
import type { TurnKind } from "../../../../engine/session/effects.js";
import { newSession } from "../../../../engine/session/state.js";
import { conversationOf, toolsDoneAfter } from "../../../../engine/session/tool-use/tools-done.js";
import { newTurn } from "../../../../engine/session/turn.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../../doubles/recorded-call.js";

const MESSAGES_MAX = 40;

const BOOKED = [
  {
    role: "assistant",
    content: "",
    toolCalls: [{ id: "a", name: "book", argumentsJson: "{}" }],
  },
  { role: "tool", toolCallId: "a", content: "booked" },
] as const;

function turnOf(kind: TurnKind, userText: string) {
  const decidedAtMs = 0;
  return newTurn({ id: 2, kind, userText, callerEndedAtMs: 0, decidedAtMs, attempt: 1 });
}

test("what was done for one question is told before another one, of which it says nothing", () => {
  const toolsDone = { asked: "book", covered: "book a room", messages: BOOKED };
  const state = { ...newSession(PLAIN_SETTINGS, []), toolsDone };
  assert.deepEqual(conversationOf(state, turnOf("reply", "cancel all of that")), {
    history: [],
    toolMessages: [...BOOKED, { role: "user", content: "cancel all of that" }],
  });
  assert.deepEqual(conversationOf(state, turnOf("reply", "book a room today")), {
    history: [{ role: "user", content: "book" }],
    toolMessages: [...BOOKED, { role: "user", content: "today" }],
  });
});

test("what was done is forgotten when its reply, or the rest of that, was heard, and not for other words of the agent", () => {
  const toolsDone = { asked: "", covered: "", messages: BOOKED };
  const state = { ...newSession(PLAIN_SETTINGS, []), toolsDone };
  const kinds = ["reply", "resumed", "greeting", "apology", "reminder", "farewell"] as const;
  const kept = kinds.filter(
    (kind) =>
      toolsDoneAfter(state, turnOf(kind, ""), { isOpen: false, isHeard: true }) !== undefined,
  );
  assert.deepEqual(kept, ["greeting", "apology", "reminder", "farewell"]);
});

test("of a caller who never hears what tools did, what the newest turns did is kept", () => {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools: [{ kind: "http", name: "book" }] });
  call.send({ type: "opened", resumed: true });
  const counts: number[] = [];
  for (let turn = 0; turn < 12; turn += 1) {
    call.clock.advance(1_000);
    call.send({ type: "written", text: `question ${turn}` });
    const turnId = call.actor.state.turn?.id ?? 0;
    for (let round = 0; round < 4; round += 1) {
      const toolCalls = [{ id: "a", name: "book", argumentsJson: "{}" }];
      call.send({ type: "replyDone", turnId, tokens: 1, toolCalls });
      call.send({ type: "toolDone", turnId, callId: "a", content: `${turn}` });
    }
    counts.push(call.actor.state.toolsDone?.messages.length ?? 0);
  }
  assert.deepEqual(call.crashes, []);
  assert.deepEqual(counts.slice(0, 7), [0, 8, 17, 26, 35, 8, 17]);
  assert.ok(Math.max(...counts) <= MESSAGES_MAX);
  const asked = call.effects.findLast((effect) => effect.type === "askModel");
  const texts = asked?.history.map(({ content }) => content).join(" ") ?? "";
  assert.match(texts, /question 0 question 1/);
});

/** What the model is told of a call that it asked for. */
function answerTo(call: RecordedCall, callId: string): unknown {
  const asked = call.effects.findLast((effect) => effect.type === "askModel");
  const answer = asked?.toolMessages.find(
    (message) => message.role === "tool" && message.toolCallId === callId,
  );
  return answer === undefined ? undefined : JSON.parse(answer.content);
}

test("a model is told that a tool was stopped at its work, which is no success", () => {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools: [{ kind: "http", name: "book" }] });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "book a room" });
  const toolCalls = [{ id: "a", name: "book", argumentsJson: "{}" }];
  call.send({ type: "replyDone", turnId: 1, tokens: 1, toolCalls });
  call.send({ type: "written", text: "for two" });
  assert.deepEqual(answerTo(call, "a"), {
    ok: false,
    error: "it was stopped before its answer came: it may have been done, or not",
  });
});

test("a model is told that hanging up was put off for the tools that it asked for at once, which is no success", () => {
  const hangup = { kind: "hangup", name: "hangup" } as const;
  const tools = [{ kind: "http", name: "book" }, hangup] as const;
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "book a room and goodbye" });
  const toolCalls = ["book", "hangup"].map((name) => ({ id: name, name, argumentsJson: "{}" }));
  call.send({ type: "replyDone", turnId: 1, tokens: 1, toolCalls });
  call.send({ type: "toolDone", turnId: 1, callId: "book", content: "{}" });
  assert.deepEqual(answerTo(call, "hangup"), {
    ok: false,
    error: "not done yet: first read what the other tools did, then ask for this alone",
  });
});
