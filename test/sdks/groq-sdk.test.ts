import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { Groq, toFile } from "groq-sdk";
import { noFaults } from "../../engine/sandbox/faults.js";
import { startSandbox } from "../../engine/sandbox/sandbox.js";
import { functionTool, wavOf } from "./sdk-inputs.js";

const sandbox = await startSandbox({ apiKey: "good" });
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

/** The SDK puts `/openai/v1` behind its base address by itself. */
const baseURL = urls.groq.replace("/openai/v1", "");
const client = new Groq({ apiKey: "good", baseURL, maxRetries: 0, logLevel: "off" });
const model = "openai/gpt-oss-120b";
const messages = [{ role: "user" as const, content: "say one two three" }];

test("chat, whole and streamed; the usage comes unasked", async () => {
  const whole = await client.chat.completions.create({ model, messages });
  let text = "";
  let tokens = 0;
  for await (const chunk of await client.chat.completions.create({
    model,
    messages,
    stream: true,
  })) {
    text += chunk.choices[0]?.delta.content ?? "";
    tokens = chunk.x_groq?.usage?.completion_tokens ?? tokens;
  }

  assert.equal(whole.choices[0]?.message.content, "one two three");
  assert.equal(text, "one two three");
  assert.equal(tokens, 3);
});

test("a tool is called, and its result is talked about", async () => {
  const question = { role: "user" as const, content: 'use look_up with {"order":"12"}' };
  const tools = [functionTool("look_up")];
  const asked = await client.chat.completions.create({ model, messages: [question], tools });
  const message = asked.choices[0]?.message;
  const [call] = message?.tool_calls ?? [];
  assert.ok(message !== undefined && call !== undefined);
  const result = { role: "tool" as const, tool_call_id: call.id, content: "shipped" };
  const told = await client.chat.completions.create({
    model,
    messages: [question, message, result],
    tools,
  });

  assert.deepEqual(JSON.parse(call.function.arguments), { order: "12" });
  assert.equal(told.choices[0]?.message.content, "The tool says: shipped.");
});

test("models are listed, found by names with a slash too, and not found", async () => {
  const ids = (await client.models.list()).data.map(({ id }) => id);

  assert.ok(ids.includes(model));
  assert.equal((await client.models.retrieve("openai/gpt-oss-20b")).owned_by, "groq");
  await assert.rejects(client.models.retrieve("llama-0"), Groq.NotFoundError);
});

test("a recording is transcribed", async () => {
  const file = await toFile(wavOf("Where is my order?", 44_100), "speech.wav");
  const heard = await client.audio.transcriptions.create({ model: "whisper-large-v3", file });

  assert.equal(heard.text, "Where is my order?");
});

test("a wrong key and every refusal arrive as the SDK's own error classes", async () => {
  const stranger = new Groq({ apiKey: "bad", baseURL, maxRetries: 0 });
  const ask = (asking = client) => asking.chat.completions.create({ model, messages });
  const classes = [
    ["unauthorized", Groq.AuthenticationError],
    ["badRequest", Groq.BadRequestError],
    ["notFound", Groq.NotFoundError],
    ["rateLimited", Groq.RateLimitError],
    ["serverError", Groq.InternalServerError],
    ["overloaded", Groq.InternalServerError],
    ["disconnectBeforeFirstByte", Groq.APIConnectionError],
  ] as const;

  await assert.rejects(ask(stranger), Groq.AuthenticationError);
  await assert.rejects(stranger.models.list(), Groq.AuthenticationError);
  for (const [fault, errorClass] of classes) {
    faults.groq = { fault, times: 1 };
    await assert.rejects(ask(), errorClass, fault);
  }
});

test("after a refusal with retry-after the SDK waits that long and asks again", async () => {
  const patient = new Groq({ apiKey: "good", baseURL, maxRetries: 1 });
  faults.groq = { fault: "rateLimited", times: 1 };
  const startMs = performance.now();
  const { choices } = await patient.chat.completions.create({ model, messages });

  assert.equal(choices[0]?.message.content, "one two three");
  assert.ok(performance.now() - startMs >= 990);
});
