import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { MP3 } from "../../../engine/audio/audio-format.js";
import { SystemClock } from "../../../engine/time/clock.js";
import type { Completion } from "../../../engine/vendors/contracts.js";
import { languageModel, textToSpeech } from "../../../engine/vendors/registry.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { never } from "./sandboxed-vendors.js";
import { ScriptedWebServer } from "./scripted-web-server.js";

/** A vendor that gives one answer to whatever it is asked, and the means to ask it. */
async function vendorThatAnswers(context: TestContext, status: number, body: string) {
  const server = new ScriptedWebServer();
  await server.start();
  server.answer = (response) => response.writeHead(status).end(body);
  const clock = new SystemClock();
  const connections = new Connections({ clock, allowPrivateAddresses: false });
  context.after(async () => {
    await connections.close();
    await server.close();
  });
  const given = { baseUrl: server.url, apiKey: "secret-key", settings: {}, clientOwned: false };
  return { given, parts: { clock, connections } };
}

async function replyOf(context: TestContext, vendor: string, body: string): Promise<Completion> {
  const { given, parts } = await vendorThatAnswers(context, 200, body);
  const messages = [{ role: "user", content: "Hello?" }] as const;
  const request = { modelId: "m", messages, temperature: 0, maxTokens: 9 };
  return languageModel(vendor, given, parts).complete(request, () => undefined, never());
}

test("an answer that breaks off within an event has broken off, and is not unreadable", (context) =>
  assert.rejects(replyOf(context, "openai", 'data: {"choices":[{"delta":{"content":"Hel'), {
    fault: "disconnected",
  }));

test("Ollama's tokens are its own count", async (context) => {
  const counts = '"prompt_eval_count":70,"eval_count":30';
  const body = `{"message":{"content":"Yes."},"done":true,${counts}}\n`;
  const { promptTokens, completionTokens } = await replyOf(context, "ollama", body);
  assert.deepEqual([promptTokens, completionTokens], [70, 30]);
});

test("what a vendor does not count is estimated of all that it said, tools and all", async (context) => {
  const tool = '{"function":{"name":"find_order","arguments":{"order":12}}}';
  const body = `{"message":{"content":"One moment.","tool_calls":[${tool}]},"done":true}\n`;
  const { completionTokens } = await replyOf(context, "ollama", body);
  const chars = 'One moment.find_order{"order":12}'.length;
  assert.equal(completionTokens, Math.ceil(chars / 4));
});

test("a response is complete though nothing follows its end mark", async (context) => {
  const body = 'data: {"choices":[{"delta":{"content":"Hello."}}]}\n\ndata: [DONE]';
  const { completionTokens } = await replyOf(context, "openai", body);
  assert.equal(completionTokens, 2);
});

test("ElevenLabs says what does not fit, without the text that was sent", async (context) => {
  const detail = [{ msg: "field required", input: "Hi." }, {}, { msg: "too long" }];
  const body = JSON.stringify({ detail });
  const { given, parts } = await vendorThatAnswers(context, 422, body);
  const request = { text: "Hi.", modelId: "m", speed: 1, language: "en", format: MP3 } as const;
  const speech = textToSpeech("elevenlabs", given, parts);
  await assert.rejects(
    speech.synthesize(request, () => undefined, never()),
    {
      message: "elevenlabs answered 422: validation_error",
      vendorText: "validation_error: field required; too long",
    },
  );
});
