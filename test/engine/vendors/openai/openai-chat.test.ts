import assert from "node:assert/strict";
import { test } from "node:test";
import { openAi } from "../../../../engine/vendors/openai/openai-chat.js";
import { AskedServer, SAID } from "../asked-server.js";

const asked = new AskedServer();

const bodyFor = (modelId: string, settings = {}) =>
  asked.completionBody(openAi(asked.given(settings), asked.context), modelId);

const COMMON = { messages: SAID, stream: true, stream_options: { include_usage: true } };

test("without a key OpenAI is not asked", () => {
  assert.throws(() => openAi(asked.given({}, ""), asked.context), {
    vendor: "openai",
    fault: "unauthorized",
    message: "openai: no API key is configured",
  });
});

test("a model that only speaks gets the limit and the temperature as they are", async () => {
  for (const model of ["gpt-4o-mini", "gpt-5-chat-latest", "omni", "o-1", "my-o3"]) {
    assert.deepEqual(await bodyFor(model, { reasoningEffort: "high" }), {
      ...COMMON,
      model,
      max_completion_tokens: 200,
      temperature: 0.4,
    });
  }
});

test("a model that thinks first gets room for that, an effort, and no temperature", async () => {
  for (const [model, settings, reasoning_effort] of [
    ["o3", {}, "low"],
    ["o1-mini", { reasoningEffort: "none" }, "none"],
    ["gpt-5", { reasoningEffort: "minimal" }, "minimal"],
    ["gpt-5-mini", { reasoningEffort: "low" }, "low"],
    ["o4-mini", { reasoningEffort: "medium" }, "medium"],
    ["o3", { reasoningEffort: "high" }, "high"],
  ] as const) {
    assert.deepEqual(await bodyFor(model, settings), {
      ...COMMON,
      model,
      max_completion_tokens: 1_224,
      reasoning_effort,
    });
  }
});

test("an effort that there is not is refused with those that there are", () => {
  assert.throws(() => openAi(asked.given({ reasoningEffort: "higher" }), asked.context), {
    vendor: "openai",
    fault: "refused",
    message: "openai: setting reasoningEffort: expected one of none, minimal, low, medium, high",
  });
});
