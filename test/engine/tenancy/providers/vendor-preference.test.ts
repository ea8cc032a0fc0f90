import assert from "node:assert/strict";
import { test } from "node:test";
import {
  byPreference,
  configuredVendors,
} from "../../../../engine/tenancy/providers/vendor-preference.js";
import type { ProviderRecord } from "../../../../storage/records.js";
import { providerRecord } from "../../../storage/sample-records.js";

const SEALED = "00:00:00";

function model(providerKey: string, fields: Partial<ProviderRecord> = {}): ProviderRecord {
  const id = `${providerKey} of ${fields.orgId ?? "the platform"}`;
  return providerRecord({ id, category: "llm", providerKey, orgId: null, ...fields });
}

const OLLAMA = model("ollama", { sealedCredentials: null });
const OPENAI = model("openai", { sealedCredentials: SEALED });
const ANTHROPIC = model("anthropic", { sealedCredentials: SEALED });
const OWN = model("vllm", { orgId: "org", sealedCredentials: null });
const UNKNOWN = model("of a later version", { sealedCredentials: SEALED });

test("an organization's own vendor comes first, then vendors with a key, then vendors without one", () => {
  const sorted = [OLLAMA, UNKNOWN, ANTHROPIC, OWN, OPENAI].sort(byPreference);
  assert.deepEqual(sorted, [OWN, OPENAI, ANTHROPIC, UNKNOWN, OLLAMA]);
});

test("an inactive provider is not offered", () => {
  const off = model("groq", { active: false, sealedCredentials: SEALED });
  assert.deepEqual(configuredVendors([OLLAMA, off, OPENAI, OWN]).llm, {
    withKey: ["vllm", "openai"],
    withoutKey: ["ollama"],
  });
});
