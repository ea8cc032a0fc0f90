import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { noFaults } from "../../../../engine/sandbox/faults.js";
import { startSandbox } from "../../../../engine/sandbox/sandbox.js";
import {
  type ChatAnswer,
  chunksIn,
  giveUpOnceTaken,
  post,
  textIn,
  userSays,
} from "../chat-client.js";

const sandbox = await startSandbox({ apiKey: "sk-good" });
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

const key = { authorization: "Bearer sk-good" };

function ask(vendor: "openai" | "groq", more: object = {}, headers = key): Promise<ChatAnswer> {
  const body = {
    model: "m",
    stream: true,
    messages: userSays("say one two three four five six"),
    ...more,
  };
  return post(`${urls[vendor]}/chat/completions`, body, headers);
}

test("the answer comes as chunks, one token each, and ends with [DONE]", async () => {
  const { status, headers, body } = await ask("openai");
  const chunks = chunksIn(body);

  assert.equal(status, 200);
  assert.match(headers.get("content-type") ?? "", /^text\/event-stream/);
  assert.equal(textIn(body), "one two three four five six");
  assert.equal(chunks.length, 1 + 6 + 1);
  assert.equal(chunks.at(-1)?.choices?.[0]?.finish_reason, "stop");
  assert.ok(body.endsWith("data: [DONE]\n\n"));
  assert.ok(chunks.every(({ object }) => object === "chat.completion.chunk"));
});

test("OpenAI reports usage on request, in a chunk without choices; Groq always, in its own field", async () => {
  const asked = chunksIn((await ask("openai", { stream_options: { include_usage: true } })).body);
  const unasked = chunksIn((await ask("openai")).body);
  const groq = chunksIn((await ask("groq")).body);

  assert.deepEqual(asked.at(-1)?.choices, []);
  assert.equal(asked.at(-1)?.usage?.completion_tokens, 6);
  assert.ok(unasked.every(({ usage }) => usage === undefined));
  assert.ok((groq[0]?.x_groq?.id ?? "") !== "");
  assert.ok((groq.at(-1)?.x_groq?.usage?.total_tokens ?? 0) > 6);
});

test("the token limit cuts the response and is reported as `length`", async () => {
  const { body } = await ask("openai", { max_completion_tokens: 3 });

  assert.equal(textIn(body), "one two three");
  assert.equal(chunksIn(body).at(-1)?.choices?.[0]?.finish_reason, "length");
});

test("without `stream` the answer is one object", async () => {
  const { body } = await ask("openai", { stream: false });

  assert.equal(JSON.parse(body).choices[0].message.content, "one two three four five six");
});

test("what the vendors refuse is refused in their words", async () => {
  const cases: [vendor: "openai" | "groq", more: object, status: number, code: string | null][] = [
    ["openai", { messages: [] }, 400, null],
    ["openai", { temperature: 3 }, 400, null],
    ["openai", { model: "gpt-5-mini", max_tokens: 10 }, 400, "unsupported_parameter"],
    ["openai", { model: "o3", temperature: 0.4 }, 400, "unsupported_value"],
    ["openai", { stream: false, stream_options: {} }, 400, null],
    ["groq", { n: 2 }, 400, null],
    ["groq", { logprobs: true }, 400, null],
  ];
  for (const [vendor, more, status, code] of cases) {
    const answer = await ask(vendor, more);
    assert.equal(answer.status, status, JSON.stringify(more));
    const { error } = JSON.parse(answer.body);
    assert.equal(error.type, "invalid_request_error");
    assert.equal(error.code ?? null, code);
  }
  const wrongKey = await ask("openai", {}, { authorization: "Bearer sk-bad" });
  assert.equal(wrongKey.status, 401);
  assert.equal(JSON.parse(wrongKey.body).error.code, "invalid_api_key");
  assert.equal((await post(`${urls.openai}/chat/completions`, "{", key)).status, 400);
  assert.equal((await post(`${urls.openai}/nothing`, {}, key)).status, 404);
});

test("OpenAI's models from gpt-5.2 on take functions only where they do not think", async () => {
  const tools = [{ type: "function", function: { name: "hold" } }];
  for (const [more, status] of [
    [{ model: "gpt-5.2", tools, reasoning_effort: "low" }, 400],
    [{ model: "gpt-5.2", tools }, 200],
    [{ model: "gpt-5.2", reasoning_effort: "low" }, 200],
    [{ model: "gpt-5.6", tools }, 400],
    [{ model: "gpt-5.6", tools, reasoning_effort: "none" }, 200],
    [{ model: "gpt-5.1", tools, reasoning_effort: "low" }, 200],
    [{ model: "gpt-5.2-chat-latest", tools }, 200],
  ] as const) {
    assert.equal((await ask("openai", more)).status, status, JSON.stringify(more));
  }
});

test("faults before the response: 429 of both kinds, 5xx, and as often as configured", async () => {
  faults.openai = { fault: "rateLimited", times: 1 };
  const limited = await ask("openai");
  faults.openai = { fault: "quotaExceeded", times: 1 };
  const poor = await ask("openai");
  faults.groq = { fault: "overloaded", times: 1 };
  const busy = await ask("groq");

  assert.equal(limited.status, 429);
  assert.equal(limited.headers.get("retry-after"), "1");
  assert.equal(JSON.parse(limited.body).error.code, "rate_limit_exceeded");
  assert.equal(poor.status, 429);
  assert.equal(JSON.parse(poor.body).error.type, "insufficient_quota");
  assert.equal(busy.status, 503);
  assert.equal((await ask("openai")).status, 200);
  assert.equal((await ask("groq")).status, 200);
});

test("faults in mid-stream", async () => {
  faults.openai = { fault: "disconnectMidStream", times: 1 };
  const cut = await ask("openai");
  faults.openai = { fault: "errorMidStream", times: 1 };
  const failed = await ask("openai");
  faults.openai = { fault: "endWithoutDone", times: 1 };
  const endless = await ask("openai");
  faults.openai = { fault: "garbageJson", times: 1 };
  const garbled = await ask("openai");
  faults.openai = { fault: "emptyReply", times: 1 };
  const empty = await ask("openai");

  assert.equal(cut.isWhole, false);
  assert.ok(cut.body.includes("five") && !cut.body.includes("six"));
  assert.equal(failed.isWhole, true);
  assert.ok((chunksIn(failed.body).at(-1)?.error?.message ?? "") !== "");
  assert.ok(endless.isWhole && !endless.body.includes("[DONE]"));
  assert.throws(() => chunksIn(garbled.body));
  assert.equal(textIn(empty.body), "");
  assert.ok(empty.body.endsWith("data: [DONE]\n\n"));
});

test("a reply of ten thousand words really has them", async () => {
  faults.openai = { fault: "longReply" };
  const words = textIn((await ask("openai", { max_completion_tokens: 10 })).body).split(" ");

  assert.equal(words.length, 10_000);
});

test("a stream cut anywhere, with comments and empty pieces, is the same text", async () => {
  faults.openai = { fault: "fragmented" };
  const { body } = await ask("openai", { messages: userSays("say 你好, mañana") });

  assert.equal(textIn(body), "你好, mañana");
  assert.ok(body.includes(": keep-alive"));
});

test("stalls last until the client gives up, and spoil nothing after that", async () => {
  const url = `${urls.openai}/chat/completions`;
  const body = { model: "m", stream: true, messages: userSays("say a b c d e f g") };
  faults.openai = { fault: "stallBeforeFirstByte", times: 1 };
  await giveUpOnceTaken(
    () => faults.openai,
    (signal) => post(url, body, key, { signal }),
  );
  faults.openai = { fault: "stallMidStream", times: 1 };
  const stalled = await post(url, body, key, { until: '" e"' });

  assert.equal(stalled.isWhole, false);
  assert.ok(!stalled.body.includes('" f"'));
  assert.equal((await ask("openai")).status, 200);
});

test("delays: the first token, and the time between tokens", async () => {
  faults.groq = { firstTokenMs: 60, tokenIntervalMs: 10 };
  const startMs = performance.now();
  await ask("groq");

  assert.ok(performance.now() - startMs >= 60 + 5 * 9);
});
