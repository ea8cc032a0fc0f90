import assert from "node:assert/strict";
import { test } from "node:test";
import { modelLatencyWords } from "../../../api/console/words/model-latency-words.js";

const SHARES = [
  {
    category: "llm" as const,
    vendor: "openai",
    models: [
      { model: "large", turns: 1_200, p50Ms: 412 },
      { model: "small", turns: 1, p50Ms: 150 },
    ],
  },
];
const LARGE = { category: "llm", vendor: "openai", modelId: "large", isSimulated: false } as const;

test("a model's latency is told with how often it was measured, and whether it was simulated", () => {
  assert.equal(
    modelLatencyWords(SHARES, LARGE),
    "Latency: first token after 412 ms (median of 1,200 turns in 14 days).",
  );
  assert.equal(
    modelLatencyWords(SHARES, { ...LARGE, modelId: "small", isSimulated: true }),
    "Latency: first token after 150 ms (median of 1 turn in 14 days, simulated).",
  );
});

test("a model that is not chosen is the one that was used most, and one without turns was not measured", () => {
  assert.match(modelLatencyWords(SHARES, { ...LARGE, modelId: "" }), /412 ms/);
  for (const other of [{ modelId: "new" }, { vendor: "groq" }, { category: "tts" as const }]) {
    assert.equal(modelLatencyWords(SHARES, { ...LARGE, ...other }), "Latency: not measured yet.");
  }
});
