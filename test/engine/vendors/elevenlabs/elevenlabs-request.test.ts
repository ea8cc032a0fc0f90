import assert from "node:assert/strict";
import { test } from "node:test";
import {
  languageOf,
  voiceSettingsOf,
} from "../../../../engine/vendors/elevenlabs/elevenlabs-request.js";

test("a speed outside of what the vendor takes is the nearest that it takes", () => {
  for (const [asked, sent] of [
    [0.5, 0.7],
    [0.7, 0.7],
    [1, 1],
    [1.2, 1.2],
    [1.5, 1.2],
  ] as const) {
    const settings = { stability: 0.4, similarityBoost: 0.8, style: 0.1 };
    const given = { stability: 0.4, similarity_boost: 0.8, style: 0.1, speed: sent };
    assert.deepEqual(voiceSettingsOf(settings, asked), given);
  }
});

test("a language goes, without its region, to models that take one", () => {
  assert.deepEqual(languageOf("eleven_flash_v2_5", "de-AT"), { language_code: "de" });
  assert.deepEqual(languageOf("eleven_turbo_v2_5", "en"), { language_code: "en" });
  assert.deepEqual(languageOf("eleven_multilingual_v2", "de-AT"), {});
});
