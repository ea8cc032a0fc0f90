import assert from "node:assert/strict";
import { test } from "node:test";
import { providerModels, readJson, writeJson } from "../../../storage/statements/json-column.js";

test("written values are read back, without unknown fields", () => {
  const text = writeJson([{ modelId: "m", label: "M", price: 3 }]);
  assert.deepEqual(readJson("providers.models", providerModels, text), [
    { modelId: "m", label: "M" },
  ]);
});

test("stored text of another shape is named by its place, never by its content", () => {
  const text = writeJson([{ modelId: "m", label: 17 }]);
  assert.throws(() => readJson("providers.models", providerModels, text), {
    message: 'the stored providers.models is not as expected at "0.label"',
  });
  assert.throws(() => readJson("providers.models", providerModels, "secret"), {
    message: "the stored providers.models is not JSON",
  });
});
