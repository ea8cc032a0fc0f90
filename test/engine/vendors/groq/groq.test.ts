import assert from "node:assert/strict";
import { test } from "node:test";
import { GROQ } from "../../../../engine/vendors/groq/groq.js";
import { AskedServer, offersOf, SAID } from "../asked-server.js";

const asked = new AskedServer();

const OFFERS = `
groq llm Groq; openai/gpt-oss-20b "GPT-OSS 20B" free (Fastest answers); openai/gpt-oss-120b "GPT-OSS 120B" starter; reasoningEffort string baseUrl url
`;

test("Groq offers models to reply, and wants a key", () => {
  assert.equal(offersOf([GROQ]), OFFERS);
  assert.deepEqual(GROQ.apiKey, { isRequired: true, variable: "GROQ_API_KEY" });
  assert.deepEqual(GROQ.address, {
    variable: "GROQ_BASE_URL",
    publicUrl: "https://api.groq.com/openai/v1",
    protocols: ["http:", "https:"],
  });
  assert.throws(() => GROQ.llm?.client(asked.given({}, ""), asked.context), {
    vendor: "groq",
    fault: "unauthorized",
  });
});

test("Groq's reasoning models get room for it, and an instruction to hide their reasoning or keep it short", async () => {
  assert.ok(GROQ.llm);
  const client = GROQ.llm.client(asked.given(), asked.context);
  const thinking = { max_completion_tokens: 1_224 };
  for (const [model, parameters] of [
    ["llama-3.1-8b-instant", { max_completion_tokens: 200 }],
    ["qwen/qwen3-32b", { ...thinking, reasoning_format: "hidden" }],
    ["qwen-qwq-32b", { ...thinking, reasoning_format: "hidden" }],
    ["deepseek-r1-distill-llama-70b", { ...thinking, reasoning_format: "hidden" }],
    ["openai/gpt-oss-20b", { ...thinking, reasoning_effort: "low" }],
  ] as const) {
    assert.deepEqual(await asked.completionBody(client, model), {
      model,
      messages: SAID,
      stream: true,
      temperature: 0.4,
      ...parameters,
    });
  }
});
