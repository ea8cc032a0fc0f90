import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { OpenAI, toFile } from "openai";
import { noFaults } from "../../engine/sandbox/faults.js";
import { startSandbox } from "../../engine/sandbox/sandbox.js";
import { recognizeMp3 } from "../../engine/sandbox/sound/mp3-decoder.js";
import { samplesOf } from "../../engine/sandbox/telephone/telephone-audio.js";
import { decodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";
import { functionTool, wavOf } from "./sdk-inputs.js";

const sandbox = await startSandbox({ apiKey: "good", journal: true });
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

const client = new OpenAI({
  apiKey: "good",
  baseURL: urls.openai,
  maxRetries: 0,
  logLevel: "off",
});
const model = "gpt-6-luna";
const LOOK_UP = functionTool("look_up");

test("chat, whole and streamed, with the usage that is asked for", async () => {
  const messages = [{ role: "user" as const, content: "say one two three" }];
  const whole = await client.chat.completions.create({ model, messages });
  const stream = await client.chat.completions.create({
    model,
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  let tokens = 0;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    tokens = chunk.usage?.completion_tokens ?? tokens;
  }

  assert.equal(whole.choices[0]?.message.content, "one two three");
  assert.equal(text, "one two three");
  assert.equal(tokens, 3);
});

test("chat with a tool: the call, and the words about its result", async () => {
  const question = { role: "user" as const, content: 'use look_up with {"order":"12"}' };
  const stream = client.chat.completions.stream({
    model,
    messages: [question],
    tools: [LOOK_UP],
    reasoning_effort: "none",
  });
  const [choice] = (await stream.finalChatCompletion()).choices;
  const [call] = choice?.message.tool_calls ?? [];
  assert.ok(choice !== undefined && call?.type === "function");
  const result = { role: "tool" as const, tool_call_id: call.id, content: "shipped" };
  const answer = await client.chat.completions.create({
    model,
    messages: [question, choice.message, result],
    tools: [LOOK_UP],
    reasoning_effort: "none",
  });

  assert.equal(choice.finish_reason, "tool_calls");
  assert.deepEqual(JSON.parse(call.function.arguments), { order: "12" });
  assert.equal(answer.choices[0]?.message.content, "The tool says: shipped.");
});

test("responses, whole and streamed by named events", async () => {
  const whole = await client.responses.create({ model, input: "say one two three" });
  const stream = client.responses.stream({ model, input: "say one two three" });
  const names: string[] = [];
  let deltas = "";
  stream.on("event", ({ type }) => names.push(type));
  stream.on("response.output_text.delta", ({ delta }) => {
    deltas += delta;
  });
  const streamed = await stream.finalResponse();

  assert.equal(whole.output_text, "one two three");
  assert.equal(whole.status, "completed");
  assert.equal(whole.usage?.output_tokens, 3);
  assert.equal(streamed.output_text, "one two three");
  assert.equal(deltas, "one two three");
  assert.deepEqual(names.slice(0, 4), [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
  ]);
  assert.deepEqual(names.slice(-4), [
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
});

test("responses with a tool, and a conversation that is only referred to", async () => {
  const tools = [{ type: "function" as const, strict: null, ...LOOK_UP.function }];
  const input = 'use look_up with {"order":"12"}';
  const stream = client.responses.stream({ model, input, tools, instructions: "Be brief." });
  const asked = await stream.finalResponse();
  const [call] = asked.output;
  assert.ok(call?.type === "function_call");
  const output = {
    type: "function_call_output" as const,
    call_id: call.call_id,
    output: "shipped",
  };
  const previous_response_id = asked.id;
  const told = await client.responses.create({ model, input: [output], previous_response_id });
  const recalled = await client.responses.create({
    model,
    input: "what did I just say",
    previous_response_id: told.id,
  });

  assert.deepEqual(JSON.parse(call.arguments), { order: "12" });
  assert.equal(told.output_text, "The tool says: shipped.");
  assert.match(recalled.output_text, /^Before this you said: use look_up/);
  assert.equal((await client.responses.retrieve(told.id)).output_text, told.output_text);
});

test("responses that are cut, forgotten or contradictory", async () => {
  const cut = await client.responses.create({
    model,
    input: "count to 100",
    max_output_tokens: 16,
    store: false,
  });
  const orphan = { type: "function_call_output" as const, call_id: "call_0", output: "x" };

  assert.equal(cut.status, "incomplete");
  assert.equal(cut.incomplete_details?.reason, "max_output_tokens");
  await assert.rejects(client.responses.retrieve(cut.id), OpenAI.NotFoundError);
  await assert.rejects(
    client.responses.create({ model, input: [orphan] }),
    (error) => error instanceof OpenAI.BadRequestError && /No tool call found/.test(error.message),
  );
  await assert.rejects(
    client.responses.create({ model, input: "hi", previous_response_id: cut.id }),
    (error) =>
      error instanceof OpenAI.BadRequestError && error.code === "previous_response_not_found",
  );
});

test("models are listed, found, and not found", async () => {
  const ids = (await client.models.list()).data.map(({ id }) => id);

  assert.ok(ids.includes(model));
  assert.equal((await client.models.retrieve(model)).object, "model");
  await assert.rejects(client.models.retrieve("gpt-0"), OpenAI.NotFoundError);
});

test("speech in three formats says the text, and a transcription reads it", async () => {
  const input = "Your table is booked.";
  const speak = async (response_format: "mp3" | "pcm" | "wav"): Promise<Buffer> => {
    const spoken = { model: "tts-1", voice: "alloy", input, response_format };
    const response = await client.audio.speech.create(spoken);
    return Buffer.from(await response.arrayBuffer());
  };
  const mp3 = await speak("mp3");
  const wav = await speak("wav");
  const transcribe = async (name: string, bytes: Buffer): Promise<string> => {
    const file = await toFile(bytes, name);
    return (await client.audio.transcriptions.create({ model: "whisper-1", file })).text;
  };
  const verbose = await client.audio.transcriptions.create({
    model: "whisper-1",
    file: await toFile(wavOf(input), "speech.wav"),
    response_format: "verbose_json",
    timestamp_granularities: ["word"],
  });

  assert.equal(await recognizeMp3(mp3), input);
  assert.equal(decodeSpeech(samplesOf(await speak("pcm")), 24_000), input);
  assert.equal(await transcribe("speech.mp3", mp3), input);
  assert.equal(await transcribe("speech.wav", wav), input);
  assert.deepEqual(
    verbose.words?.map(({ word }) => word),
    ["Your", "table", "is", "booked."],
  );
  await assert.rejects(transcribe("noise.wav", Buffer.from("no sound")), OpenAI.BadRequestError);
});

test("a wrong key and every refusal arrive as the SDK's own error classes", async () => {
  const stranger = new OpenAI({ apiKey: "bad", baseURL: urls.openai, maxRetries: 0 });
  const ask = (asking = client) => asking.responses.create({ model, input: "hi" });
  const classes = [
    ["unauthorized", OpenAI.AuthenticationError],
    ["badRequest", OpenAI.BadRequestError],
    ["notFound", OpenAI.NotFoundError],
    ["rateLimited", OpenAI.RateLimitError],
    ["quotaExceeded", OpenAI.RateLimitError],
    ["serverError", OpenAI.InternalServerError],
    ["overloaded", OpenAI.InternalServerError],
    ["disconnectBeforeFirstByte", OpenAI.APIConnectionError],
  ] as const;

  await assert.rejects(ask(stranger), OpenAI.AuthenticationError);
  await assert.rejects(stranger.models.list(), OpenAI.AuthenticationError);
  for (const [fault, errorClass] of classes) {
    faults.openai = { fault, times: 1 };
    await assert.rejects(ask(), errorClass, fault);
  }
  faults.openaiSpeech = { fault: "rateLimited", times: 1 };
  const speech = { model: "tts-1", voice: "alloy", input: "Hi." };
  await assert.rejects(client.audio.speech.create(speech), OpenAI.RateLimitError);
});

test("errors in the middle of a stream reach its reader", async () => {
  const read = () => client.responses.stream({ model, input: "count to 20" }).finalResponse();
  for (const fault of ["errorMidStream", "disconnectMidStream", "garbageJson"] as const) {
    faults.openai = { fault, times: 1 };
    await assert.rejects(read(), fault);
  }
  faults.openai = { fault: "fragmented", times: 1 };
  assert.match((await read()).output_text, /^Number 1\. .* Number 20\.$/);
});

test("after a refusal with retry-after the SDK waits that long and asks again", async () => {
  const patient = new OpenAI({ apiKey: "good", baseURL: urls.openai, maxRetries: 1 });
  faults.openai = { fault: "rateLimited", times: 1 };
  const startMs = performance.now();
  const { output_text } = await patient.responses.create({ model, input: "say again" });

  assert.equal(output_text, "again");
  assert.ok(performance.now() - startMs >= 990);
});

function cosine(one: readonly number[] = [], other: readonly number[] = []): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
}

test("embeddings, as numbers and as base64, are closer for texts that share words", async () => {
  const input = ["where can I return shoes", "shoes can be returned here", "the weather is fine"];
  const embed = (encoding_format: "float" | "base64") =>
    client.embeddings.create({ model: "text-embedding-3-small", input, encoding_format });
  const { data, usage } = await embed("float");
  const [question, near, far] = data.map(({ embedding }) => embedding);
  assert.deepEqual(
    data.map(({ index, embedding }) => [index, embedding.length]),
    [0, 1, 2].map((index) => [index, 1_536]),
  );
  assert.ok(cosine(question, near) > 0.3 && cosine(question, far) < 0.2);
  assert.ok(usage.prompt_tokens > 10);
  // The SDK asks for base64 unless its caller names another encoding.
  const plain = await client.embeddings.create({ model: "text-embedding-3-small", input });
  const first = plain.data[0]?.embedding ?? [];
  assert.ok(Math.abs(cosine(question, first) - 1) < 1e-4);
  const short = await client.embeddings.create({
    model: "text-embedding-3-large",
    input: "one text",
    dimensions: 256,
  });
  assert.equal(short.data[0]?.embedding.length, 256);
});

test("embeddings that are refused or fail", async () => {
  const model = "text-embedding-3-small";
  const refused = (body: Partial<OpenAI.EmbeddingCreateParams>) =>
    client.embeddings.create({ model, input: "text", ...body }).then(
      () => "accepted",
      (error: unknown) =>
        error instanceof OpenAI.APIError ? `${error.status} ${error.param}` : "no answer",
    );
  assert.equal(await refused({ model: "gpt-6-luna" }), "404 model");
  assert.equal(await refused({ input: "" }), "400 input");
  assert.equal(await refused({ dimensions: 1_537 }), "400 dimensions");
  assert.equal(await refused({ model: "text-embedding-ada-002", dimensions: 2 }), "400 dimensions");
  assert.equal(await refused({ input: "x".repeat(40_000) }), "400 input");
  faults.openaiEmbeddings = { fault: "rateLimited", times: 1 };
  assert.equal(await refused({}), "429 null");
  faults.openaiEmbeddings = { fault: "disconnectBeforeFirstByte", times: 1 };
  assert.equal(await refused({}), "undefined undefined");
  faults.openaiEmbeddings = { fault: "missingVector", times: 1 };
  assert.equal((await client.embeddings.create({ model, input: ["a", "b"] })).data.length, 1);
  faults.openaiEmbeddings = { fault: "shortVectors", times: 1 };
  const [short] = (await client.embeddings.create({ model, input: "a" })).data;
  assert.equal(short?.embedding.length, 1_535);
  assert.equal(await refused({}), "accepted");
});
