import assert from "node:assert/strict";
import { test } from "node:test";
import {
  credentialFaults,
  settingFaults,
} from "../../../../engine/tenancy/providers/provider-input.js";
import type { RegistryRecord } from "../../../../storage/records.js";

const REGION = { key: "region", required: true, type: "string", label: "Region" };
const ENTRY: RegistryRecord = {
  category: "llm",
  providerKey: "openai",
  displayName: "OpenAI",
  requiresKey: true,
  models: [],
  createdAtMs: 0,
  settings: [REGION],
};
/** Returns an object with this many characters of JSON. */
const ofLength = (characters: number, known: Readonly<Record<string, string>>) => ({
  ...known,
  rest: "x".repeat(characters - JSON.stringify({ ...known, rest: "" }).length),
});

test("settings and credentials have at most 65,536 characters of JSON each", () => {
  const message = "expected at most 65536 characters of JSON";
  const region = { region: "eu" };
  assert.deepEqual(settingFaults(ENTRY, ofLength(65_536, region)), []);
  assert.deepEqual(settingFaults(ENTRY, ofLength(65_537, region)), [{ path: "settings", message }]);
  const key = { apiKey: "key" };
  assert.deepEqual(credentialFaults(ENTRY, ofLength(65_536, key)), []);
  const tooLong = [{ path: "credentials", message }];
  assert.deepEqual(credentialFaults(ENTRY, ofLength(65_537, key)), tooLong);
  assert.deepEqual(credentialFaults(ENTRY, ofLength(65_537, {})), tooLong, "the only fault");
});

test("the error names a required setting and an API key that are missing", () => {
  const required = [{ path: "settings.region", message: "is required" }];
  assert.deepEqual(settingFaults(ENTRY, {}), required);
  assert.deepEqual(settingFaults({ ...ENTRY, settings: [{ ...REGION, required: false }] }, {}), []);
  const missing = [{ path: "credentials.apiKey", message: "OpenAI requires an API key" }];
  assert.deepEqual(credentialFaults(ENTRY, undefined), missing);
  assert.deepEqual(credentialFaults({ ...ENTRY, requiresKey: false }, {}), []);
});
