import assert from "node:assert/strict";
import { test } from "node:test";
import { CATEGORIES } from "../../../engine/vendors/vendor.js";
import { VENDORS } from "../../../engine/vendors/vendors.js";

/** What is offered to people first stands first; a model is in its plan and in every larger one. */
const MODELS = `
llm openai gpt-6-luna free: GPT-6 Luna
llm openai gpt-5.6-luna starter: GPT-5.6 Luna
llm openai gpt-6-sol pro: GPT-6 Sol
llm openai gpt-5.6-sol enterprise: GPT-5.6 Sol
llm groq openai/gpt-oss-20b free: GPT-OSS 20B
llm groq openai/gpt-oss-120b starter: GPT-OSS 120B
llm anthropic claude-haiku-4-5 starter: Claude Haiku 4.5
llm anthropic claude-sonnet-5 enterprise: Claude Sonnet 5
llm gemini gemini-3.5-flash-lite free: Gemini 3.5 Flash-Lite
llm gemini gemini-3.6-flash starter: Gemini 3.6 Flash
llm mistral mistral-small-latest free: Mistral Small
llm mistral mistral-medium-latest pro: Mistral Medium
llm openrouter openai/gpt-6-luna starter: GPT-6 Luna
llm openrouter google/gemini-3.6-flash starter: Gemini 3.6 Flash
llm openrouter anthropic/claude-haiku-4.5 pro: Claude Haiku 4.5
llm ollama llama3.2 free: Llama 3.2 3B
llm ollama llama3.1 free: Llama 3.1 8B
llm ollama qwen2.5 free: Qwen 2.5 7B
tts openai gpt-4o-mini-tts starter: GPT-4o mini TTS
tts openai tts-1 free: TTS 1
tts openai tts-1-hd pro: TTS 1 HD
tts elevenlabs eleven_flash_v2_5 starter: Flash v2.5
tts elevenlabs eleven_multilingual_v2 pro: Multilingual v2
tts cartesia sonic-3.6 starter: Sonic 3.6
tts cartesia sonic-3.5 starter: Sonic 3.5
tts cartesia sonic-3 starter: Sonic 3
tts deepgram aura-2-thalia-en starter: Thalia (English)
tts deepgram aura-2-apollo-en starter: Apollo (English)
tts deepgram aura-2-celeste-es starter: Celeste (Spanish)
tts kokoro kokoro free: Kokoro
tts edge en-US-AriaNeural free: Aria (English, US)
tts edge en-US-GuyNeural free: Guy (English, US)
tts edge en-GB-SoniaNeural free: Sonia (English, UK)
tts edge de-DE-KatjaNeural free: Katja (German)
tts edge es-ES-ElviraNeural free: Elvira (Spanish)
tts edge fr-FR-DeniseNeural free: Denise (French)
stt deepgram nova-3 free: Nova 3
stt deepgram nova-2 free: Nova 2
stt deepgram flux-general-en free, decides turns: Flux (English)
stt deepgram flux-general-multi free, decides turns: Flux (multilingual)
stt assemblyai universal-3-6-pro free, decides turns: Universal 3.6 Pro
stt assemblyai universal-streaming-english free, decides turns: Universal Streaming (English)
stt assemblyai universal-streaming-multilingual free, decides turns: Universal Streaming (multilingual)
stt assemblyai universal-3-5-pro free, decides turns: Universal 3.5 Pro
stt whisper Systran/faster-whisper-small free: Whisper small
stt whisper Systran/faster-whisper-large-v3 free: Whisper large v3
`;

test("every model is offered by its name, in its plan, with whether it decides turns", () => {
  const lines = CATEGORIES.flatMap((category) =>
    VENDORS.flatMap(({ key, ...vendor }) =>
      (vendor[category]?.models ?? []).map(({ modelId, plan, label, hasTurnDetection }) => {
        const decides = hasTurnDetection === true ? ", decides turns" : "";
        return `${category} ${key} ${modelId} ${plan}${decides}: ${label}`;
      }),
    ),
  );
  assert.deepEqual(lines, MODELS.trim().split("\n"));
});

/** Beside the address, which every one of them lets people set. */
const SETTINGS = `
llm openai reasoningEffort
llm groq reasoningEffort
llm anthropic reasoningEffort
llm gemini reasoningEffort
llm mistral reasoningEffort
llm openrouter reasoningEffort
llm ollama contextTokens
llm vllm reasoningEffort
llm llama-cpp reasoningEffort
llm openai-compatible reasoningEffort
tts openai voice instructions
tts elevenlabs voiceId stability similarityBoost style transport
tts cartesia voiceId volume
tts kokoro voice instructions
tts openai-compatible voice instructions
tts edge pitch volume
stt deepgram utteranceEndMs eotThreshold eotTimeoutMs
stt assemblyai minTurnSilenceMs maxTurnSilenceMs
stt whisper silenceMs
stt openai-compatible silenceMs
`;

test("people are offered these settings and every vendor's address, which is wanted where none is known", () => {
  const lines: string[] = [];
  for (const category of CATEGORIES) {
    for (const { key, address, ...vendor } of VENDORS) {
      const settings = vendor[category]?.settings;
      if (settings === undefined) continue;
      const baseUrl = settings.at(-1);
      assert.equal(baseUrl?.key, "baseUrl");
      assert.equal(baseUrl.required, address.publicUrl === undefined, key);
      const others = settings.slice(0, -1);
      assert.ok(others.every(({ required }) => !required));
      if (others.length > 0)
        lines.push([category, key, ...others.map((each) => each.key)].join(" "));
    }
  }
  assert.deepEqual(lines, SETTINGS.trim().split("\n"));
});
