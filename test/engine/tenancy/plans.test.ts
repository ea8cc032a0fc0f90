import assert from "node:assert/strict";
import { test } from "node:test";
import { VENDOR_CATALOG } from "../../../engine/tenancy/providers/vendor-catalog.js";
import { STANDARD_PLANS } from "../../../engine/tenancy/seeding/standard-plans.js";
import type { Category } from "../../../storage/records.js";
import { planRecord } from "../../storage/sample-records.js";
import { openPlatform } from "./seeded-platform.js";

const CATEGORIES: readonly Category[] = ["llm", "tts", "stt"];

test("the standard plans have the limits of the contract", () => {
  const rows = STANDARD_PLANS.map(({ slug, limits, features }) => [
    slug,
    limits.maxAgents,
    limits.maxConcurrentCalls,
    limits.maxCallDurationSec,
    limits.maxMonthlyMinutes,
    features.maxCustomProviders,
    features.customProviders,
  ]);
  assert.deepEqual(rows, [
    ["free", 1, 2, 300, 60, 0, false],
    ["starter", 5, 10, 1800, 1000, 1, true],
    ["pro", 25, 50, 3600, 10000, 5, true],
    ["enterprise", 999, 500, 7200, 100000, 100, true],
  ]);
});

test("the standard plans have the announced prices", () => {
  const rows = STANDARD_PLANS.map(({ slug, pricing }) => [
    slug,
    pricing.monthly,
    pricing.annual,
    pricing.maxDiscountPercent,
  ]);
  assert.deepEqual(rows, [
    ["free", 0, 0, 0],
    ["starter", 29, 290, 10],
    ["pro", 199, 1990, 20],
    ["enterprise", 999, 9990, 30],
  ]);
});

test("each plan includes every model of the smaller one, and each has an STT model", () => {
  for (const [index, plan] of STANDARD_PLANS.entries()) {
    assert.ok(plan.models.stt.includes("deepgram/nova-3"), plan.slug);
    const smaller = STANDARD_PLANS[index - 1];
    if (smaller === undefined) continue;
    for (const category of CATEGORIES) {
      const missing: readonly string[] = smaller.models[category].filter(
        (each) => !plan.models[category].includes(each),
      );
      assert.deepEqual(missing, [], plan.slug);
    }
  }
});

test("the largest plan has exactly the models of the vendors in the registry", () => {
  for (const category of CATEGORIES) {
    const catalog = VENDOR_CATALOG.filter((entry) => entry.category === category).flatMap((entry) =>
      entry.models.map(({ modelId }) => `${entry.providerKey}/${modelId}`),
    );
    assert.deepEqual(STANDARD_PLANS.at(-1)?.models[category].toSorted(), catalog.toSorted());
  }
});

test("the public list contains the standard plans, cheapest first, but no hidden or custom ones", async (t) => {
  const platform = await openPlatform(t);
  const free = await platform.database.plans.findBySlug("free");
  assert.ok(free);
  await platform.database.plans.insertIfAbsent({ ...free, id: "p1", slug: "acme", custom: true });
  await platform.database.plans.insertIfAbsent({ ...free, id: "p2", slug: "old", public: false });
  assert.deepEqual(
    (await platform.plans.listPublic()).map((plan) => plan.slug),
    ["free", "starter", "pro", "enterprise"],
  );
});

test("seeding the plans again changes none of them", async (t) => {
  const platform = await openPlatform(t);
  const before = await platform.database.plans.list();
  platform.clock.advance(1_000);
  await platform.plans.seed();
  assert.deepEqual(await platform.database.plans.list(), before);
});

test("a model that is new in a release is added only to the standard plans that include it", async (t) => {
  const { database, plans } = await openPlatform(t);
  const starter = await database.plans.findBySlug("starter");
  assert.ok(starter);
  const [first = "", second = "", ...others] = starter.models.llm;
  await database.plans.setModels(starter.id, { ...starter.models, llm: others }, 0);
  const own = planRecord({ id: "own", slug: "own", custom: true });
  await database.plans.insertIfAbsent(own);
  const made = planRecord({ id: "made", slug: "made" });
  await database.plans.insertIfAbsent(made);
  const isNew = (category: Category, model: string) => category === "llm" && model !== second;
  await plans.seed({ isNew });
  const seeded = await database.plans.findBySlug("starter");
  assert.deepEqual(seeded?.models, { ...starter.models, llm: [...others, first] });
  assert.deepEqual(await database.plans.findBySlug("own"), own);
  assert.deepEqual(await database.plans.findBySlug("made"), made);
  await plans.seed();
  assert.deepEqual(await database.plans.findBySlug("starter"), seeded, "nothing new is left");
});

test("a plan that was added later is sorted into the public list by its price", async (t) => {
  const { database, plans } = await openPlatform(t);
  const pricing = { monthly: 99, annual: 990, maxDiscountPercent: 0 };
  await database.plans.insertIfAbsent(planRecord({ id: "own", slug: "own", pricing }));
  assert.deepEqual(
    (await plans.listPublic()).map(({ slug }) => slug),
    ["free", "starter", "own", "pro", "enterprise"],
  );
});
