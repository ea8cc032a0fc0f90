import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { Route } from "../../../api/contract/routes/route.js";
import { ROUTES } from "../../../api/contract/routes/route-table.js";
import { startSandbox } from "../../../engine/sandbox/sandbox.js";
import type { NewEvent } from "../../../storage/webhooks/event-record.js";
import type { DeliveryRecord } from "../../../storage/webhooks/webhook-store.js";
import { agentDraft, idIn } from "../routes/agent-drafts.js";
import { callRecord } from "../routes/call-drafts.js";
import { recordCall } from "../routes/recorded-call.js";
import type { Received } from "./loopback-client.js";
import { LoopbackPlatform, type Tenancy } from "./loopback-platform.js";

/** The kinds of objects in routes with an id, by the path's segment. */
const ownedPaths = [
  "agents",
  "providers",
  "calls",
  "api-keys",
  "members",
  "webhooks",
  "webhook-deliveries",
  "jobs",
  "phone-numbers",
  "documents",
  "telephony-accounts",
  "do-not-call",
  "call-lists",
] as const;
type Owned = (typeof ownedPaths)[number];

/** Operators' routes refuse both organizations: see operator-routes.test.ts. */
const rows = Object.entries<Route>(ROUTES).filter(([, { auth }]) => auth !== "operator");
const withId = rows.filter(([, { path }]) => path.includes(":id"));
const withoutId = rows.filter(([, { path }]) => !path.includes(":id"));
const OWN_PROVIDER = {
  category: "llm",
  providerKey: "ollama",
  models: [{ modelId: "m", label: "M" }],
};
const TTS_PROVIDER = {
  name: "Victim's voice",
  category: "tts",
  providerKey: "deepgram",
  credentials: { apiKey: "secret" },
  models: [{ modelId: "aura-2-thalia-en", label: "Thalia" }],
};
const CALL_LIST = {
  name: "Victim's list",
  from: "+15550101",
  windows: [{ days: ["mon"], from: "09:00", to: "20:00" }],
  rows: [{ to: "+4930123456", variables: { secret: "Victim's" } }],
};
const DOCUMENTS = "/api/dashboard/knowledge/documents";
const IN_NO_ACCOUNT = { accountId: null, importedAtMs: null };
const TELEPHONY_ACCOUNT = {
  vendor: "twilio",
  name: "Victim's line",
  settings: { accountSid: "AC1" },
  credentials: { authToken: "secret" },
};
const WEBHOOK = {
  name: "Victim's",
  url: "https://victim.example.com/hook",
  eventTypes: ["call.failed"],
};

const sandbox = await startSandbox();
let platform: LoopbackPlatform;
let victim: Tenancy;
let stranger: Tenancy;
let victimIds: Readonly<Record<Owned | "ttsProvider", string>>;
/** The bodies that a stranger sends to each route, with ids of the victim wherever a body contains one. */
let bodies: ReadonlyMap<string, unknown>;

before(async () => {
  platform = await LoopbackPlatform.start({ telephonyUrl: sandbox.urls.twilio });
  victim = await platform.newTenancy("pro");
  stranger = await platform.newTenancy("pro");
  victimIds = await belongings(victim);
  const theirProvider = { llmProviderId: victimIds.providers, llmModelId: "m" };
  bodies = new Map<string, unknown>([
    ["signUp", { name: "Stranger", email: victim.email, password: "long enough" }],
    ["signIn", { email: victim.email, password: "a wrong guess" }],
    ["renameOrganization", { name: "Mine now" }],
    ["changePassword", { password: "a wrong guess", newPassword: "long enough" }],
    ["addMember", { name: "Mine", email: victim.email, password: "long enough", role: "admin" }],
    ["changeMemberRole", { role: "member" }],
    ["createApiKey", { name: "Mine" }],
    ["createClientToken", { agentId: victimIds.agents, ttlSec: 60 }],
    ["placeCall", { agentId: victimIds.agents, to: "+15550100", from: "+15550101" }],
    ["createCallList", { ...CALL_LIST, agentId: victimIds.agents }],
    ["setEmbeddings", { providerId: victimIds.providers, modelId: "m" }],
    ["addDoNotCall", { numbers: ["+15550100888"] }],
    ["updatePhoneNumber", { agentId: null, accountId: victimIds["telephony-accounts"] }],
    ["createTelephonyAccount", { ...TELEPHONY_ACCOUNT, name: "Mine" }],
    ["updateTelephonyAccount", { name: "Mine now" }],
    ["importAccountNumber", { number: "+15550102000", agentId: victimIds.agents }],
    ["transferCall", { to: "+15550100" }],
    ["sayAsPerson", { text: "Hello." }],
    ["sayInCall", { text: "Whose call is this?" }],
    ["addCallContext", { text: "The caller is mine." }],
    ["sendDtmf", { digits: "1" }],
    ["createAgent", { ...(await agentDraft(platform, stranger)), ...theirProvider }],
    ["updateAgent", { name: "Mine now", ...theirProvider }],
    ["testAgentTool", { name: "find", arguments: {} }],
    ["startAnalysisRun", { from: "2026-01-01T00:00:00Z", to: "2026-01-01T01:00:00Z" }],
    ["chatWithAgent", { messages: [{ role: "user", content: "Whose are you?" }] }],
    ["createProvider", { ...OWN_PROVIDER, name: "Mine" }],
    ["testNewProvider", { ...OWN_PROVIDER, name: "Mine" }],
    ["updateProvider", { name: "Mine now" }],
    ["previewVoice", { text: "Whose voice is this?", modelId: "aura-2-thalia-en", voice: null }],
    ["createWebhook", { ...WEBHOOK, name: "Mine" }],
    ["updateWebhook", { name: "Mine now" }],
    ["addDocumentUrl", { url: "https://stranger.example.com/page" }],
    ["searchKnowledge", { question: "what do the victim's secret scones cost" }],
    ["replayWebhook", { from: "2026-01-01T00:00:00Z", to: "2026-01-01T01:00:00Z" }],
  ]);
});

after(async () => {
  await platform.close();
  await sandbox.close();
});

async function belongings(tenancy: Tenancy): Promise<typeof victimIds> {
  const { client, database, clock } = platform;
  const draft = await agentDraft(platform, tenancy);
  const agent = await client.post("/api/dashboard/agents", draft, tenancy.byKey);
  const provider = await client.post(
    "/api/dashboard/providers",
    { ...OWN_PROVIDER, name: "Victim's" },
    tenancy.byKey,
  );
  const tts = await client.post("/api/dashboard/providers", TTS_PROVIDER, tenancy.byKey);
  assert.equal(tts.status, 201, tts.text);
  const webhook = await client.post("/api/dashboard/webhooks", WEBHOOK, tenancy.byKey);
  const accounts = "/api/dashboard/telephony-accounts";
  const account = await client.post(accounts, TELEPHONY_ACCOUNT, tenancy.byToken);
  assert.equal(account.status, 201, account.text);
  const keys = await client.get("/api/dashboard/api-keys", tenancy.byKey);
  const members = await client.get("/api/dashboard/members", tenancy.byKey);
  const callId = randomUUID();
  const agentId = idIn(agent.body);
  const startedAtMs = clock.epochMs();
  const { orgId } = tenancy;
  await database.calls.start(callRecord({ id: callId, orgId, agentId, startedAtMs }), "run");
  await recordCall(platform, { orgId, callId });
  const number = "+15550100777";
  const owned = {
    number,
    orgId,
    createdAtMs: startedAtMs,
    vendor: null,
    agentId,
    ...IN_NO_ACCOUNT,
  };
  await database.phoneNumbers.insert(owned);
  const unwanted = "+15550100778";
  const doNotCall = await client.post(
    "/api/dashboard/do-not-call",
    { numbers: [unwanted], note: "Victim's" },
    tenancy.byKey,
  );
  assert.equal(doNotCall.status, 200, doNotCall.text);
  const callList = await client.post(
    "/api/dashboard/call-lists",
    { ...CALL_LIST, agentId },
    tenancy.byKey,
  );
  assert.equal(callList.status, 201, callList.text);
  const event: NewEvent = {
    id: randomUUID(),
    orgId,
    type: "webhook.test",
    callId: null,
    atMs: startedAtMs,
    data: {},
  };
  const endpointId: string = Object(webhook.body).id;
  await database.webhooks.addEventFor(endpointId, event);
  const delivery: DeliveryRecord = {
    id: randomUUID(),
    orgId,
    endpointId,
    eventId: event.id,
    type: event.type,
    attempt: 1,
    atMs: startedAtMs,
    durationMs: 1,
    requestBytes: 2,
    status: 500,
    error: null,
    answer: "no",
  };
  await database.webhooks.addDelivery(delivery);
  const document = await client.send("POST", `${DOCUMENTS}?name=victim.md`, {
    headers: tenancy.byKey,
    raw: "Victim's secret scones cost four pounds.",
  });
  assert.equal(document.status, 201, document.text);
  const jobs = await client.get("/api/dashboard/jobs?state=queued", tenancy.byKey);
  return {
    webhooks: endpointId,
    "webhook-deliveries": delivery.id,
    jobs: Object(jobs.body)[0].id,
    "phone-numbers": number,
    "do-not-call": unwanted,
    "call-lists": Object(callList.body).id,
    documents: Object(document.body).id,
    "telephony-accounts": Object(account.body).id,
    ttsProvider: idIn(tts.body),
    agents: agentId,
    providers: idIn(provider.body),
    calls: callId,
    "api-keys": Object(keys.body)[0].id,
    members: Object(members.body)[0].id,
  };
}

function ownedBy(path: string): string {
  if (/\/providers\/:id\/(voices|preview)$/.test(path)) return victimIds.ttsProvider;
  const owned = ownedPaths.find((name) => path.includes(`/${name}/`));
  assert.ok(owned !== undefined, `${path}: this test does not know whose id it takes`);
  return victimIds[owned];
}

function ask(
  [id, { method, path, body }]: readonly [string, Route],
  headers: Readonly<Record<string, string>>,
  target = "",
): Promise<Received> {
  if (id === "uploadDocument") {
    return platform.client.send("POST", `${path}?name=mine.md`, { headers, raw: "Mine." });
  }
  const sent = bodies.get(id);
  assert.equal(sent !== undefined, body !== undefined, `${id}: this test needs a body to send`);
  const filters = `?category=llm&limit=100&agentId=${victimIds.agents}`;
  const fullPath = path.replace(":id", target) + (method === "get" ? filters : "");
  return platform.client.send(method.toUpperCase(), fullPath, { headers, body: sent });
}

/** Returns everything that an organization can read, from every row of the table that reads. */
async function everythingOf({ byToken }: Tenancy): Promise<ReadonlyMap<string, string>> {
  const seen = new Map<string, string>();
  for (const [id, route] of rows) {
    if (route.method !== "get" || route.auth === "public") continue;
    const target = route.path.includes(":id") ? ownedBy(route.path) : "";
    const { status, text } = await ask([id, route], byToken, target);
    assert.equal(status, 200, `${id}: ${text}`);
    seen.set(id, text);
  }
  return seen;
}

function requireNothingOf({ orgId, email }: Tenancy, { text }: Received, what: string): void {
  for (const secret of [...Object.values(victimIds), orgId, email, "Victim's"]) {
    assert.ok(!text.includes(secret), `${what} shows ${secret}`);
  }
}

test("with another organization's ids, a stranger finds nothing and changes nothing", async () => {
  const untouched = await everythingOf(victim);
  assert.ok(withId.length > 0);
  for (const row of withId) {
    const [id, { path, auth }] = row;
    for (const headers of [stranger.byKey, stranger.byToken]) {
      // Admins' routes refuse a key before any lookup.
      const status = auth === "admin" && headers === stranger.byKey ? 403 : 404;
      const theirs = await ask(row, headers, ownedBy(path));
      const nobodys = await ask(row, headers, randomUUID());
      assert.equal(theirs.status, status, id);
      assert.deepEqual(theirs.body, nobodys.body);
    }
  }
  assert.deepEqual(await everythingOf(victim), untouched);
});

test("whatever a stranger requests, no data of another organization is shown or changed", async () => {
  const untouched = await everythingOf(victim);
  const statuses = new Map<string, number>();
  for (const row of withoutId) {
    const [id, { auth }] = row;
    for (const headers of [stranger.byKey, stranger.byToken]) {
      const answer = await ask(row, headers);
      requireNothingOf(victim, answer, id);
      if (auth !== "user" || headers === stranger.byToken) statuses.set(id, answer.status);
    }
  }
  const refused = {
    signUp: 409,
    signIn: 401,
    changePassword: 400,
    addMember: 409,
    createAgent: 400,
    createClientToken: 404,
    placeCall: 404,
    createCallList: 404,
    setEmbeddings: 400,
    clearEmbeddings: 404,
  };
  for (const [id, { success }] of withoutId) {
    // The second of two providers has the name of the first.
    const expected = id === "createProvider" ? 409 : success.status;
    assert.equal(statuses.get(id), new Map(Object.entries(refused)).get(id) ?? expected, id);
  }
  assert.deepEqual(await everythingOf(victim), untouched);
});

test("an agent cannot be created with another organization's provider, or changed to it", async () => {
  const { client } = platform;
  const { byKey } = stranger;
  const draft = await agentDraft(platform, stranger);
  const agents = "/api/dashboard/agents";
  const own = `${agents}/${idIn((await client.post(agents, draft, byKey)).body)}`;
  for (const [method, path] of [
    ["POST", agents],
    ["PATCH", own],
  ] as const) {
    const using = (llmProviderId: string) =>
      client.send(method, path, {
        headers: byKey,
        body: { ...draft, llmProviderId, llmModelId: "m" },
      });
    const theirs = await using(victimIds.providers);
    const unknown = await using(randomUUID());
    assert.deepEqual([theirs.status, theirs.body], [400, unknown.body]);
  }
});

test("an agent cannot use another organization's document, and no search finds it", async () => {
  const { client } = platform;
  const { byKey } = stranger;
  const knowledge = { documentIds: [victimIds.documents] };
  const draft = { ...(await agentDraft(platform, stranger)), knowledge };
  const made = await client.post("/api/dashboard/agents", draft, byKey);
  assert.equal(made.status, 400);
  assert.match(made.text, /knowledge\.documentIds\.0: expected the id of a document/);
  const question = "what do the secret scones cost";
  const search = (body: object, headers: Tenancy["byKey"]) =>
    client.post("/api/dashboard/knowledge/search", body, headers);
  const named = await search({ question, documentIds: [victimIds.documents] }, byKey);
  assert.equal(named.status, 400);
  const own = await search({ question }, victim.byKey);
  assert.match(own.text, /scones cost four pounds/);
  const { text } = await search({ question }, byKey);
  assert.doesNotMatch(text, /scones/);
});
