import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { AuditEntries } from "../../../api/contract/audit.js";
import {
  GlobalProvider,
  OrganizationOverview,
  OrganizationOverviews,
  PlanChoice,
} from "../../../api/contract/routes/operator-routes.js";
import type { Route } from "../../../api/contract/routes/route.js";
import { ROUTES } from "../../../api/contract/routes/route-table.js";
import { startSandbox } from "../../../engine/sandbox/sandbox.js";
import { Operators } from "../../../engine/tenancy/people/operators.js";
import { VERSION } from "../../../engine/version.js";
import { LoopbackPlatform, type Tenancy } from "../http/loopback-platform.js";
import { agentDraft, idIn } from "./agent-drafts.js";
import { callRecord } from "./call-drafts.js";

const ORGANIZATIONS = "/api/operator/organizations";
const NODES = "/api/operator/nodes";

const ROOT = { type: "administrator", id: "root" } as const;
const GOOD = { ok: true, latencyMs: 0 };
const OWN = {
  category: "llm",
  providerKey: "openai",
  name: "Own account",
  credentials: { apiKey: "sk-own" },
  models: [{ modelId: "gpt-6-luna", label: "The model" }],
};

let platform: LoopbackPlatform;
let operators: Operators;
let operator: Tenancy;
let customer: Tenancy;

before(async () => {
  platform = await LoopbackPlatform.start();
  const { database, clock } = platform;
  operators = new Operators({ database, clock, newId: randomUUID, administrator: ROOT });
  operator = await platform.newTenancy("pro");
  customer = await platform.newTenancy("free", "pending");
  assert.equal(await operators.grant(operator.email), true);
});

after(() => platform.close());

function send(method: string, path: string, tenancy: Tenancy, body?: unknown) {
  return platform.client.send(method, path, { headers: tenancy.byToken, body });
}

async function overview({ orgId }: Tenancy) {
  const { status, body } = await send("GET", `${ORGANIZATIONS}/${orgId}`, operator);
  assert.equal(status, 200);
  return v.parse(OrganizationOverview, body);
}

test("a user who is not an operator is refused on every operator route", async () => {
  const { client } = platform;
  const rows = Object.values<Route>(ROUTES).filter(({ auth }) => auth === "operator");
  assert.equal(rows.length, 13);
  for (const { method, path, body } of rows) {
    for (const id of [customer.orgId, randomUUID()]) {
      const target = path.replace(":id", id);
      const ask = (headers: Readonly<Record<string, string>>) =>
        client.send(method.toUpperCase(), target, {
          headers,
          body: body && { status: "active" },
        });
      // An operator's own key is refused, too: keys are for programs, and the role belongs to a person.
      for (const headers of [customer.byToken, customer.byKey, operator.byKey]) {
        assert.equal((await ask(headers)).status, 403, target);
      }
      assert.equal((await ask({})).status, 401, target);
    }
  }
  assert.equal((await overview(customer)).status, "pending");
});

test("an operator sees every organization with its calls and the minutes of the month", async () => {
  const { client, database, clock } = platform;
  const busy = await platform.newTenancy("pro");
  const draft = await agentDraft(platform, busy);
  const agentId = idIn((await client.post("/api/dashboard/agents", draft, busy.byKey)).body);
  const { orgId } = busy;
  const startedAtMs = clock.epochMs();
  const [running, ended, longAgo] = [randomUUID(), randomUUID(), randomUUID()];
  for (const id of [running, ended, longAgo]) {
    await database.calls.start(callRecord({ id, orgId, agentId, startedAtMs }), "run");
  }
  const { metrics } = callRecord({ id: ended, orgId, agentId, startedAtMs });
  const nothing = { ttsChars: 0, llmTokens: 0, sttSeconds: 0 };
  const today = new Date(startedAtMs);
  const earlier = new Date(startedAtMs);
  earlier.setUTCDate(0);
  for (const [id, day, minutes] of [
    [ended, today, 1.5],
    [longAgo, earlier, 30],
  ] as const) {
    await database.calls.finish(id, {
      status: "completed",
      endedAtMs: startedAtMs,
      durationSec: 60 * minutes,
      metrics,
      metadata: {},
      messages: [],
      usage: { orgId, date: day.toISOString().slice(0, 10), calls: 1, minutes, ...nothing },
    });
  }
  const seen = await overview(busy);
  assert.deepEqual(
    [seen.activeCalls, seen.monthMinutes, seen.planSlug, seen.status, seen.ownerEmail],
    [1, 1.5, "pro", "active", busy.email],
  );
  const { text } = await send("GET", NODES, operator);
  assert.deepEqual(
    JSON.parse(text).map((node: object) => ({ ...node, load: 0 })),
    [
      {
        name: "loopback",
        state: "taking",
        calls: 1,
        callsMax: 0,
        load: 0,
        version: VERSION,
        address: null,
        startedAt: new Date(clock.epochMs()).toISOString(),
      },
    ],
  );
});

test("the list is paged, newest first, and can be filtered by words and by status", async () => {
  const named = async (name: string) => {
    const made = await platform.newTenancy("free", "pending");
    platform.clock.advance(1_000);
    await platform.database.organizations.rename(made.orgId, name, platform.clock.epochMs());
    return made;
  };
  await named("Bäckerei 50 %");
  await named("BÄCKEREI Nord");
  const last = await named("Bäckerei_Süd");
  const list = async (query: string) => {
    const { status, body } = await send("GET", `${ORGANIZATIONS}?${encodeURI(query)}`, operator);
    assert.equal(status, 200);
    const page = v.parse(OrganizationOverviews, body);
    return { total: page.total, names: page.items.map(({ name }) => name) };
  };
  assert.deepEqual(await list("words=bäckerei&limit=2"), {
    total: 3,
    names: ["Bäckerei_Süd", "BÄCKEREI Nord"],
  });
  assert.deepEqual(await list("words=bäckerei&limit=2&skip=2"), {
    total: 3,
    names: ["Bäckerei 50 %"],
  });
  assert.deepEqual((await list("words=50%")).names.length, 0);
  assert.deepEqual((await list("words=50 %")).names, ["Bäckerei 50 %"]);
  assert.deepEqual((await list("words=Bäckerei_")).names, ["Bäckerei_Süd"]);
  assert.deepEqual((await list(`words=${last.email.toUpperCase()}`)).names, ["Bäckerei_Süd"]);
  assert.deepEqual((await list("words=bäckerei&status=active")).total, 0);
  assert.deepEqual((await list("words=bäckerei&status=pending")).total, 3);
  assert.equal((await send("GET", `${ORGANIZATIONS}?status=gone`, operator)).status, 400);
});

test("an operator activates, suspends and changes the plan, and the organization's audit trail says so", async () => {
  const theirs = await platform.newTenancy("free", "pending");
  const path = `${ORGANIZATIONS}/${theirs.orgId}`;
  const organization = () => platform.client.get("/api/dashboard/organization", theirs.byToken);
  assert.equal((await organization()).status, 403);
  const active = await send("PATCH", path, operator, { status: "active", planSlug: "enterprise" });
  assert.equal(v.parse(OrganizationOverview, active.body).planSlug, "enterprise");
  assert.equal((await organization()).status, 200);
  // An unchanged value leaves no entry.
  await send("PATCH", path, operator, { status: "active" });
  await send("PATCH", path, operator, {});
  const trail = await platform.client.get("/api/dashboard/audit?limit=2", theirs.byToken);
  assert.deepEqual(
    v
      .parse(AuditEntries, trail.body)
      .items.map(({ action, actor, changes }) => [action, actor.id, ...changes]),
    [
      ["organization.activate", "platform", "status"],
      ["organization.changePlan", "platform", "planId"],
    ],
  );
  const [entry] = await platform.services.auditTrail.listNewest(1);
  const me = await platform.client.get("/api/auth/me", operator.byToken);
  assert.equal(entry?.actor.id, Object(me.body).user.id);

  await send("PATCH", path, operator, { status: "pending" });
  assert.equal((await organization()).status, 403);
  assert.equal((await send("PATCH", path, operator, { planSlug: "none" })).status, 404);
  assert.equal((await send("PATCH", path, operator, { status: "gone" })).status, 400);
  const nowhere = `${ORGANIZATIONS}/${randomUUID()}`;
  assert.equal((await send("PATCH", nowhere, operator, { status: "active" })).status, 404);
  assert.equal((await send("GET", nowhere, operator)).status, 404);
});

test("an operator can assign every plan, including those that are not public", async () => {
  const { id, ...custom } = (await platform.services.plans.list())[0] ?? assert.fail();
  const own = { ...custom, id: `own-${id}`, slug: "own", public: false, custom: true };
  await platform.database.plans.insertIfAbsent(own);
  const { body } = await send("GET", "/api/operator/plans", operator);
  const slugs = v.parse(v.array(PlanChoice), body).map(({ slug }) => slug);
  assert.ok(slugs.includes("own") && slugs.includes("free"), slugs.join(" "));
});

test("an operator gives an organization a plan of its own, and changes it", async () => {
  const client = await platform.newTenancy("starter");
  const path = `${ORGANIZATIONS}/${client.orgId}/plan`;
  const first = await send("PATCH", path, operator, {
    limits: { maxConcurrentCalls: 77 },
    features: { maxCustomProviders: 9 },
  });
  assert.equal(first.status, 200);
  const own = await overview(client);
  const { maxAgents, maxConcurrentCalls } = own.limits;
  assert.deepEqual([maxAgents, maxConcurrentCalls], [5, 77]);
  const slug = `custom-${client.orgId}`;
  assert.equal(own.planSlug, slug);
  const second = { name: "Acme 2027", limits: { maxAgents: 6 } };
  assert.equal((await send("PATCH", path, operator, second)).status, 200);
  const plan = await platform.database.plans.findBySlug(slug);
  assert.ok(plan);
  assert.deepEqual(
    [plan.name, plan.custom, plan.public, plan.limits.maxAgents, plan.limits.maxConcurrentCalls],
    ["Acme 2027", true, false, 6, 77],
  );
  assert.equal(plan.features.maxCustomProviders, 9);
  const mine = await platform.client.send("GET", "/api/dashboard/plan", { headers: client.byKey });
  assert.equal(Object(mine.body).limits.maxAgents, 6);
  const { items } = await platform.database.audit.list(client.orgId, { skip: 0, limit: 1 });
  assert.deepEqual(
    items.map(({ action, changes }) => [action, changes]),
    [["organization.changePlan", ["name", "limits.maxAgents"]]],
  );
  for (const wrong of [{ limits: { maxAgents: -1 } }, { limits: { maxCalls: 1 } }]) {
    assert.equal((await send("PATCH", path, operator, wrong)).status, 400);
  }
  const nowhere = `${ORGANIZATIONS}/${randomUUID()}/plan`;
  assert.equal((await send("PATCH", nowhere, operator, second)).status, 404);
});

test("operators add, change and delete providers of the platform, and leave those of the environment", async () => {
  const PROVIDERS = "/api/operator/providers";
  const list = async () =>
    v.parse(v.array(GlobalProvider), (await send("GET", PROVIDERS, operator)).body);
  const [fromEnvironment] = await list();
  assert.ok(fromEnvironment);
  assert.equal(fromEnvironment.origin, "environment");
  const change = { active: false };
  const refused = await send("PATCH", `${PROVIDERS}/${fromEnvironment._id}`, operator, change);
  assert.equal(refused.status, 403);
  assert.match(Object(refused.body).error, /comes from the environment/);

  const draft = {
    category: "llm",
    providerKey: "groq",
    name: "Second account",
    credentials: { apiKey: "gsk_second" },
    models: [{ modelId: "openai/gpt-oss-20b", label: "Small" }],
  };
  const made = await send("POST", PROVIDERS, operator, draft);
  assert.equal(made.status, 201);
  assert.doesNotMatch(JSON.stringify(made.body), /gsk_second|sealed/);
  const { _id: id, origin } = v.parse(GlobalProvider, made.body);
  assert.equal(origin, "operator");
  assert.equal((await send("POST", PROVIDERS, operator, draft)).status, 409);
  const path = `${PROVIDERS}/${id}`;
  assert.equal((await send("PATCH", path, operator, { ...change, name: "Spare" })).status, 200);
  const stored = (await list()).find(({ _id }) => _id === id);
  assert.deepEqual([stored?.name, stored?.active, stored?.origin], ["Spare", false, "operator"]);
  const own = `/api/dashboard/providers/${id}`;
  const asTenant = { headers: operator.byKey, body: change };
  assert.equal((await platform.client.send("PATCH", own, asTenant)).status, 403);
  assert.equal((await send("DELETE", path, operator)).status, 200);
  assert.equal((await send("DELETE", path, operator)).status, 404);
});

test("operators try providers of the platform whatever their plan, and alone read the vendor's own words", async (t) => {
  const sandbox = await startSandbox();
  t.after(() => sandbox.close());
  const tried = await LoopbackPlatform.start({ vendorUrls: { ...sandbox.urls } });
  t.after(() => tried.close());
  const { database, clock, client } = tried;
  const grants = new Operators({ database, clock, newId: randomUUID, administrator: ROOT });
  const free = await tried.newTenancy("free");
  await grants.grant(free.email);
  const PROVIDERS = "/api/operator/providers";
  const ask = (method: string, path: string, body?: unknown) =>
    client.send(method, path, { headers: free.byToken, body });
  const list = async () => v.parse(v.array(GlobalProvider), (await ask("GET", PROVIDERS)).body);
  const draft = { ...OWN, name: "Second account", credentials: { apiKey: "sk-second" } };

  const before = await list();
  assert.deepEqual((await ask("POST", `${PROVIDERS}/test`, draft)).body, GOOD);
  assert.equal((await ask("POST", `${PROVIDERS}/test`, { ...draft, credentials: {} })).status, 400);
  assert.deepEqual(await list(), before);

  const premium = before.find(({ providerKey }) => providerKey === "elevenlabs");
  assert.ok(premium);
  assert.equal(premium.lastTest, null);
  assert.deepEqual((await ask("POST", `${PROVIDERS}/${premium._id}/test`)).body, GOOD);
  const shown = (await list()).find(({ _id }) => _id === premium._id);
  assert.deepEqual([shown?.lastTest?.ok, shown?.lastTest?.error], [true, null]);

  const { _id: id } = v.parse(GlobalProvider, (await ask("POST", PROVIDERS, draft)).body);
  await ask("PATCH", `${PROVIDERS}/${id}`, { active: false });
  sandbox.faults.openai = { fault: "unauthorized" };
  const refused = await ask("POST", `${PROVIDERS}/${id}/test`);
  assert.equal(refused.status, 200);
  assert.match(Object(refused.body).error, /^openai rejects the credentials \(.*401/);
  assert.doesNotMatch(refused.text, /sk-second/);
  const kept = await client.send("GET", `/api/dashboard/providers/${id}`, { headers: free.byKey });
  assert.equal(Object(kept.body).lastTest.error, "openai rejects the credentials");
  assert.equal((await ask("POST", `${PROVIDERS}/${randomUUID()}/test`)).status, 404);
});

test("the one server of a file cannot be drained", async () => {
  const { status, body } = await send("POST", `${NODES}/loopback/drain`, operator);
  assert.equal(status, 409);
  assert.match(Object(body).error, /a SQLite file has one server/);
});

test("the role works in a pending organization, is shown only to its user, and ends with its revocation", async () => {
  const other = await platform.newTenancy("free", "pending");
  const isOperator = async (tenancy: Tenancy) =>
    Object((await send("GET", "/api/auth/me", tenancy)).body).isOperator;
  assert.equal(await isOperator(other), undefined);
  assert.equal(await operators.grant(` ${other.email.toUpperCase()}`), true);
  assert.equal(await operators.grant(other.email), false);
  assert.equal(await isOperator(other), true);
  assert.equal((await send("GET", NODES, other)).status, 200);
  const emails = (await operators.list()).map(({ email }) => email);
  assert.deepEqual(emails, [operator.email, other.email]);

  assert.equal(await operators.revoke(other.email), true);
  assert.equal(await operators.revoke(other.email), false);
  assert.equal(await isOperator(other), undefined);
  assert.equal((await send("GET", NODES, other)).status, 403);
  const { items } = await platform.database.audit.list(other.orgId, { skip: 0, limit: 2 });
  assert.deepEqual(
    items.map(({ action, actor }) => `${action} ${actor.id}`),
    ["organization.revokeOperator root", "organization.grantOperator root"],
  );
  await assert.rejects(operators.grant("nobody@example.com"), /no user has this e-mail/);
});

test("an operator cannot try the provider of an organization", async () => {
  const enterprise = await platform.newTenancy("enterprise");
  const made = await platform.client.post("/api/dashboard/providers", OWN, enterprise.byKey);
  assert.equal(made.status, 201, made.text);
  const path = `/api/operator/providers/${idIn(made.body)}/test`;
  assert.equal((await send("POST", path, operator)).status, 404);
});
