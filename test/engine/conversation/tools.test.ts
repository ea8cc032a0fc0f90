import assert from "node:assert/strict";
import { test } from "node:test";
import type { TurnKind } from "../../../engine/conversation/effects.js";
import { newConversation, newTurn } from "../../../engine/conversation/state.js";
import { conversationOf, toolNameOf, toolsDoneAfter } from "../../../engine/conversation/tools.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

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

test("tool messages of one question precede another one, which does not repeat them", () => {
  const toolsDone = { question: "book", covered: "book a room", messages: BOOKED, pending: [] };
  const state = { ...newConversation(PLAIN_SETTINGS, []), toolsDone };
  assert.deepEqual(conversationOf(state, turnOf("reply", "cancel all of that")), {
    history: [],
    toolMessages: [...BOOKED, { role: "user", content: "cancel all of that" }],
  });
  assert.deepEqual(conversationOf(state, turnOf("reply", "book a room today")), {
    history: [{ role: "user", content: "book" }],
    toolMessages: [...BOOKED, { role: "user", content: "today" }],
  });
});

test("tool messages are dropped when their reply, or its rest, was heard, and not for other words of the agent", () => {
  const toolsDone = { question: "", covered: "", messages: BOOKED, pending: [] };
  const state = { ...newConversation(PLAIN_SETTINGS, []), toolsDone };
  const kinds = ["reply", "resumed", "greeting", "apology", "reminder", "farewell"] as const;
  const kept = kinds.filter(
    (kind) =>
      toolsDoneAfter(state, turnOf(kind, ""), { isOpen: false, isHeard: true }) !== undefined,
  );
  assert.deepEqual(kept, ["greeting", "apology", "reminder", "farewell"]);
});

test("a call is found by its turn: some LLMs number the calls of each reply alike", () => {
  const tools = [
    { kind: "http", name: "book" },
    { kind: "http", name: "find" },
  ] as const;
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools });
  call.send({ type: "opened", resumed: true });
  const nameOf = (turnId: number) => {
    const { turn } = call;
    assert.ok(turn);
    return toolNameOf(call.actor.state, turn, { turnId, callId: "call_1" });
  };
  for (const name of ["book", "find"]) {
    call.clock.advance(1_000);
    call.send({ type: "written", text: name });
    const turnId = call.turn?.id ?? 0;
    // It waits no longer for the tool of the turn before.
    if (call.turn?.waitsForTools === true) call.clock.advance(15_000);
    const toolCalls = [{ id: "call_1", name, argumentsJson: "{}" }];
    call.send({ type: "replyDone", turnId, tokens: 1, toolCalls });
  }
  const second = call.turn?.id ?? 0;
  assert.deepEqual([nameOf(second - 1), nameOf(second)], ["book", "find"]);
  assert.equal(nameOf(second + 1), undefined);
  call.send({ type: "written", text: "and now" });
  assert.deepEqual([nameOf(second - 1), nameOf(second)], ["book", "find"]);
});

test("for a caller who never hears results of tools, the newest turns' messages are kept", () => {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools: [{ kind: "http", name: "book" }] });
  call.send({ type: "opened", resumed: true });
  const counts: number[] = [];
  for (let turn = 0; turn < 12; turn += 1) {
    call.clock.advance(1_000);
    call.send({ type: "written", text: `question ${turn}` });
    const turnId = call.turn?.id ?? 0;
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
  const asked = call.effects.findLast((effect) => effect.type === "requestReply");
  const texts = asked?.history.map(({ content }) => content).join(" ") ?? "";
  assert.match(texts, /question 0 question 1/);
});

/** The LLM's result for a tool call that it made. */
function answerTo(call: RecordedCall, callId: string): unknown {
  const asked = call.effects.findLast((effect) => effect.type === "requestReply");
  const answer = asked?.toolMessages.find(
    (message) => message.role === "tool" && message.toolCallId === callId,
  );
  return answer === undefined ? undefined : JSON.parse(answer.content);
}

const BOOK = { kind: "http", name: "book" } as const;

/** A call whose caller speaks into a tool that is at work. */
function interruptedAtWork(ids: readonly string[] = ["a"]): RecordedCall {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools: [BOOK] });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "book a room" });
  const toolCalls = ids.map((id) => ({ id, name: "book", argumentsJson: "{}" }));
  call.send({ type: "replyDone", turnId: 1, tokens: 1, toolCalls });
  call.clock.advance(1_000);
  call.send({ type: "written", text: "for two" });
  return call;
}

function asks(call: RecordedCall): number {
  return call.effects.filter(({ type }) => type === "requestReply").length;
}

test("several tools are waited for, whatever their order, and however often the caller speaks into them", () => {
  const call = interruptedAtWork(["a", "b"]);
  call.send({ type: "toolDone", turnId: 1, callId: "b", content: "second" });
  call.clock.advance(1_000);
  call.send({ type: "written", text: "by the window" });
  assert.equal(asks(call), 1);
  call.send({ type: "toolDone", turnId: 1, callId: "a", content: "first" });
  assert.equal(asks(call), 2);
  const asked = call.effects.findLast((effect) => effect.type === "requestReply");
  assert.deepEqual(
    asked?.toolMessages.map((message) =>
      message.role === "tool" ? [message.toolCallId, message.content] : message.content,
    ),
    ["", ["a", "first"], ["b", "second"], "for two by the window"],
  );
});

test("tools of two turns with the same id are distinguished", () => {
  const call = interruptedAtWork();
  call.send({ type: "toolDone", turnId: 1, callId: "a", content: "first" });
  const toolCalls = [{ id: "a", name: "book", argumentsJson: "{}" }];
  const turnId = call.turn?.id ?? 0;
  call.send({ type: "replyDone", turnId, tokens: 1, toolCalls });
  call.send({ type: "written", text: "no, three" });
  call.send({ type: "toolDone", turnId: 1, callId: "a", content: "stale" });
  assert.equal(asks(call), 2);
  call.send({ type: "toolDone", turnId, callId: "a", content: "second" });
  const asked = call.effects.findLast((effect) => effect.type === "requestReply");
  const results = asked?.toolMessages.filter(({ role }) => role === "tool");
  assert.deepEqual(
    results?.map(({ content }) => content),
    ["first", "second"],
  );
});

test("a tool that does not return in time is not awaited; its late result is in the next turn", () => {
  const call = interruptedAtWork();
  call.clock.advance(13_900);
  assert.equal(asks(call), 1);
  call.clock.advance(200);
  assert.equal(asks(call), 2);
  assert.deepEqual(answerTo(call, "a"), {
    ok: false,
    error: "it is still running: its result has not arrived yet",
  });
  const turnId = call.turn?.id ?? 0;
  call.send({ type: "replyToken", turnId, text: "One moment please." });
  call.send({ type: "replyDone", turnId, tokens: 1 });
  call.send({
    type: "sentenceGrew",
    turnId,
    index: 0,
    durationMs: 500,
    firstByteAtMs: 0,
    words: [],
  });
  call.send({
    type: "sentenceWhole",
    turnId,
    index: 0,
    durationMs: 500,
    firstByteAtMs: 0,
    words: [],
  });
  call.clock.advance(2_000);
  assert.equal(call.turn, undefined);
  call.send({ type: "toolDone", turnId: 1, callId: "a", content: '"booked"' });
  call.send({ type: "written", text: "and now" });
  assert.equal(answerTo(call, "a"), "booked");
  assert.deepEqual(call.crashes, []);
});

test("DTMF that was stopped is reported as such, and not awaited", () => {
  const tools = [{ kind: "sendDigits", name: "sendDigits" }] as const;
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "press one" });
  const toolCalls = [{ id: "k", name: "sendDigits", argumentsJson: "{}" }];
  call.send({ type: "replyToken", turnId: 1, text: "I press it." });
  call.send({ type: "replyDone", turnId: 1, tokens: 1, toolCalls });
  call.send({ type: "written", text: "no, wait" });
  assert.equal(asks(call), 2);
  assert.deepEqual(answerTo(call, "k"), {
    ok: false,
    error: "it was stopped before its result arrived: it may or may not have been done",
  });
});

/**
 * How many tools are started if an LLM makes this many calls at once, and how many of those calls its messages
 * contain.
 */
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

test("of the LLM's concurrent tool calls eight are started, and the others are ignored", () => {
  assert.deepEqual(startedOf(8), { ran: 8, told: 8 });
  assert.deepEqual(startedOf(9), { ran: 8, told: 8 });
});
