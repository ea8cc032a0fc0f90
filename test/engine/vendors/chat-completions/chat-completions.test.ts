import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  ChatCompletions,
  type ChatDialect,
} from "../../../../engine/vendors/chat-completions/chat-completions.js";
import type { CompletionRequest } from "../../../../engine/vendors/contracts.js";
import { openAi } from "../../../../engine/vendors/openai/openai.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { describeAnswerLimits } from "../answer-limits.js";
import { never } from "../sandboxed-vendors.js";
import { ScriptedWebServer } from "../scripted-web-server.js";

const clock = new VirtualClock();
const connections = new Connections({ clock, allowPrivateAddresses: true });
const server = new ScriptedWebServer();
before(() => server.start());
after(async () => {
  await connections.close();
  await server.close();
});

const DIALECT: ChatDialect = {
  vendor: "acme",
  publicUrl: "",
};
const REQUEST: CompletionRequest = {
  modelId: "m",
  messages: [{ role: "user", content: "12345678" }],
  temperature: 0,
  maxTokens: 9,
};

function modelOf(dialect = DIALECT, apiKey = "the-key"): ChatCompletions {
  const given = { baseUrl: `${server.url}/v1`, apiKey, settings: {}, clientOwned: false };
  return new ChatCompletions(dialect, given, { clock, connections });
}

/** What is received of a response, and its result. */
async function heard(body: string, take: (token: string) => void = () => undefined) {
  server.answer = (response) => response.end(body);
  const tokens: string[] = [];
  let toolUses = 0;
  const onToken = (token: string) => {
    tokens.push(token);
    take(token);
  };
  const request = {
    ...REQUEST,
    onToolUse: () => {
      toolUses += 1;
    },
  };
  const outcome = await modelOf()
    .complete(request, onToken, never())
    .catch((error: unknown) => error);
  return { tokens, toolUses, outcome };
}

const event = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;
const said = (content: string | null, more = {}) =>
  event({ choices: [{ delta: { content, ...more } }] });
const ended = (finish_reason: string | null) => event({ choices: [{ delta: {}, finish_reason }] });
const DONE = "data: [DONE]\n\n";
const WHOLE = { finishReason: "other", toolCalls: [], promptTokens: 2, completionTokens: 1 };

test("a model is requested below its address, with its key, as a stream", async () => {
  await heard(DONE);
  const asked = server.requests.at(-1);
  assert.deepEqual([asked?.method, asked?.url], ["POST", "/v1/chat/completions"]);
  const { authorization, accept, "content-type": type } = asked?.headers ?? {};
  assert.deepEqual(
    [authorization, accept, type],
    ["Bearer the-key", "text/event-stream", "application/json"],
  );
  assert.deepEqual(JSON.parse(asked?.body ?? ""), {
    model: "m",
    messages: REQUEST.messages,
    stream: true,
    max_tokens: 9,
    temperature: 0,
  });
});

test("a model that thinks before it speaks has room for 1,024 tokens of thoughts", async () => {
  server.answer = (response) => response.end(DONE);
  const given = { baseUrl: server.url, apiKey: "k", settings: {}, clientOwned: false };
  const thinking = openAi(given, { clock, connections });
  await thinking.complete({ ...REQUEST, modelId: "o3" }, () => undefined, never());
  const { max_completion_tokens } = JSON.parse(server.requests.at(-1)?.body ?? "");
  assert.equal(max_completion_tokens, 9 + 1_024);
});

test("a server without a key is requested without one, and any other is not requested", async () => {
  server.answer = (response) => response.end(DONE);
  const open = modelOf({ ...DIALECT, isKeyOptional: true }, "");
  await open.complete(REQUEST, () => undefined, never());
  assert.equal(server.requests.at(-1)?.headers.authorization, undefined);
  assert.throws(() => modelOf(DIALECT, ""), { vendor: "acme", fault: "unauthorized" });
});

test("words are heard as they come, whether they are said or refused, and nothing where there are none", async () => {
  const body = [
    said("Yes"),
    said(""),
    said(null, { refusal: "No" }),
    said("both", { refusal: "not this" }),
    event({ choices: [] }),
    event({}),
    event({ choices: [{}, { delta: { content: "another" } }] }),
    event({ choices: [{ delta: null }], error: null, x_groq: { error: null } }),
    DONE,
    said("behind"),
  ].join("");
  assert.deepEqual(await heard(body), {
    tokens: ["Yes", "No", "both"],
    toolUses: 0,
    outcome: { ...WHOLE, completionTokens: 3 },
  });
});

test("why a reply ended is what was said of it last", async () => {
  for (const [reasons, expected] of [
    [["stop"], "stop"],
    [["length"], "length"],
    [["content_filter"], "other"],
    [["stop", null], "stop"],
    [["stop", "tool_calls"], "other"],
    [[], "other"],
  ] as const) {
    const { outcome } = await heard([said("a"), ...reasons.map(ended), DONE].join(""));
    assert.deepEqual(outcome, { ...WHOLE, finishReason: expected }, String(reasons));
  }
});

test("tokens are the vendor's last count, wherever it is, and estimated without one", async () => {
  for (const [usages, promptTokens, completionTokens] of [
    [[{ usage: { prompt_tokens: 70, completion_tokens: 30 } }], 70, 30],
    [[{ x_groq: { usage: { prompt_tokens: 71, completion_tokens: 31 } } }], 71, 31],
    [[{ usage: { prompt_tokens: 70, completion_tokens: 30 } }, {}, { usage: null }], 70, 30],
    [[{ usage: { prompt_tokens: 1 } }, { usage: { prompt_tokens: 70 } }], 70, 3],
    [[{ usage: { completion_tokens: 0 } }], 2, 0],
    [[], 2, 3],
  ] as const) {
    const { outcome } = await heard(
      [said("12345"), said("6789"), ...usages.map(event), DONE].join(""),
    );
    assert.deepEqual(outcome, { ...WHOLE, promptTokens, completionTokens });
  }
});

test("a listener is notified of each piece of a call", async () => {
  const call = (fragment: object) => said(null, { tool_calls: [fragment] });
  const first = { index: 1, id: "a", function: { name: "find", arguments: '{"x":' } };
  const second = { index: 0, id: "b", function: { name: "hold", arguments: "{}" } };
  const rest = { index: 1, function: { arguments: "1}" } };
  const body = [call(first), call(second), call(rest), DONE].join("");
  assert.deepEqual(await heard(body), {
    tokens: [],
    toolUses: 3,
    outcome: {
      ...WHOLE,
      toolCalls: [
        { id: "a", name: "find", argumentsJson: '{"x":1}' },
        { id: "b", name: "hold", argumentsJson: "{}" },
      ],
      completionTokens: 5,
    },
  });
});

test("an error in a response is reported with the vendor's name, after the received words", async () => {
  for (const [body, tokens, fault, message] of [
    ["", [], "disconnected", "acme: the answer broke off"],
    [said("a"), ["a"], "disconnected", "acme: the answer broke off"],
    [said("a") + said("b").trim(), ["a"], "disconnected", "acme: the answer broke off"],
    [`${said("a")}data: {half\n\n`, ["a"], "badAnswer", "acme: unreadable answer"],
    [`data: ${"x".repeat(256 * 1024 + 1)}`, [], "badAnswer", "acme: unreadable answer"],
    [event({ error: { code: 5, message: "the-key" } }), [], "unavailable", "acme broke off"],
    [event({ x_groq: { error: "busy" } }), [], "unavailable", "acme broke off"],
  ] as const) {
    const { outcome, ...others } = await heard(body);
    assert.deepEqual(others, { tokens, toolUses: 0 });
    assert.ok(outcome instanceof Error && "fault" in outcome && "vendor" in outcome);
    assert.deepEqual([outcome.vendor, outcome.fault, outcome.message], ["acme", fault, message]);
  }
});

test("a reply is complete though nothing follows its end mark", async () => {
  assert.deepEqual((await heard(said("a") + DONE.trim())).outcome, WHOLE);
});

describeAnswerLimits({
  what: "a chat completion",
  ask: (given, context, onPiece) =>
    new ChatCompletions(DIALECT, given, context).complete(REQUEST, onPiece, never()),
  limits: { firstByteMs: 20_000, betweenBytesMs: 10_000, totalMs: 180_000 },
  piece: said("a"),
  skipped: ":",
  end: DONE,
  lineMaxChars: 256 * 1024,
});

test("an error of the listener does not count as the vendor's", async () => {
  const broken = new RangeError("a bug of ours");
  const fail = () => {
    throw broken;
  };
  assert.equal((await heard(said("a") + DONE, fail)).outcome, broken);
});
