import assert from "node:assert/strict";
import { test } from "node:test";
import {
  faultOfAnswer,
  languageOf,
  OUTPUT_FORMATS,
  readDetail,
  voiceSettingsOf,
} from "../../../../engine/vendors/elevenlabs/elevenlabs.js";

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

test("a refusal is reported by the vendor's code and text, in any of its forms", () => {
  const told = (body: unknown) => {
    const { code, message } = readDetail(typeof body === "string" ? body : JSON.stringify(body));
    return [code, message];
  };
  assert.deepEqual(told({ detail: "Not today." }), [undefined, "Not today."]);
  const detail = { status: "quota_exceeded", code: "other", message: "Out of characters." };
  assert.deepEqual(told({ detail }), ["quota_exceeded", "Out of characters."]);
  assert.deepEqual(told({ detail: { code: "other" } }), ["other", undefined]);
  const list = [
    { msg: "field required", input: "a secret" },
    { loc: ["body"] },
    { msg: "too long" },
  ];
  assert.deepEqual(told({ detail: list }), ["validation_error", "field required; too long"]);
  assert.deepEqual(told({}), [undefined, undefined]);
  assert.deepEqual(told("<html>"), [undefined, undefined]);
});

test("the vendor's own word counts for more than the status, and any other word for nothing", () => {
  for (const [code, fault] of [
    ["quota_exceeded", "quotaExceeded"],
    ["too_many_concurrent_requests", "rateLimited"],
    ["system_busy", "unavailable"],
    ["voice_not_found", "notFound"],
    ["odd", "unauthorized"],
    [undefined, "unauthorized"],
  ] as const) {
    assert.equal(faultOfAnswer(code, 401), fault, code);
  }
  assert.equal(faultOfAnswer("invalid_api_key", 403), "unauthorized");
  assert.equal(faultOfAnswer("model_access_denied", 403), "refused");
});

test("audio is requested by the vendor's names of the formats", () => {
  assert.deepEqual(OUTPUT_FORMATS, {
    mp3: "mp3_24000_48",
    mulaw: "ulaw_8000",
    pcm16: "pcm_24000",
  });
});
