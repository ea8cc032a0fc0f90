import assert from "node:assert/strict";
import { test } from "node:test";
import {
  catalogAgeDays,
  catalogRow,
  languageAbilities,
  MODEL_CATALOG,
  modelNotice,
  offeredModels,
} from "../../../engine/vendors/model-catalog.js";
import { CATEGORIES } from "../../../engine/vendors/vendor.js";
import { VENDORS } from "../../../engine/vendors/vendors.js";

const DAY_MS = 86_400_000;
const CHECKED_MS = Date.parse("2026-11-26");

test("every row says where it was read and when, and names models that there are", () => {
  for (const row of MODEL_CATALOG) {
    const name = `${row.vendor}/${row.modelId}`;
    assert.match(row.checkedOn, /^\d{4}-\d\d-\d\d$/, name);
    assert.ok(!Number.isNaN(Date.parse(row.checkedOn)), name);
    assert.match(row.source, /^https:\/\//, name);
    assert.ok(VENDORS.some(({ key }) => key === row.vendor));
    if (row.retiresOn !== undefined) assert.match(row.retiresOn, /^\d{4}-\d\d-\d\d$/, name);
    if (row.successor === undefined) continue;
    const successor = catalogRow(row.vendor, row.category, row.successor);
    assert.ok(successor?.plan !== undefined, `${name}: ${row.successor} is offered`);
  }
  const names = MODEL_CATALOG.map(({ category, vendor, modelId }) => [category, vendor, modelId]);
  assert.equal(new Set(names.map((name) => name.join(" "))).size, names.length);
});

test("no model is offered that its vendor gives up, but for OpenAI's voices, which nothing follows", () => {
  for (const { key } of VENDORS) {
    for (const category of CATEGORIES) {
      for (const { modelId } of offeredModels(key, category)) {
        const notice = modelNotice(key, category, modelId, CHECKED_MS);
        const expected =
          key === "openai" && category === "tts"
            ? { stage: "retiresSoon", retiresOn: "2027-01-06", successor: null }
            : undefined;
        assert.deepEqual(notice, expected, `${key}/${modelId}`);
      }
    }
  }
});

test("a retirement is announced 90 days before, and in force from its day on", () => {
  const stageAt = (day: string) =>
    modelNotice("openai", "llm", "gpt-4o-2024-08-06", Date.parse(day))?.stage;
  assert.equal(stageAt("2026-10-15"), undefined);
  assert.equal(stageAt("2026-10-16"), "retiresSoon");
  assert.equal(stageAt("2027-01-13"), "retiresSoon");
  assert.equal(stageAt("2027-01-14"), "retired");
  assert.equal(modelNotice("openai", "llm", "of-my-own", CHECKED_MS), undefined);
  assert.deepEqual(modelNotice("elevenlabs", "tts", "eleven_turbo_v2_5", CHECKED_MS), {
    stage: "deprecated",
    retiresOn: null,
    successor: "eleven_flash_v2_5",
  });
});

test("snapshots, tuned models and long names are known by what they come from", () => {
  for (const [vendor, id, like] of [
    ["openai", "gpt-6-luna-2026-09-22", "gpt-6-luna"],
    ["openai", "ft:gpt-4.1-mini-2025-04-14:acme::x", "gpt-4.1-mini"],
    ["anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5"],
    ["gemini", "models/gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"],
    ["gemini", "gemini-2.0-flash-001", "gemini-2.0-flash"],
  ] as const) {
    assert.equal(catalogRow(vendor, "llm", id)?.modelId, like, id);
  }
  assert.equal(catalogRow("openai", "llm", "gpt-6-luna-mini"), undefined);
  assert.equal(languageAbilities("openai", "gpt-6-luna-mini").isKnown, false);
});

test("a model behind another server has the row of its vendor's name", () => {
  const behind = languageAbilities("openai-compatible", "openai/gpt-6-luna");
  assert.deepEqual(behind, languageAbilities("openai", "gpt-6-luna"));
  assert.equal(languageAbilities("openai-compatible", "llama").temperature, "always");
  assert.equal(languageAbilities("vllm", "gpt-6-luna").isKnown, false);
});

test("the catalog is as old as the newest of its rows", () => {
  assert.equal(catalogAgeDays(CHECKED_MS), 0);
  assert.equal(catalogAgeDays(CHECKED_MS + 90.5 * DAY_MS), 90);
});
