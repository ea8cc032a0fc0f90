import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { AuditEntries } from "../../../api/contract/audit.js";
import { LoopbackPlatform, type Tenancy } from "../http/loopback-platform.js";
import { agentDraft, idIn } from "./agent-drafts.js";

const AUDIT = "/api/dashboard/audit";
let platform: LoopbackPlatform;

before(async () => {
  platform = await LoopbackPlatform.start();
});

after(() => platform.close());

async function trailOf(
  { byKey }: Tenancy,
  query = "",
): Promise<v.InferOutput<typeof AuditEntries>> {
  const answer = await platform.client.get(AUDIT + query, byKey);
  assert.equal(answer.status, 200, answer.text);
  return v.parse(AuditEntries, answer.body);
}

async function actionsOf(tenancy: Tenancy, query = ""): Promise<readonly string[]> {
  const { items } = await trailOf(tenancy, query);
  return items.map(({ action, actor, changes }) =>
    [actor.type, action, ...changes].join(" ").trim(),
  );
}

test("changes by users and keys are listed newest first, with the names of the fields and no values", async () => {
  const { client } = platform;
  const tenancy = await platform.newTenancy("enterprise");
  const { byToken, byKey } = tenancy;
  const draft = await agentDraft(platform, tenancy);
  const agent = await client.post("/api/dashboard/agents", { ...draft, name: "Desk" }, byToken);
  const agentPath = `/api/dashboard/agents/${idIn(agent.body)}`;
  const agentPatch = { name: "Night desk", persona: { greeting: "Hush" }, active: false };
  await client.send("PATCH", agentPath, { headers: byKey, body: agentPatch });
  await client.send("DELETE", agentPath, { headers: byToken });
  const provider = await client.post(
    "/api/dashboard/providers",
    {
      category: "llm",
      providerKey: "openai",
      name: "Ours",
      credentials: { apiKey: "sk-hidden" },
      models: [{ modelId: "m", label: "M" }],
    },
    byKey,
  );
  const providerPath = `/api/dashboard/providers/${idIn(provider.body)}`;
  const settings = { baseUrl: "https://hidden.example.com" };
  const providerPatch = { name: "Ours", settings, credentials: { apiKey: "sk-hidden-too" } };
  await client.send("PATCH", providerPath, { headers: byToken, body: providerPatch });
  await client.send("DELETE", providerPath, { headers: byKey });
  const key = await client.post("/api/dashboard/api-keys", { name: "Site" }, byToken);
  const keyPath = `/api/dashboard/api-keys/${Object(key.body).id}`;
  await client.send("DELETE", keyPath, { headers: byToken });
  await client.send("DELETE", keyPath, { headers: byToken });
  const body = { name: "Renamed" };
  await client.send("PATCH", "/api/dashboard/organization", { headers: byKey, body });
  assert.deepEqual(await actionsOf(tenancy), [
    "apiKey organization.rename name",
    "user apiKey.revoke",
    "user apiKey.create",
    "apiKey provider.delete",
    "user provider.update settings credentials",
    "apiKey provider.create",
    "user agent.delete",
    "apiKey agent.update name persona.greeting active",
    "user agent.create",
    "administrator apiKey.create",
    "user organization.create",
  ]);
  const { text } = await client.get(AUDIT, byKey);
  assert.doesNotMatch(text, /hidden|Hush/);
});

test("an entry has the actor, the target with its name at the time, the action and the time", async () => {
  const tenancy = await platform.newTenancy();
  platform.clock.advance(1_000);
  const created = await platform.client.post(
    "/api/dashboard/api-keys",
    { name: "Site" },
    tenancy.byToken,
  );
  const me = await platform.client.get("/api/auth/me", tenancy.byToken);
  const { items } = await trailOf(tenancy);
  assert.deepEqual(items[0], {
    id: items[0]?.id,
    orgId: tenancy.orgId,
    at: new Date(platform.clock.epochMs()).toISOString(),
    actor: { type: "user", id: Object(me.body).user.id },
    action: "apiKey.create",
    targetType: "apiKey",
    targetId: Object(created.body).id,
    targetName: "Site",
    changes: [],
  });
});

test("a request that was refused leaves no entry", async () => {
  const tenancy = await platform.newTenancy("free");
  const { client } = platform;
  const { byKey: headers } = tenancy;
  const draft = await agentDraft(platform, tenancy);
  await client.post("/api/dashboard/agents", draft, headers);
  const before = (await trailOf(tenancy)).total;
  const refused = await Promise.all([
    client.post("/api/dashboard/agents", draft, headers),
    client.post("/api/dashboard/agents", { ...draft, name: "" }, headers),
    client.send("PATCH", "/api/dashboard/agents/unknown", { headers, body: { name: "A" } }),
    client.send("DELETE", "/api/dashboard/agents/unknown", { headers }),
    client.send("DELETE", "/api/dashboard/api-keys/unknown", { headers }),
    client.send("DELETE", `/api/dashboard/providers/${draft.llmProviderId}`, { headers }),
  ]);
  assert.deepEqual(
    refused.map(({ status }) => status),
    [403, 400, 404, 404, 404, 403],
  );
  assert.equal((await trailOf(tenancy)).total, before);
});

test("pages are of twenty, and of at most a hundred", async () => {
  const tenancy = await platform.newTenancy();
  const rename = (name: string) =>
    platform.client.send("PATCH", "/api/dashboard/organization", {
      headers: tenancy.byKey,
      body: { name },
    });
  for (let count = 0; count < 25; count += 1) await rename(`Name ${count}`);
  const first = await trailOf(tenancy);
  assert.deepEqual([first.items.length, first.total, first.skip, first.limit], [20, 27, 0, 20]);
  const second = await trailOf(tenancy, "?skip=20&limit=100");
  assert.deepEqual(
    [second.items.length, second.total, second.skip, second.limit],
    [7, 27, 20, 100],
  );
  const ids = [...first.items, ...second.items].map(({ id }) => id);
  assert.equal(new Set(ids).size, 27);
  assert.deepEqual((await trailOf(tenancy, "?skip=27")).items, []);
  for (const query of ["?limit=101", "?limit=0", "?skip=-1", "?skip=1.5", "?limit=many"]) {
    assert.equal((await platform.client.get(AUDIT + query, tenancy.byKey)).status, 400, query);
  }
});

test("an organization sees only its own trail, and no account names of the platform's staff", async () => {
  const mine = await platform.newTenancy();
  const theirs = await platform.newTenancy();
  await platform.client.post("/api/dashboard/api-keys", { name: "Secret plan" }, theirs.byToken);
  await platform.services.organizations.suspend(mine.email);
  await platform.services.organizations.activate(mine.email);
  const { items } = await trailOf(mine);
  assert.ok(items.every(({ orgId }) => orgId === mine.orgId));
  assert.ok(!JSON.stringify(items).includes("Secret plan"));
  assert.deepEqual(
    items.slice(0, 2).map(({ action, actor }) => [action, actor]),
    [
      ["organization.activate", { type: "administrator", id: "platform" }],
      ["organization.suspend", { type: "administrator", id: "platform" }],
    ],
  );
});

test("the trail is refused to keys without the dashboard scope, and to pending organizations", async () => {
  const voiceOnly = await platform.newTenancy("pro", "active", ["voice"]);
  const pending = await platform.newTenancy("pro", "pending");
  assert.equal((await platform.client.get(AUDIT, voiceOnly.byKey)).status, 403);
  assert.equal((await platform.client.get(AUDIT, pending.byToken)).status, 403);
  assert.equal((await platform.client.get(AUDIT)).status, 401);
});
