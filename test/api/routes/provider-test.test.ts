import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { noFaults } from "../../../engine/sandbox/faults.js";
import { type Sandbox, startSandbox } from "../../../engine/sandbox/sandbox.js";
import { ScriptedWebServer } from "../../engine/vendors/scripted-web-server.js";
import { LoopbackPlatform, type Tenancy } from "../http/loopback-platform.js";
import { idIn, providerIds } from "./agent-drafts.js";

const CHECK_MAX_MS = 20_000;

const PROVIDERS = "/api/dashboard/providers";
const SECRET = `a-key-that-nobody-may-see-${"7".repeat(20)}`;
const MODELS = { llm: "gpt-6-luna", tts: "tts-1", stt: "nova-3" };

let sandbox: Sandbox;
let platform: LoopbackPlatform;
let tenancy: Tenancy;

before(async () => {
  sandbox = await startSandbox({ journal: true });
  platform = await LoopbackPlatform.start({ vendorUrls: { ...sandbox.urls } });
  tenancy = await platform.newTenancy("enterprise");
});

after(async () => {
  await platform.close();
  await sandbox.close();
});

beforeEach(() => {
  Object.assign(sandbox.faults, noFaults());
});

function tryOut(id: string, headers = tenancy.byKey) {
  return platform.client.send("POST", `${PROVIDERS}/${id}/test`, { headers });
}

async function ownProvider(
  category: keyof typeof MODELS,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const providerKey = category === "stt" ? "deepgram" : "openai";
  const baseUrl = sandbox.urls[providerKey];
  const draft = {
    category,
    providerKey,
    name: `Own ${JSON.stringify(changes)}`,
    credentials: { apiKey: SECRET },
    models: [{ modelId: MODELS[category], label: "The model" }],
    settings: { baseUrl },
    ...changes,
  };
  const answer = await platform.client.post(PROVIDERS, draft, tenancy.byKey);
  assert.equal(answer.status, 201, answer.text);
  return idIn(answer.body);
}

test("an own provider can be tested before it is added, and nothing is stored", async () => {
  const before = await providerIds(platform, tenancy);
  const draft = {
    category: "llm",
    providerKey: "openai",
    name: "Not added",
    credentials: { apiKey: SECRET },
    models: [{ modelId: MODELS.llm, label: "The model" }],
    settings: { baseUrl: sandbox.urls.openai },
  };
  const answer = await platform.client.post(`${PROVIDERS}/test`, draft, tenancy.byKey);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(Object(answer.body).ok, true);
  sandbox.faults.openai = { fault: "unauthorized" };
  const refused = await platform.client.post(`${PROVIDERS}/test`, draft, tenancy.byKey);
  assert.equal(Object(refused.body).fault, "unauthorized");
  assert.ok(!refused.text.includes(SECRET));
  const keyless = await platform.client.post(
    `${PROVIDERS}/test`,
    { ...draft, credentials: {} },
    tenancy.byKey,
  );
  assert.equal(keyless.status, 400);
  assert.deepEqual(await providerIds(platform, tenancy), before);
});

test("every kind of platform provider is tested with one small request", async () => {
  const ids = await providerIds(platform, tenancy);
  assert.ok(ids.size > 7);
  for (const [name, id] of ids) {
    const answer = await tryOut(id);
    assert.deepEqual([answer.status, answer.body], [200, { ok: true, latencyMs: 0 }], name);
  }
});

test("own providers are tested with their own credentials, even if they are switched off", async () => {
  for (const category of ["llm", "tts", "stt"] as const) {
    const id = await ownProvider(category);
    assert.deepEqual((await tryOut(id)).body, { ok: true, latencyMs: 0 }, category);
    const path = `${PROVIDERS}/${id}`;
    const off = { headers: tenancy.byKey, body: { active: false } };
    assert.equal((await platform.client.send("PATCH", path, off)).status, 200);
    assert.deepEqual((await tryOut(id)).body, { ok: true, latencyMs: 0 }, category);
  }
});

test("a vendor's refusal is a test result, in plain words", async () => {
  const llm = await ownProvider("llm", { name: "Refused" });
  sandbox.faults.openai = { fault: "unauthorized" };
  const refused = await tryOut(llm);
  assert.equal(refused.status, 200);
  assert.equal(Object(refused.body).ok, false);
  assert.equal(Object(refused.body).fault, "unauthorized");
  assert.match(Object(refused.body).error, /^openai rejects the credentials \(.*401/);
  sandbox.faults.openai = { fault: "quotaExceeded" };
  assert.equal(Object((await tryOut(llm)).body).fault, "quotaExceeded");

  const tts = await ownProvider("tts", { name: "Refused" });
  sandbox.faults.openaiSpeech = { fault: "disconnectMidStream" };
  assert.equal(Object((await tryOut(tts)).body).fault, "disconnected");
  sandbox.faults.openaiSpeech = { fault: "emptyAudio" };
  assert.equal(Object((await tryOut(tts)).body).ok, false);

  const stt = await ownProvider("stt", { name: "Refused" });
  sandbox.faults.deepgram = { fault: "paymentRequired" };
  assert.equal(Object((await tryOut(stt)).body).fault, "quotaExceeded");
  sandbox.faults.deepgram = { fault: "unauthorized" };
  assert.equal(Object((await tryOut(stt)).body).fault, "unauthorized");
  // The key is valid, but the project has no such model.
  sandbox.faults.deepgram = { fault: "forbidden" };
  assert.equal(Object((await tryOut(stt)).body).fault, "refused");
});

test("a platform provider's test result does not contain the vendor's own message", async () => {
  const id = (await providerIds(platform, tenancy)).get("llm openai");
  assert.ok(id !== undefined);
  sandbox.faults.openai = { fault: "unauthorized" };
  assert.deepEqual((await tryOut(id)).body, {
    ok: false,
    latencyMs: 0,
    error: "openai rejects the credentials",
    fault: "unauthorized",
  });
});

test("credentials are never shown, even if a vendor repeats them", async (t) => {
  const vendor = new ScriptedWebServer();
  await vendor.start();
  t.after(() => vendor.close());
  vendor.answer = (response, { headers }) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `wrong: ${headers.authorization}` } }));
  };
  const settings = { baseUrl: vendor.url };
  const llm = await ownProvider("llm", { name: "Echo", settings });
  const tts = await ownProvider("tts", { name: "Echo", settings });
  for (const id of [llm, tts]) {
    const { text, body } = await tryOut(id);
    assert.equal(Object(body).fault, "unauthorized");
    assert.ok(!text.includes(SECRET), text);
  }
  assert.equal(vendor.requests.length, 2);
  assert.ok(!JSON.stringify(platform.logger.lines).includes(SECRET));
});

test("an LLM is tested with one token of a listed model", async (t) => {
  const vendor = new ScriptedWebServer();
  await vendor.start();
  t.after(() => vendor.close());
  vendor.answer = (response) => response.end("data: [DONE]\n\n");
  const id = await ownProvider("llm", { name: "Scripted", settings: { baseUrl: vendor.url } });
  assert.deepEqual((await tryOut(id)).body, { ok: true, latencyMs: 0 });
  const sent = JSON.parse(vendor.requests[0]?.body ?? "");
  assert.equal(sent.model, MODELS.llm);
  assert.equal(sent.max_tokens ?? sent.max_completion_tokens, 1);
});

test("a vendor that does not respond is given up after a timeout", async () => {
  for (const [category, stall] of [
    ["llm", () => (sandbox.faults.openai = { fault: "stallBeforeFirstByte" })],
    ["tts", () => (sandbox.faults.openaiSpeech = { fault: "stallBeforeFirstByte" })],
    ["stt", () => (sandbox.faults.deepgram = { fault: "stallHandshake" })],
  ] as const) {
    const id = await ownProvider(category, { name: "Stalls" });
    stall();
    const timersBefore = platform.clock.pendingTimerCount;
    const answer = tryOut(id);
    while (platform.clock.pendingTimerCount < timersBefore + 2) await nextTurn();
    platform.clock.advance(CHECK_MAX_MS);
    const { body } = await answer;
    assert.equal(Object(body).fault, "timeout", category);
    assert.ok(Object(body).latencyMs <= CHECK_MAX_MS);
  }
});

test("a provider without a model to test says so", async () => {
  const id = await ownProvider("llm", { name: "Empty", models: [] });
  assert.deepEqual((await tryOut(id)).body, {
    ok: false,
    latencyMs: 0,
    error:
      "openai rejects the request: a setting or the model may be wrong (the provider lists no model to try)",
    fault: "refused",
  });
});

test("platform providers can be tested if the plan includes one of their models", async () => {
  const free = await platform.newTenancy("free");
  const ids = await providerIds(platform, free);
  const llm = ids.get("llm openai");
  const premium = ids.get("tts elevenlabs");
  assert.ok(llm !== undefined && premium !== undefined);
  assert.equal((await tryOut(llm, free.byKey)).status, 200);
  const refused = await tryOut(premium, free.byKey);
  assert.equal(refused.status, 403, refused.text);
  assert.match(refused.text, /the plan \\"free\\" includes no model of this provider/);
});

test("a provider that the platform has switched off is not tested", async () => {
  const id = (await providerIds(platform, tenancy)).get("llm groq");
  assert.ok(id !== undefined);
  await platform.database.providers.update(id, null, { active: false }, 0);
  assert.equal((await tryOut(id)).status, 403);
});

test("the number of tests per minute is limited for the whole organization, across all its keys", async (t) => {
  const vendorLimit = { usesMax: 2, windowMs: 60_000 };
  const limited = await LoopbackPlatform.start({ config: { vendorLimit } });
  t.after(() => limited.close());
  const own = await limited.newTenancy();
  const other = await limited.newTenancy();
  const id = (await providerIds(limited, own)).get("llm openai");
  const ask = (headers: Readonly<Record<string, string>>) =>
    limited.client.send("POST", `${PROVIDERS}/${id}/test`, { headers });
  const statuses: number[] = [];
  for (const headers of [own.byKey, own.byToken, own.byKey, own.byToken, other.byKey]) {
    statuses.push((await ask(headers)).status);
  }
  assert.deepEqual(statuses, [200, 200, 429, 429, 200]);
  limited.clock.advance(60_000);
  assert.equal((await ask(own.byKey)).status, 200);
});
