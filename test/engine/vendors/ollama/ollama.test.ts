import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { CompletionRequest } from "../../../../engine/vendors/contracts.js";
import { OLLAMA } from "../../../../engine/vendors/ollama/ollama.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import type { VendorSettings } from "../../../../engine/vendors/vendor-settings.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { describeAnswerLimits } from "../answer-limits.js";
import { offersOf } from "../asked-server.js";
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

const REQUEST: CompletionRequest = {
  modelId: "m",
  messages: [{ role: "user", content: "12345678" }],
  temperature: 0.4,
  maxTokens: 9,
};

function modelOf(settings: VendorSettings["settings"] = {}) {
  const given = { baseUrl: `${server.url}/at`, apiKey: "", settings, clientOwned: false };
  assert.ok(OLLAMA.llm);
  return OLLAMA.llm.client(given, { clock, connections });
}

/** What is received of a response, and its result. */
async function heard(body: string, status = 200) {
  server.answer = (response) => response.writeHead(status).end(body);
  const tokens: string[] = [];
  const outcome = await modelOf()
    .complete(REQUEST, (token) => tokens.push(token), never())
    .catch((error: unknown) => error);
  return { tokens, outcome };
}

const line = (said: object) => `${JSON.stringify(said)}\n`;
const words = (content: string) => line({ message: { content } });
const DONE = line({ done: true });
const WHOLE = { finishReason: "other", toolCalls: [], promptTokens: 2, completionTokens: 1 };

const OFFERS = `
ollama llm Ollama; llama3.2 "Llama 3.2 3B" free (Runs on a laptop); llama3.1 "Llama 3.1 8B" free; qwen2.5 "Qwen 2.5 7B" free; contextTokens number baseUrl url
`;

test("Ollama offers models to reply, without a key, and is looked for on the same machine", () => {
  assert.equal(offersOf([OLLAMA]), OFFERS);
  assert.deepEqual(OLLAMA.apiKey, { isRequired: false });
  assert.deepEqual(OLLAMA.address, {
    variable: "OLLAMA_BASE_URL",
    publicUrl: "http://127.0.0.1:11434",
    protocols: ["http:", "https:"],
  });
});

test("a model is requested as lines, to stay in memory, and with the configured context", async () => {
  for (const [settings, keep_alive, num_ctx] of [
    [{}, "10m", undefined],
    [{ keepAlive: "1h30m", contextTokens: 4_096 }, "1h30m", 4_096],
    [{ keepAlive: -1, contextTokens: 256 }, -1, 256],
  ] as const) {
    server.answer = (response) => response.end(DONE);
    await modelOf(settings).complete(REQUEST, () => undefined, never());
    const asked = server.requests.at(-1);
    assert.deepEqual([asked?.method, asked?.url], ["POST", "/at/api/chat"]);
    const { accept, "content-type": type } = asked?.headers ?? {};
    assert.deepEqual([accept, type], ["application/x-ndjson", "application/json"]);
    const options = { temperature: 0.4, num_predict: 9, ...(num_ctx && { num_ctx }) };
    assert.deepEqual(JSON.parse(asked?.body ?? ""), {
      model: "m",
      messages: REQUEST.messages,
      stream: true,
      think: false,
      keep_alive,
      options,
    });
  }
});

test("a setting that Ollama would not take is refused with what it takes", () => {
  const duration = 'expected a duration such as "10m", or a number of seconds';
  const tokens = "expected a whole number from 256 to 10000000";
  for (const [settings, message] of [
    [{ keepAlive: "soon" }, `keepAlive: ${duration}`],
    [{ keepAlive: true }, `keepAlive: ${duration}`],
    [{ contextTokens: 255 }, `contextTokens: ${tokens}`],
    [{ contextTokens: 10_000_001 }, `contextTokens: ${tokens}`],
  ] as const) {
    assert.throws(() => modelOf(settings), {
      fault: "refused",
      message: `ollama: setting ${message}`,
    });
  }
  modelOf({ contextTokens: 10_000_000 });
});

test("words are heard line by line up to the one that ends the reply", async () => {
  const body = [
    words("Yes"),
    words(""),
    line({}),
    line({ message: {} }),
    " \n",
    words(", I am it"),
  ];
  assert.deepEqual(await heard([...body, DONE, words("behind")].join("")), {
    tokens: ["Yes", ", I am it"],
    outcome: { ...WHOLE, completionTokens: 3 },
  });
  const last = line({ message: { content: "all" }, done: true });
  assert.deepEqual(await heard(last), { tokens: ["all"], outcome: WHOLE });
});

test("why a reply ended and what it took is what the last line says, or else an estimate", async () => {
  for (const [last, expected] of [
    [{ done_reason: "stop" }, { finishReason: "stop" }],
    [{ done_reason: "length" }, { finishReason: "length" }],
    [{ done_reason: "load" }, {}],
    [{ prompt_eval_count: 70 }, { promptTokens: 70 }],
    [{ eval_count: 0 }, { completionTokens: 0 }],
  ] as const) {
    const { outcome } = await heard(words("a") + line({ ...last, done: true }));
    assert.deepEqual(outcome, { ...WHOLE, ...expected });
  }
});

test("calls are whole in their line, and count for the estimate", async () => {
  const call = (called: object) => ({ message: { tool_calls: [{ function: called }] } });
  const body = [
    line(call({ name: "find", arguments: { x: 1 } })),
    line(call({ name: "hold" })),
    DONE,
  ];
  assert.deepEqual(await heard(body.join("")), {
    tokens: [],
    outcome: {
      ...WHOLE,
      toolCalls: [
        { id: "call_1", name: "find", argumentsJson: '{"x":1}' },
        { id: "call_2", name: "hold", argumentsJson: "{}" },
      ],
      completionTokens: 5,
    },
  });
});

test("an error in a response is reported after the received words", async () => {
  const whole = line({ message: { content: "b" }, done: true }).trim();
  for (const [body, tokens, fault, message] of [
    ["", [], "disconnected", "ollama: the answer broke off"],
    [words("a"), ["a"], "disconnected", "ollama: the answer broke off"],
    [words("a") + words("b").trim(), ["a"], "disconnected", "ollama: the answer broke off"],
    [words("a") + whole.slice(0, -1), ["a"], "disconnected", "ollama: the answer broke off"],
    [`${words("a")}{half\n`, ["a"], "badAnswer", "ollama: unreadable answer"],
    [line({ error: "no\nmemory" }), [], "unavailable", "ollama broke off"],
  ] as const) {
    const { outcome, ...others } = await heard(body);
    assert.deepEqual(others, { tokens });
    assert.ok(outcome instanceof Error && "fault" in outcome && "vendor" in outcome);
    assert.deepEqual([outcome.vendor, outcome.fault, outcome.message], ["ollama", fault, message]);
  }
  assert.deepEqual(await heard(words("a") + whole), { tokens: ["a", "b"], outcome: WHOLE });
});

test("a refusal is reported by the topic of Ollama's text, if it is readable", async () => {
  for (const [status, body, fault, message] of [
    [404, '{"error":"no such model"}', "notFound", "ollama answered 404: about the model"],
    [500, "<html>", "unavailable", "ollama answered 500"],
    [400, '{"error":5}', "refused", "ollama answered 400"],
  ] as const) {
    const { outcome } = await heard(body, status);
    assert.ok(outcome instanceof Error && "fault" in outcome);
    assert.deepEqual([outcome.fault, outcome.message], [fault, message]);
  }
});

test("an error of the listener does not count as Ollama's", async () => {
  server.answer = (response) => response.end(words("a") + DONE);
  const broken = new RangeError("a bug of ours");
  const fail = () => {
    throw broken;
  };
  await assert.rejects(modelOf().complete(REQUEST, fail, never()), broken);
});

describeAnswerLimits({
  what: "an answer of Ollama",
  ask: (given, context, onPiece) => {
    assert.ok(OLLAMA.llm);
    return OLLAMA.llm.client(given, context).complete(REQUEST, onPiece, never());
  },
  limits: { firstByteMs: 180_000, betweenBytesMs: 30_000, totalMs: 600_000 },
  piece: words("a"),
  skipped: " ",
  end: DONE,
  lineMaxChars: 1024 * 1024,
});
