import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { IssuedClientToken } from "../../../api/contract/client-token.js";
import { LoopbackPlatform, type Tenancy } from "../http/loopback-platform.js";
import { agentDraft } from "./agent-drafts.js";

const TOKENS = "/api/dashboard/client-tokens";
const AGENTS = "/api/dashboard/agents";
const Made = v.object({ _id: v.string(), allowedOrigins: v.array(v.string()) });

let platform: LoopbackPlatform;
let tenancy: Tenancy;
let agentId: string;

before(async () => {
  platform = await LoopbackPlatform.start();
  tenancy = await platform.newTenancy();
  const made = await platform.client.post(
    AGENTS,
    await agentDraft(platform, tenancy),
    tenancy.byToken,
  );
  agentId = v.parse(Made, made.body)._id;
});
after(() => platform.close());

test("a user and a key for calls can create a token; a key for the dashboard alone cannot", async () => {
  const voice = await platform.newTenancy("pro", "active", ["voice"]);
  const dashboard = await platform.newTenancy("pro", "active", ["dashboard"]);
  const body = { agentId, ttlSec: 60 };
  const made = await platform.client.post(TOKENS, body, tenancy.byToken);
  assert.equal(made.status, 201, made.text);
  const { expiresAt } = v.parse(IssuedClientToken, made.body);
  assert.equal(expiresAt, new Date(platform.clock.epochMs() + 60_000).toISOString());
  const others = await platform.client.post(TOKENS, body, voice.byKey);
  assert.equal(others.status, 404, "an agent of another organization is not found");
  const refused = await platform.client.post(TOKENS, body, dashboard.byKey);
  assert.equal(refused.status, 403);
  assert.match(refused.text, /scope/);
  assert.equal((await platform.client.post(TOKENS, body)).status, 401);
});

test("overrides change what the agent says, so a key for calls cannot create a token with them", async () => {
  const body = { agentId, ttlSec: 60, overrides: { greeting: "Hi.", language: "en-GB" } };
  const made = await platform.client.post(TOKENS, body, tenancy.byToken);
  assert.equal(made.status, 201, made.text);
  const voice = await platform.newTenancy("pro", "active", ["voice"]);
  const refused = await platform.client.post(TOKENS, body, voice.byKey);
  assert.deepEqual([refused.status, Object(refused.body).code], [403, "scope_missing"]);
});

test("every wrong field is named, with the expected value", async () => {
  for (const [change, path] of [
    [{ agentId: "" }, "agentId"],
    [{ ttlSec: 9 }, "ttlSec"],
    [{ ttlSec: 3_601 }, "ttlSec"],
    [{ callMaxSec: 0 }, "callMaxSec"],
    [{ origin: "shop.example.com" }, "origin"],
    [{ origin: "https://shop.example.com/path" }, "origin"],
    [{ origin: "https://SHOP.example.com" }, "origin"],
    [{ origin: "javascript:alert(1)" }, "origin"],
    [{ variables: { "not a name": "x" } }, "variables"],
    [{ variables: { name: "x".repeat(501) } }, "variables"],
    [{ variables: { name: 7 } }, "variables"],
    [{ variables: Object.fromEntries(letters().map((name) => [name, ""])) }, "variables"],
    [{ variables: { a: "x".repeat(500), b: "y".repeat(500), c: "z".repeat(500) } }, "variables"],
  ] as const) {
    const body = { agentId, ttlSec: 60, ...change };
    const { status, text } = await platform.client.post(TOKENS, body, tenancy.byToken);
    assert.equal(status, 400, `${JSON.stringify(change)}: ${text}`);
    assert.match(text, new RegExp(`"${path}[.":]|${path}: `));
  }
});

test("an agent is not public until it has allowed origins", async () => {
  const path = `${AGENTS}/${agentId}`;
  const patch = (allowedOrigins: unknown) =>
    platform.client.send("PATCH", path, { body: { allowedOrigins }, headers: tenancy.byToken });
  const before = await platform.client.get(path, tenancy.byToken);
  assert.deepEqual(v.parse(Made, before.body).allowedOrigins, []);
  const origins = ["https://shop.example.com", "http://localhost:3000"];
  assert.deepEqual(v.parse(Made, (await patch(origins)).body).allowedOrigins, origins);
  const ofApps = ["capacitor://localhost", "tauri://localhost", "https://*.example.com"];
  assert.deepEqual(v.parse(Made, (await patch(ofApps)).body).allowedOrigins, ofApps);
  await patch(origins);
  const renamed = await platform.client.send("PATCH", path, {
    body: { name: "Other" },
    headers: tenancy.byToken,
  });
  assert.deepEqual(v.parse(Made, renamed.body).allowedOrigins, origins);
  for (const wrong of [
    ["*"],
    ["https://a.example/"],
    ["https://*"],
    ["https://*.com"],
    ["https://a.*.example.com"],
    ["https://shop*.example.com"],
    ["capacitor://*.example.com"],
    ["file://a"],
    "https://a.example",
    letters().map(site),
  ]) {
    const { status, text } = await patch(wrong);
    assert.equal(status, 400, `${JSON.stringify(wrong)}: ${text}`);
    assert.match(text, /allowedOrigins/);
  }
});

function letters(): readonly string[] {
  return Array.from({ length: 21 }, (_, at) => String.fromCharCode(97 + at));
}

function site(name: string): string {
  return `https://${name}.example`;
}
