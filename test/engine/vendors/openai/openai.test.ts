import assert from "node:assert/strict";
import { test } from "node:test";
import { OPENAI } from "../../../../engine/vendors/openai/openai.js";
import { AskedServer, offersOf } from "../asked-server.js";

const asked = new AskedServer();

const OFFERS = `
openai llm OpenAI; gpt-6-luna "GPT-6 Luna" free; gpt-5.6-luna "GPT-5.6 Luna" starter; gpt-6-sol "GPT-6 Sol" pro; gpt-5.6-sol "GPT-5.6 Sol" enterprise; reasoningEffort string baseUrl url
openai tts OpenAI speech; gpt-4o-mini-tts "GPT-4o mini TTS" starter; tts-1 "TTS 1" free (Lower delay); tts-1-hd "TTS 1 HD" pro; voice string instructions string baseUrl url
`;

test("OpenAI offers models to reply and to speak, and wants a key for both", () => {
  assert.equal(offersOf([OPENAI]), OFFERS);
  assert.deepEqual(OPENAI.apiKey, { isRequired: true, variable: "OPENAI_API_KEY" });
  assert.deepEqual(OPENAI.address, {
    variable: "OPENAI_BASE_URL",
    publicUrl: "https://api.openai.com/v1",
    protocols: ["http:", "https:"],
  });
  for (const offer of [OPENAI.llm, OPENAI.tts]) {
    assert.throws(() => offer?.client(asked.given({}, ""), asked.context), {
      vendor: "openai",
      fault: "unauthorized",
    });
  }
});

test("OpenAI speaks by its usual voice unless another is set", async () => {
  assert.ok(OPENAI.tts);
  for (const [settings, voice] of [
    [{}, "alloy"],
    [{ voice: "coral" }, "coral"],
  ] as const) {
    const client = OPENAI.tts.client(asked.given(settings), asked.context);
    assert.deepEqual(await asked.speechBody(client, "tts-1"), {
      model: "tts-1",
      voice,
      input: "Hi.",
      response_format: "mp3",
      speed: 1,
    });
  }
});
