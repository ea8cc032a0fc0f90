import assert from "node:assert/strict";
import { test } from "node:test";
import { withMessages } from "../../../engine/conversation/state.js";
import {
  historyForModel,
  KEPT_RESULT_CHARS_MAX,
  TOOL_EXCHANGES_CHARS_MAX,
  TOOL_EXCHANGES_MAX,
  toolExchanges,
} from "../../../engine/conversation/tool-history.js";
import {
  ollamaMessages,
  openAiMessages,
} from "../../../engine/vendors/chat-completions/chat-messages.js";
import { mistralCallId } from "../../../engine/vendors/openai-compatible/openai-compatible.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const SLOTS = '{"ok":true,"slots":["10:00","11:30"]}';

/** One turn of the agent: it calls tools, given as `id result`, and its answer is heard. */
function answered(call: RecordedCall, question: string, uses: readonly string[], answer: string) {
  call.clock.advance(1_000);
  call.send({ type: "written", text: question });
  const turnId = call.turn?.id ?? 0;
  for (const use of uses) {
    const [callId = "", content = ""] = use.split(" ");
    const toolCalls = [{ id: callId, name: "book", argumentsJson: "{}" }];
    call.send({ type: "replyDone", turnId, tokens: 1, toolCalls });
    call.send({ type: "toolDone", turnId, callId, content });
  }
  call.send({ type: "replyToken", turnId, text: answer });
  call.send({ type: "replyDone", turnId, tokens: 1 });
  const firstByteAtMs = call.clock.monotonicMs();
  call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: 800, firstByteAtMs });
  call.clock.advance(1_000);
}

function tooledCall(history: ConstructorParameters<typeof RecordedCall>[1] = []): RecordedCall {
  const tools = [{ kind: "http", name: "book" }] as const;
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools }, history);
  call.send({ type: "opened", resumed: true });
  return call;
}

function readByModel(call: RecordedCall) {
  const asked = call.effects.findLast((effect) => effect.type === "requestReply");
  return [...historyForModel(asked?.history ?? [], true), ...(asked?.toolMessages ?? [])];
}

test("results stay after a heard reply, in this call and in the one that continues it", () => {
  const call = tooledCall();
  answered(call, "what is free", [`call_1 ${SLOTS}`, 'call_1 {"ok":true,"held":2}'], "Ten.");
  answered(call, "thanks", [], "Welcome.");
  call.send({ type: "written", text: "and the other one" });
  const expected = [
    "user what is free",
    "assistant earlier_1",
    `tool ${SLOTS}`,
    "assistant earlier_2",
    'tool {"ok":true,"held":2}',
    "assistant Ten.",
    "user thanks",
    "assistant Welcome.",
    "user and the other one",
  ];
  const shown = (each: RecordedCall) =>
    readByModel(each).map((message) => {
      const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
      return `${message.role} ${calls.map(({ id }) => id).join() || message.content}`;
    });
  assert.deepEqual(shown(call), expected);
  const added = call.effects.flatMap((each) => (each.type === "saveTurn" ? each.save.added : []));
  const continued = tooledCall(withMessages([], added));
  continued.send({ type: "written", text: "and the other one" });
  assert.deepEqual(shown(continued), expected);
});

test("the newest calls are kept, within their number and their characters", () => {
  const call = tooledCall();
  for (let turn = 1; turn <= 8; turn += 1) {
    const uses = [1, 2, 3].map((each) => `c${each} ${turn}.${each}`);
    answered(call, `q${turn}`, uses, "Done.");
  }
  const kept = call.actor.state.record.history.flatMap(({ tools = [] }) => tools);
  assert.equal(kept.length, TOOL_EXCHANGES_MAX);
  assert.deepEqual([kept[0]?.result, kept.at(-1)?.result], ["3.3", "8.3"]);
  const long = "x".repeat(TOOL_EXCHANGES_CHARS_MAX);
  for (let turn = 1; turn <= 4; turn += 1) answered(call, `r${turn}`, [`c ${long}`], "Done.");
  const cut = call.actor.state.record.history.flatMap(({ tools = [] }) => tools);
  assert.deepEqual(
    cut.map(({ result }) => result.length),
    [KEPT_RESULT_CHARS_MAX, KEPT_RESULT_CHARS_MAX],
  );
  assert.match(cut[0]?.result ?? "", /x \[cut\]$/);
});

test("a call without a result is not kept, and each result belongs to the newest call of its id", () => {
  const calls = (name: string) => [{ id: "a", name, argumentsJson: "{}" }];
  assert.deepEqual(
    toolExchanges([
      { role: "assistant", content: "", toolCalls: calls("find") },
      { role: "tool", toolCallId: "a", content: "1" },
      { role: "user", content: "no" },
      { role: "assistant", content: "", toolCalls: calls("book") },
      { role: "tool", toolCallId: "a", content: "2" },
      { role: "assistant", content: "", toolCalls: [{ id: "b", name: "x", argumentsJson: "{}" }] },
    ]),
    [
      { name: "find", argumentsJson: "{}", result: "1" },
      { name: "book", argumentsJson: "{}", result: "2" },
    ],
  );
});

test("every vendor gets earlier results in its own form, and none without tools", () => {
  const tools = [{ name: "book", argumentsJson: '{"at":10}', result: "7" }];
  const history = [
    { role: "user", content: "book" },
    { role: "assistant", content: "Done.", tools },
  ] as const;
  const messages = historyForModel(history, true);
  const origin = "o m";
  const openAi = (id: string, signed = {}) => [
    { role: "user", content: "book" },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { ...signed, id, type: "function", function: { name: "book", arguments: '{"at":10}' } },
      ],
    },
    { role: "tool", tool_call_id: id, content: "7" },
    { role: "assistant", content: "Done." },
  ];
  assert.deepEqual(openAiMessages(messages, { origin }), openAi("earlier_1"));
  const mistral = openAiMessages(messages, { origin, callIdOf: mistralCallId });
  assert.deepEqual(mistral, openAi(mistralCallId("earlier_1")));
  const google = { thought_signature: "skip_thought_signature_validator" };
  assert.deepEqual(
    openAiMessages(messages, { origin, signsToolCalls: true }),
    openAi("earlier_1", { extra_content: { google } }),
  );
  assert.deepEqual(ollamaMessages(messages, { origin }).slice(1, 3), [
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "earlier_1", function: { name: "book", arguments: { at: 10 } } }],
    },
    { role: "tool", tool_call_id: "earlier_1", tool_name: "book", content: "7" },
  ]);
  assert.deepEqual(
    historyForModel(history, false).map(({ content }) => content),
    ["book", "Done."],
  );
});
