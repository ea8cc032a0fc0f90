import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { VERSION } from "../../../engine/version.js";
import { LoopbackPlatform } from "../http/loopback-platform.js";

let platform: LoopbackPlatform;
let isDraining = false;
let isReady = true;

before(async () => {
  platform = await LoopbackPlatform.start({
    isDraining: () => isDraining,
    isReady: () => isReady,
    metricsText: () => "calls_active 3\n",
  });
});

after(() => platform.close());

test("health reports whether the server takes calls, and its version", async () => {
  const about = { timestamp: platform.clock.epochMs(), version: VERSION };
  const up = await platform.client.get("/api/health");
  assert.deepEqual([up.status, up.body], [200, { status: "ok", ...about }]);
  isDraining = true;
  const stopping = await platform.client.get("/api/health");
  isDraining = false;
  assert.deepEqual([stopping.status, stopping.body], [503, { status: "draining", ...about }]);
});

test("the bare address redirects to the console, and the documentation has its own path", async () => {
  const bare = await platform.client.get("/");
  assert.equal(bare.status, 302);
  assert.equal(bare.headers["location"], "/console");
  assert.equal((await platform.client.get("/console")).status, 200);
  assert.equal((await platform.client.get("/api/docs")).status, 200);
});

test("readiness reports whether a new call would be accepted, and health does not", async () => {
  const timestamp = platform.clock.epochMs();
  const ready = await platform.client.get("/api/ready");
  assert.deepEqual([ready.status, ready.body], [200, { status: "ready", timestamp }]);
  isReady = false;
  const full = await platform.client.get("/api/ready");
  const health = await platform.client.get("/api/health");
  isDraining = true;
  const stopping = await platform.client.get("/api/ready");
  isDraining = false;
  isReady = true;
  assert.deepEqual([full.status, full.body], [503, { status: "overloaded", timestamp }]);
  assert.equal(health.status, 200);
  assert.deepEqual([stopping.status, stopping.body], [503, { status: "draining", timestamp }]);
});

test("the four standard plans are public, with the contract's limits", async () => {
  const answer = await platform.client.get("/api/plans");
  assert.equal(answer.status, 200);
  assert.ok(Array.isArray(answer.body));
  assert.deepEqual(
    answer.body.map(({ slug, limits, features }) => [
      slug,
      ...Object.values(limits),
      features.maxCustomProviders,
    ]),
    [
      ["free", 1, 2, 300, 60, 0],
      ["starter", 5, 10, 1_800, 1_000, 1],
      ["pro", 25, 50, 3_600, 10_000, 5],
      ["enterprise", 999, 500, 7_200, 100_000, 100],
    ],
  );
});

test("setup is complete with an active organization and a provider of each kind", async () => {
  const providers = { llm: 7, tts: 6, stt: 3 };
  const before = await platform.client.get("/api/setup/status");
  assert.deepEqual(before.body, { setupComplete: false, hasOrganization: false, providers });
  await platform.newTenancy("free", "pending");
  const pending = await platform.client.get("/api/setup/status");
  assert.deepEqual(pending.body, { setupComplete: false, hasOrganization: true, providers });
  await platform.newTenancy("free", "active");
  const complete = await platform.client.get("/api/setup/status");
  assert.deepEqual(complete.body, { setupComplete: true, hasOrganization: true, providers });
});

test("metrics have the text format of Prometheus", async () => {
  const answer = await platform.client.get("/metrics");
  assert.equal(answer.text, "calls_active 3\n");
  assert.equal(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
});

test("the API's description is served as a document and as a page", async () => {
  const document = await platform.client.get("/api/openapi.json");
  assert.equal(document.headers["content-type"], "application/json; charset=utf-8");
  assert.match(document.text, /^\{"openapi":"3\.1\.0"/);
  const page = await platform.client.get("/api/docs");
  assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
  assert.match(String(page.headers["content-security-policy"]), /script-src 'self' 'sha256-/);
});
