import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const SLOW = { kind: "http", name: "slow", background: "reply" } as const;
const FAST = { kind: "http", name: "fast" } as const;

/** A call whose caller has asked for something. */
function askedCall(): RecordedCall {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools: [SLOW, FAST] });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "book a table" });
  return call;
}

/** The LLM ends its reply with calls of tools, given as `id name`. */
function calls(call: RecordedCall, ...named: readonly string[]): void {
  const toolCalls = named.map((each) => {
    const [id = "", name = ""] = each.split(" ");
    return { id, name, argumentsJson: "{}" };
  });
  call.send({ type: "replyDone", turnId: call.turn?.id ?? 0, tokens: 1, toolCalls });
}

/** What the newest request to the LLM has behind the question: ids of calls, and their results. */
function newestMessages(call: RecordedCall) {
  const asked = call.effects.findLast((effect) => effect.type === "requestReply");
  const questions = asked?.history.map(({ content }) => content) ?? [];
  const told = asked?.toolMessages.map((message) => {
    if (message.role === "tool") return `${message.toolCallId}: ${message.content.slice(0, 20)}`;
    const ids = message.role === "assistant" ? message.toolCalls?.map(({ id }) => id) : undefined;
    return ids?.join(" ") ?? message.content;
  });
  return [...questions, ...(told ?? [])];
}

const STARTED = '{"ok":true,"status":';

test("a tool keeps its result where the LLM gives its call the id of one in the background", () => {
  const call = askedCall();
  calls(call, "call_1 slow");
  calls(call, "call_1 fast");
  const run = call.effects.filter((effect) => effect.type === "runTool");
  assert.deepEqual(
    run.map((effect) => [effect.call.id, effect.call.name]),
    [
      ["call_1", "slow"],
      ["call_1_1_2", "fast"],
    ],
  );
  call.send({ type: "toolDone", turnId: 1, callId: "call_1_1_2", content: "quick" });
  assert.deepEqual(newestMessages(call), [
    "book a table",
    "call_1",
    `call_1: ${STARTED}`,
    "call_1_1_2",
    "call_1_1_2: quick",
  ]);
  assert.equal(call.actor.state.background.calls.length, 1);
});

test("a result that comes during the turn of its own call is read behind this call", () => {
  const call = askedCall();
  calls(call, "a slow", "b fast");
  call.send({ type: "toolDone", turnId: 1, callId: "a", content: "slow one" });
  call.send({ type: "toolDone", turnId: 1, callId: "b", content: "quick" });
  assert.deepEqual(newestMessages(call), [
    "book a table",
    "a b",
    `a: ${STARTED}`,
    "b: quick",
    "a_result",
    "a_result: slow one",
  ]);
});

function asks(call: RecordedCall): number {
  return call.effects.filter(({ type }) => type === "requestReply").length;
}

/** A call in which the result of a tool has started a turn, whose reply is being generated. */
function toldCall(): RecordedCall {
  const call = askedCall();
  calls(call, "a slow");
  const turnId = call.turn?.id ?? 0;
  call.send({ type: "replyToken", turnId, text: "I am on it." });
  call.send({ type: "replyDone", turnId, tokens: 1 });
  speak(call);
  call.send({ type: "toolDone", turnId, callId: "a", content: "booked" });
  call.clock.advance(1_000);
  assert.deepEqual([call.turn?.id, asks(call)], [2, 3]);
  return call;
}

/** The sentence that the agent has begun is heard to its end. */
function speak(call: RecordedCall): void {
  const turnId = call.turn?.id ?? 0;
  const firstByteAtMs = call.clock.monotonicMs();
  call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: 800, firstByteAtMs });
  call.clock.advance(800);
}

test("a result whose turn was cut before it was heard is told once more, and not a third time", () => {
  const call = toldCall();
  call.send({ type: "controlRequested", command: { type: "mute" } });
  call.clock.advance(2_000);
  assert.deepEqual([call.turn, asks(call)], [undefined, 3]);
  call.send({ type: "controlRequested", command: { type: "unmute" } });
  call.clock.advance(1_000);
  assert.equal(asks(call), 4);
  assert.deepEqual(newestMessages(call).slice(-2), ["a_result", "a_result: booked"]);
  call.send({ type: "controlRequested", command: { type: "mute" } });
  call.send({ type: "controlRequested", command: { type: "unmute" } });
  call.clock.advance(5_000);
  assert.equal(asks(call), 4);
});

test("a result that the caller has heard in another reply is not told again", () => {
  const call = toldCall();
  call.send({ type: "written", text: "and for two" });
  const turnId = call.turn?.id ?? 0;
  assert.equal(asks(call), 4);
  call.send({ type: "replyToken", turnId, text: "Your table for two is booked." });
  call.send({ type: "replyDone", turnId, tokens: 1 });
  speak(call);
  call.clock.advance(5_000);
  assert.deepEqual([call.turn, asks(call)], [undefined, 4]);
});

test("a result whose reply failed is told behind the apology", () => {
  const call = toldCall();
  call.send({ type: "replyFailed", turnId: 2, retryable: true });
  call.send({ type: "replyFailed", turnId: 3, retryable: true });
  assert.equal(call.turn?.kind, "apology");
  assert.equal(asks(call), 4);
  speak(call);
  call.clock.advance(1_000);
  assert.equal(asks(call), 5);
  assert.deepEqual(newestMessages(call).slice(-2), ["a_result", "a_result: booked"]);
});

test("results that make the LLM call tools again and again end in an answer", () => {
  const call = askedCall();
  const mustAnswer = () =>
    call.effects.findLast((effect) => effect.type === "requestReply")?.mustAnswer === true;
  for (let round = 1; round <= 4; round += 1) {
    assert.equal(mustAnswer(), false);
    const turnId = call.turn?.id ?? 0;
    calls(call, `c${round} slow`);
    if (round < 4) {
      // The LLM says nothing while the tool runs, and its result starts the next turn.
      call.send({ type: "replyToken", turnId, text: "One moment." });
      call.send({ type: "replyDone", turnId, tokens: 1 });
      speak(call);
      call.send({ type: "toolDone", turnId, callId: `c${round}`, content: "not yet" });
      call.clock.advance(1_000);
    }
  }
  assert.equal(mustAnswer(), true);
  assert.equal(call.effects.filter(({ type }) => type === "runTool").length, 4);
  const turnId = call.turn?.id ?? 0;
  call.send({ type: "replyToken", turnId, text: "I could not book it." });
  call.send({ type: "replyDone", turnId, tokens: 1 });
  speak(call);
  call.send({ type: "written", text: "try again" });
  assert.equal(mustAnswer(), false);
});
