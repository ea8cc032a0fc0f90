import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { FoundModels } from "../../../api/contract/organization.js";
import { LoopbackPlatform, type Tenancy } from "../http/loopback-platform.js";

const SEARCH = "/api/dashboard/models/search";
let platform: LoopbackPlatform;
let free: Tenancy;

before(async () => {
  platform = await LoopbackPlatform.start();
  free = await platform.newTenancy("free");
});

after(() => platform.close());

test("the organization shows its plan and can be renamed", async () => {
  const path = "/api/dashboard/organization";
  const shown = await platform.client.get(path, free.byToken);
  assert.equal(shown.status, 200);
  const { planSlug, planName, ownerEmail, limits } = Object(shown.body);
  assert.deepEqual([planSlug, planName, ownerEmail], ["free", "Free", free.email]);
  assert.equal(limits.maxCallDurationSec, 300);
  platform.clock.advance(1_000);
  const body = { name: " Example Ltd " };
  const renamed = await platform.client.send("PATCH", path, { headers: free.byKey, body });
  assert.deepEqual(renamed.body, {
    ...Object(shown.body),
    name: "Example Ltd",
    updatedAt: new Date(platform.clock.epochMs()).toISOString(),
  });
  const refused = await platform.client.send("PATCH", path, { headers: free.byKey, body: {} });
  assert.equal(refused.status, 400);
});

test("the plan shows what it includes", async () => {
  const answer = await platform.client.get("/api/dashboard/plan", free.byKey);
  assert.deepEqual(Object.keys(Object(answer.body)).sort(), [
    "features",
    "limits",
    "models",
    "name",
    "slug",
  ]);
  assert.ok(Object(answer.body).models.llm.includes("openai/gpt-6-luna"));
});

test("models can be searched: those of the plan first, and others with the plan that includes them", async () => {
  const answer = await platform.client.get(`${SEARCH}?category=llm&limit=100`, free.byKey);
  const { items, total, skip, limit } = v.parse(FoundModels, answer.body);
  assert.deepEqual([items.length, skip, limit], [total, 0, 100]);
  const firstGated = items.findIndex(({ allowed }) => !allowed);
  assert.ok(firstGated > 0);
  assert.ok(
    items.slice(firstGated).every((model) => !model.allowed && model.requiredPlan !== null),
  );
  const found = await platform.client.get(
    `${SEARCH}?category=llm&query=GPT-6%20LUNA&limit=1`,
    free.byKey,
  );
  assert.deepEqual(
    v.parse(FoundModels, found.body).items.map(({ modelId }) => modelId),
    ["gpt-6-luna"],
  );
  const page = await platform.client.get(`${SEARCH}?category=llm&skip=2&limit=3`, free.byKey);
  assert.deepEqual(v.parse(FoundModels, page.body).items, items.slice(2, 5));
});

test("a search without a category, or with a wrong one, is refused", async () => {
  for (const query of ["", "?category=vision", "?category=llm&limit=0", "?category=llm&skip=x"]) {
    assert.equal((await platform.client.get(`${SEARCH}${query}`, free.byKey)).status, 400, query);
  }
});
