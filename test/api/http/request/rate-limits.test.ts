import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { HttpConfig } from "../../../../api/http/start-server.js";
import type { Received } from "../loopback-client.js";
import { CONTRACT_LIMITS, LoopbackPlatform } from "../loopback-platform.js";

const SIGN_IN = "/api/auth/signin";
const NOBODY = { email: "nobody@example.com", password: "wrong" };

async function started(t: TestContext, config: Partial<HttpConfig>): Promise<LoopbackPlatform> {
  const platform = await LoopbackPlatform.start({ config });
  t.after(() => platform.close());
  return platform;
}

async function repeat(times: number, ask: () => Promise<Received>): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < times; index += 1) statuses.push((await ask()).status);
  return statuses;
}

test("an address may try to sign up or in ten times per minute", async (t) => {
  const { client, clock } = await started(t, CONTRACT_LIMITS);
  const badSignUp = () => client.post("/api/auth/signup", {});
  assert.deepEqual(new Set(await repeat(9, badSignUp)), new Set([400]));
  assert.equal((await client.post(SIGN_IN, NOBODY)).status, 401);
  const refused = await client.post(SIGN_IN, NOBODY);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers["retry-after"], "60");
  assert.match(refused.text, /"error":"too many requests/);
  assert.equal((await client.get("/api/plans")).status, 200);
  clock.advance(60_000);
  assert.equal((await badSignUp()).status, 400);
});

test("each key or user may send 600 requests per minute", async (t) => {
  const platform = await started(t, CONTRACT_LIMITS);
  const { client } = platform;
  const first = await platform.newTenancy();
  const second = await platform.newTenancy();
  const asFirst = () => client.get("/api/dashboard/plan", first.byKey);
  assert.deepEqual(new Set(await repeat(600, asFirst)), new Set([200]));
  assert.equal((await asFirst()).status, 429);
  assert.equal((await client.get("/api/dashboard/plan", first.byToken)).status, 200);
  assert.equal((await client.get("/api/dashboard/plan", second.byKey)).status, 200);
});

test("guessing keys is limited by address", async (t) => {
  const generalLimit = { usesMax: 3, windowMs: 60_000 };
  const { client } = await started(t, { generalLimit });
  const guess = () => client.get("/api/dashboard/plan", { "x-api-key": `vk_${"0".repeat(48)}` });
  assert.deepEqual(await repeat(5, guess), [401, 401, 401, 429, 429]);
});

test("with a trusted proxy every client has its own limit", async (t) => {
  const config = { authLimit: { usesMax: 1, windowMs: 60_000 }, trustedProxies: ["127.0.0.1"] };
  const { client } = await started(t, config);
  const from = (address: string) =>
    client.post("/api/auth/signup", {}, { "x-forwarded-for": address });
  const statuses: number[] = [];
  for (const address of [
    "198.51.100.1",
    "198.51.100.2",
    "198.51.100.1",
    "2001:db8::1",
    "2001:db8::2",
  ]) {
    statuses.push((await from(address)).status);
  }
  assert.deepEqual(statuses, [400, 400, 429, 400, 429]);
});

test("without a trusted proxy, a client cannot escape its limit with a header", async (t) => {
  const { client } = await started(t, { authLimit: { usesMax: 1, windowMs: 60_000 } });
  const from = (address: string) =>
    client.post("/api/auth/signup", {}, { "x-forwarded-for": address });
  assert.equal((await from("198.51.100.1")).status, 400);
  assert.equal((await from("198.51.100.2")).status, 429);
});

test("health probes are never refused", async (t) => {
  const { client } = await started(t, { generalLimit: { usesMax: 1, windowMs: 60_000 } });
  const statuses = await repeat(5, () => client.get("/api/health"));
  assert.deepEqual(new Set(statuses), new Set([200]));
});
