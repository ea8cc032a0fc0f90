import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { Ollama } from "ollama";
import { noFaults } from "../../engine/sandbox/faults.js";
import { startSandbox } from "../../engine/sandbox/sandbox.js";
import { functionTool } from "./sdk-inputs.js";

const sandbox = await startSandbox();
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

const client = new Ollama({ host: urls.ollama });
const model = "llama3.2";
const messages = [{ role: "user", content: "say one two three" }];

test("chat and generate, whole and streamed", async () => {
  const chat = await client.chat({ model, messages });
  const generated = await client.generate({ model, prompt: "say one two three", system: "Brief." });
  let chatText = "";
  for await (const { message } of await client.chat({ model, messages, stream: true })) {
    chatText += message.content;
  }
  let generatedText = "";
  const prompt = "say one two three";
  for await (const { response } of await client.generate({ model, prompt, stream: true })) {
    generatedText += response;
  }

  assert.equal(chat.message.content, "one two three");
  assert.equal(chat.done_reason, "stop");
  assert.equal(generated.response, "one two three");
  assert.equal(generated.eval_count, 3);
  assert.equal(chatText, "one two three");
  assert.equal(generatedText, "one two three");
});

test("a tool is called with an object, and its result is talked about", async () => {
  const question = { role: "user", content: 'use look_up with {"order":"12"}' };
  const tools = [functionTool("look_up")];
  const { message } = await client.chat({ model, messages: [question], tools });
  const result = { role: "tool", tool_name: "look_up", content: "shipped" };
  const told = await client.chat({ model, messages: [question, message, result], tools });

  assert.deepEqual(message.tool_calls?.[0]?.function.arguments, { order: "12" });
  assert.equal(told.message.content, "The tool says: shipped.");
});

test("models are listed, shown and running; the server tells its version", async () => {
  const [listed] = (await client.list()).models;
  const shown = await client.show({ model });
  const [running] = (await client.ps()).models;

  assert.equal(listed?.name, "llama3.2:latest");
  assert.deepEqual(shown.capabilities, ["completion", "tools"]);
  assert.equal(shown.details.format, "gguf");
  assert.ok(Date.parse(String(running?.expires_at)) > Date.now());
  assert.match((await client.version()).version, /^\d+\.\d+\.\d+$/);
});

test("refusals arrive as the SDK's ResponseError with the server's words", async () => {
  const statuses = { notFound: 404, overloaded: 503, serverError: 500 } as const;
  for (const fault of ["notFound", "overloaded", "serverError"] as const) {
    faults.ollama = { fault, times: 1 };
    await assert.rejects(client.chat({ model, messages }), {
      name: "ResponseError",
      status_code: statuses[fault],
    });
  }
  faults.ollama = { fault: "notFound", times: 1 };
  await assert.rejects(client.show({ model }), /try pulling it first/);
});

test("errors in the middle of a stream reach its reader", async () => {
  const read = async (): Promise<void> => {
    const prompt = "count to 20";
    const lines = await client.generate({ model, prompt, stream: true });
    for await (const { response } of lines) assert.ok(typeof response === "string");
  };
  faults.ollama = { fault: "errorMidStream", times: 1 };
  await assert.rejects(read(), /told to fail/);
  faults.ollama = { fault: "endWithoutDone", times: 1 };
  await assert.rejects(read(), /Did not receive done/);
  faults.ollama = { fault: "disconnectMidStream", times: 1 };
  await assert.rejects(read());
});
