import assert from "node:assert/strict";
import { test } from "node:test";
import { vendorSettingFaults } from "../../../engine/vendors/registry.js";
import type { Category } from "../../../storage/records.js";

interface Limits {
  readonly of: readonly [category: Category, vendor: string, setting: string];
  readonly taken: readonly unknown[];
  readonly refused: readonly unknown[];
}

function between(min: number, max: number, step: number) {
  return { taken: [min, max], refused: [min - step, max + step] };
}

const words = (characters: number) => "x".repeat(characters);
const upTo = (characters: number) => ({
  taken: [words(1), words(characters)],
  refused: ["", words(characters + 1)],
});

const LIMITS: readonly Limits[] = [
  {
    of: ["llm", "openai", "reasoningEffort"],
    taken: ["none", "minimal", "low", "medium", "high"],
    refused: ["higher", "", 1],
  },
  { of: ["llm", "ollama", "contextTokens"], ...between(256, 10_000_000, 1) },
  { of: ["llm", "ollama", "contextTokens"], taken: [300], refused: [300.5] },
  {
    of: ["llm", "ollama", "keepAlive"],
    taken: ["10m", "-1h", "1.5h", "1h30m", 0, -1, 300],
    refused: ["", "10", "10 m", "for ever"],
  },
  { of: ["tts", "openai", "voice"], ...upTo(200) },
  { of: ["tts", "openai", "instructions"], ...upTo(4_096) },
  { of: ["tts", "elevenlabs", "voiceId"], ...upTo(200) },
  { of: ["tts", "elevenlabs", "stability"], ...between(0, 1, 0.01) },
  { of: ["tts", "elevenlabs", "similarityBoost"], ...between(0, 1, 0.01) },
  { of: ["tts", "elevenlabs", "style"], ...between(0, 1, 0.01) },
  { of: ["tts", "elevenlabs", "transport"], taken: ["http", "websocket"], refused: ["ws", ""] },
  { of: ["tts", "cartesia", "voiceId"], ...upTo(200) },
  { of: ["tts", "cartesia", "volume"], ...between(0.5, 2, 0.01) },
  { of: ["tts", "edge", "voice"], ...upTo(200) },
  { of: ["tts", "edge", "pitch"], taken: ["+0Hz", "-9999Hz"], refused: ["10Hz", "+10000Hz"] },
  { of: ["tts", "edge", "volume"], taken: ["+0%", "-999%"], refused: ["20%", "+1000%"] },
  {
    of: ["tts", "edge", "outputFormat"],
    taken: ["audio-24khz-48kbitrate-mono-mp3", "audio-24khz-96kbitrate-mono-mp3"],
    refused: ["audio-16khz-32kbitrate-mono-mp3"],
  },
  { of: ["stt", "deepgram", "utteranceEndMs"], ...between(1_000, 5_000, 1) },
  { of: ["stt", "deepgram", "eotThreshold"], ...between(0.5, 1, 0.01) },
  { of: ["stt", "deepgram", "eagerEotThreshold"], ...between(0.3, 0.9, 0.01) },
  { of: ["stt", "deepgram", "eotTimeoutMs"], ...between(500, 60_000, 1) },
  { of: ["stt", "assemblyai", "minTurnSilenceMs"], ...between(0, 10_000, 1) },
  { of: ["stt", "assemblyai", "maxTurnSilenceMs"], ...between(0, 60_000, 1) },
  { of: ["stt", "assemblyai", "endOfTurnConfidence"], ...between(0, 1, 0.01) },
  { of: ["stt", "whisper", "silenceMs"], ...between(200, 3_000, 1) },
];

for (const { of: place, taken, refused } of LIMITS) {
  const [category, vendor, setting] = place;
  test(`${setting} of ${vendor} is accepted up to its limits and no further`, () => {
    const isTaken = (value: unknown) =>
      vendorSettingFaults(category, vendor, { [setting]: value }).length === 0;
    for (const value of taken) assert.ok(isTaken(value), JSON.stringify(value));
    for (const value of refused) assert.ok(!isTaken(value), JSON.stringify(value));
  });
}

test("an invalid setting's error contains the limits", () => {
  const [fault] = vendorSettingFaults("tts", "cartesia", { volume: 3 });
  assert.deepEqual(fault, { path: "volume", message: "expected a number from 0.5 to 2" });
  const [other] = vendorSettingFaults("stt", "whisper", { silenceMs: 1 });
  assert.equal(other?.message, "expected a whole number from 200 to 3000");
});
