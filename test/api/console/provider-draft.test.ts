import assert from "node:assert/strict";
import { test } from "node:test";
import {
  changesOfProvider,
  draftOfProvider,
  newProvider,
  sentOfDraft,
} from "../../../api/console/model/provider-draft.js";

const TIME = "2026-01-31T00:00:00.000Z";
const ENTRY = {
  category: "llm",
  providerKey: "acme",
  displayName: "Acme",
  requiresKey: true,
  models: [
    { modelId: "small", label: "Small", description: "cheap" },
    { modelId: "large", label: "large" },
  ],
  settings: [
    { key: "tokens", label: "Tokens", type: "number", required: false },
    { key: "fast", label: "Fast", type: "boolean", required: false },
    { key: "baseUrl", label: "Base URL", type: "url", required: false },
  ],
  createdAt: TIME,
} as const;
const MODELS = ENTRY.models.map((model) => ({ ...model }));
const SETTINGS = ENTRY.settings.map((setting) => ({ ...setting, options: [] }));
const VENDOR = { ...ENTRY, models: MODELS, settings: SETTINGS };
const PROVIDER = {
  _id: "1",
  orgId: "org",
  category: "llm",
  providerKey: "acme",
  name: "Ours",
  models: [{ modelId: "own", label: "Our own", description: "trained here" }],
  settings: { tokens: 4_096, baseUrl: "https://acme.example.com", unlisted: "stays" },
  active: true,
  hasKey: true,
  simulated: false,
  breaker: "closed",
  modelNotices: [] as never[],
  parameterCorrections: [] as never[],
  recentFailures: 0,
  lastFault: null,
  lastTest: null,
  createdAt: TIME,
  updatedAt: TIME,
} as const;

test("a new provider has all models of the catalogue, and only settings that were given", () => {
  const draft = newProvider(VENDOR);
  assert.equal(draft.models, "small Small\nlarge");
  const settings = { tokens: " 8192 ", fast: "false", baseUrl: " " };
  const sent = sentOfDraft(VENDOR, { ...draft, name: "Ours", apiKey: "secret", settings });
  assert.deepEqual(sent, {
    name: "Ours",
    models: MODELS,
    settings: { tokens: 8_192, fast: false },
    credentials: { apiKey: "secret" },
  });
});

test("what is no number is sent as it was typed: the server says what is wrong with it", () => {
  const draft = { ...newProvider(VENDOR), settings: { tokens: "many" } };
  assert.deepEqual(sentOfDraft(VENDOR, draft).settings, { tokens: "many" });
});

test("a provider that was not touched stays as it is, and its key with it", () => {
  const provider = { ...PROVIDER, models: [...PROVIDER.models] };
  const draft = draftOfProvider(VENDOR, provider);
  assert.deepEqual(changesOfProvider(VENDOR, provider, draft), {
    name: "Ours",
    models: PROVIDER.models,
    settings: { tokens: 4_096, baseUrl: "https://acme.example.com" },
  });
});

test("a setting that is emptied is taken away, and models are added and named by lines", () => {
  const provider = { ...PROVIDER, models: [...PROVIDER.models] };
  const typed = draftOfProvider(VENDOR, provider);
  const draft = {
    ...typed,
    models: "\n own Ours \n\nsmall\n",
    settings: { ...typed.settings, baseUrl: "", tokens: "" },
  };
  assert.deepEqual(changesOfProvider(VENDOR, provider, draft), {
    name: "Ours",
    models: [{ modelId: "own", label: "Ours", description: "trained here" }, MODELS[0]],
    settings: { tokens: null, baseUrl: null },
  });
});
