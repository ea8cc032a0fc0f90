import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { createDeepgram } from "@ai-sdk/deepgram";
import { createElevenLabs } from "@ai-sdk/elevenlabs";
import { createGroq } from "@ai-sdk/groq";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  experimental_generateSpeech as generateSpeech,
  generateText,
  jsonSchema,
  type LanguageModel,
  RetryError,
  stepCountIs,
  streamText,
  tool,
  experimental_transcribe as transcribe,
} from "ai";
import { noFaults } from "../../engine/sandbox/faults.js";
import { startSandbox } from "../../engine/sandbox/sandbox.js";
import { recognizeMp3 } from "../../engine/sandbox/sound/mp3-decoder.js";
import { addressOf, wavOf } from "./sdk-inputs.js";

const sandbox = await startSandbox({ apiKey: "good" });
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

const apiKey = "good";
const openai = createOpenAI({ apiKey, baseURL: urls.openai });
const groq = createGroq({ apiKey, baseURL: urls.groq });
const compatible = createOpenAICompatible({ name: "sandbox", apiKey, baseURL: urls.openai });
/** These two have no option for another address, but take a fetch. */
const deepgram = createDeepgram({
  apiKey,
  fetch: fetchAt("https://api.deepgram.com", urls.deepgram.replace("ws:", "http:")),
});
const elevenLabs = createElevenLabs({
  apiKey,
  fetch: fetchAt("https://api.elevenlabs.io", urls.elevenlabs),
});

function fetchAt(there: string, here: string): typeof fetch {
  return (input, init) => fetch(addressOf(input).replace(there, here), init);
}

const TEXT = "Your table is booked.";
const MODELS: readonly (readonly [name: string, model: LanguageModel])[] = [
  ["OpenAI's responses, the default", openai("gpt-6-luna")],
  ["OpenAI's responses of a model that reasons", openai("gpt-5-mini")],
  ["OpenAI's chat", openai.chat("gpt-5.1")],
  ["an API like OpenAI's", compatible("gpt-5.1")],
  ["Groq", groq("openai/gpt-oss-120b")],
];

for (const [name, model] of MODELS) {
  test(`${name}: text, whole and streamed`, async () => {
    const whole = await generateText({ model, prompt: "say one two three" });
    const streamed = streamText({ model, prompt: "say one two three" });
    let text = "";
    for await (const delta of streamed.textStream) text += delta;

    assert.equal(whole.text, "one two three");
    assert.equal(whole.usage.outputTokens, 3);
    assert.equal(whole.finishReason, "stop");
    assert.equal(text, "one two three");
  });

  test(`${name}: a tool in two steps, and the conversation goes on`, async () => {
    const lookUp = tool({
      description: "Finds an order.",
      inputSchema: jsonSchema<{ order: string }>({
        type: "object",
        properties: { order: { type: "string" } },
        required: ["order"],
      }),
      execute: ({ order }) => `order ${order} is shipped`,
    });
    const tools = { look_up: lookUp };
    const messages = [{ role: "user" as const, content: 'use look_up with {"order":"12"}' }];
    const stopWhen = stepCountIs(2);
    const told = await generateText({ model, messages, tools, stopWhen });
    const streamed = streamText({ model, messages, tools, stopWhen });
    const question = { role: "user" as const, content: "what did I just say" };
    const conversation = [...messages, ...told.response.messages, question];
    const recalled = await generateText({ model, messages: conversation, tools });

    assert.equal(told.steps.length, 2);
    assert.match(told.text, /^The tool says: .*order 12 is shipped/);
    assert.equal(await streamed.text, told.text);
    assert.match(recalled.text, /^Before this you said: use look_up/);
  });
}

test("speech of two vendors says the text", async () => {
  for (const model of [openai.speech("tts-1"), elevenLabs.speech("eleven_flash_v2_5")]) {
    const { audio } = await generateSpeech({ model, text: TEXT });
    assert.equal(await recognizeMp3(audio.uint8Array), TEXT);
  }
});

test("recordings are transcribed by four vendors", async () => {
  const models = [
    openai.transcription("whisper-1"),
    groq.transcription("whisper-large-v3"),
    deepgram.transcription("nova-3"),
    elevenLabs.transcription("scribe_v1"),
  ];
  for (const model of models) {
    const { text } = await transcribe({ model, audio: wavOf(TEXT) });
    assert.equal(text, TEXT, model.provider);
  }
});

test("a wrong key and refusals arrive as the SDK's APICallError, and are tried again if that helps", async () => {
  const stranger = createOpenAI({ apiKey: "bad", baseURL: urls.openai });
  const ask = (provider = openai, maxRetries = 0) =>
    generateText({ model: provider("gpt-6-luna"), prompt: "say again", maxRetries });
  const isCall = (statusCode: number, isRetryable: boolean) => (error: unknown) =>
    APICallError.isInstance(error) &&
    error.statusCode === statusCode &&
    error.isRetryable === isRetryable;

  await assert.rejects(ask(stranger), isCall(401, false));
  for (const [fault, status, isRetryable] of [
    ["badRequest", 400, false],
    ["rateLimited", 429, true],
    ["serverError", 500, true],
  ] as const) {
    faults.openai = { fault, times: 1 };
    await assert.rejects(ask(), isCall(status, isRetryable), fault);
  }
  faults.openai = { fault: "rateLimited", times: 2 };
  await assert.rejects(ask(openai, 1), (error) => RetryError.isInstance(error));
  faults.openai = { fault: "rateLimited", times: 1 };
  assert.equal((await ask(openai, 1)).text, "again");
});

test("an error in the middle of a stream reaches its reader", async () => {
  faults.openai = { fault: "errorMidStream", times: 1 };
  const errors: unknown[] = [];
  const stream = streamText({
    model: openai("gpt-6-luna"),
    prompt: "count to 20",
    onError: ({ error }) => {
      errors.push(error);
    },
  });
  await stream.consumeStream();

  assert.equal(errors.length, 1);
});
