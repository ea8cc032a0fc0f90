import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { Call, Calls } from "../../../api/contract/call.js";
import { UsageShares, VendorShare } from "../../../api/contract/routes/organization-routes.js";
import { LoopbackPlatform, type Tenancy } from "../http/loopback-platform.js";
import { agentDraft, idIn } from "./agent-drafts.js";
import { callRecord } from "./call-drafts.js";

const CALLS = "/api/dashboard/calls";
const MINUTE_MS = 60_000;
let platform: LoopbackPlatform;
let tenancy: Tenancy;
let agentId: string;
const ids: string[] = [];

before(async () => {
  platform = await LoopbackPlatform.start();
  tenancy = await platform.newTenancy();
  const draft = await agentDraft(platform, tenancy);
  const agent = await platform.client.post("/api/dashboard/agents", draft, tenancy.byKey);
  agentId = idIn(agent.body);
  for (let index = 0; index < 25; index += 1) {
    const id = randomUUID();
    ids.unshift(id);
    const startedAtMs = platform.clock.epochMs();
    await platform.database.calls.start(
      callRecord({ id, orgId: tenancy.orgId, agentId, startedAtMs }),
      "run",
    );
    platform.clock.advance(1_000);
  }
  await finishCall(ids[0] ?? "");
});

after(() => platform.close());

async function finishCall(id: string): Promise<void> {
  const endedAtMs = platform.clock.epochMs();
  const metrics = {
    ttfbMs: 300,
    avgLatencyMs: 350,
    totalTokens: 42,
    ttsChars: 80,
    interruptions: 1,
    turnCount: 2,
  };
  const { orgId } = tenancy;
  const date = new Date(endedAtMs).toISOString().slice(0, 10);
  const usage = { orgId, date, calls: 1, minutes: 2, ttsChars: 80, llmTokens: 42, sttSeconds: 60 };
  const messages = [{ role: "user" as const, text: "Hello", timestamp: endedAtMs - MINUTE_MS }];
  const finished = await platform.database.calls.finish(id, {
    status: "completed",
    endedAtMs,
    durationSec: 120,
    metrics,
    metadata: { endReason: "caller hung up" },
    messages,
    usage,
  });
  assert.ok(finished);
  await platform.database.calls.saveSummary(id, { summary: "A chat.", sentiment: "positive" });
}

async function pageOf(query: string) {
  const answer = await platform.client.get(`${CALLS}${query}`, tenancy.byKey);
  assert.equal(answer.status, 200, answer.text);
  return v.parse(Calls, answer.body);
}

test("calls are listed newest first, twenty per page, without transcripts", async () => {
  const first = await pageOf("");
  assert.deepEqual(
    first.items.map(({ _id }) => _id),
    ids.slice(0, 20),
  );
  assert.deepEqual([first.total, first.skip, first.limit], [25, 0, 20]);
  assert.ok(!("transcript" in Object(first.items[0])));
  const second = await pageOf("?skip=20&limit=100");
  assert.deepEqual(
    second.items.map(({ _id }) => _id),
    ids.slice(20),
  );
  assert.deepEqual((await pageOf("?skip=1000")).items, []);
});

test("calls are filtered by agent and state, and counted with the same filters", async () => {
  assert.deepEqual(
    (await pageOf("?status=completed")).items.map(({ _id }) => _id),
    ids.slice(0, 1),
  );
  assert.equal((await pageOf(`?agentId=${agentId}&status=active`)).total, 24);
  assert.equal((await pageOf("?agentId=nobody")).total, 0);
  const countOf = async (query: string) => {
    const { body } = await platform.client.get(`${CALLS}/count${query}`, tenancy.byKey);
    return Object(body).count;
  };
  const counts = ["", "?status=active", "?agentId=nobody"].map(countOf);
  assert.deepEqual(await Promise.all(counts), [25, 24, 0]);
  for (const [query, count] of [
    ["?longerThanSec=60", 1],
    ["?waitedMoreThanMs=340", 1],
    ["?waitedMoreThanMs=350", 0],
    ["?words=hello", 1],
    ["?words=hello&status=active", 0],
    ["?channel=phone", 0],
    ["?startedAfter=2000-01-01T00:00:00Z", 25],
    ["?startedBefore=2000-01-01T00:00:00.000Z", 0],
    ["?attention=true", 0],
    ["?attention=false", 25],
  ] as const) {
    assert.deepEqual([await countOf(query), (await pageOf(query)).total], [count, count], query);
  }
});

test("numbers between which agents may call are shown", async () => {
  const answer = await platform.client.get("/api/dashboard/phone-numbers", tenancy.byKey);
  assert.equal(answer.status, 200, answer.text);
  const allowed = { configured: true, simulated: true, numbers: [], targets: [], inbound: [] };
  assert.deepEqual(answer.body, allowed);
});

test("a call is shown with its transcript and metrics", async () => {
  const answer = await platform.client.get(`${CALLS}/${ids[0]}`, tenancy.byKey);
  const call = v.parse(Call, answer.body);
  assert.equal(call.status, "completed");
  assert.equal(call.durationSec, 120);
  assert.equal(call.summary, "A chat.");
  assert.equal(call.sentiment, "positive");
  assert.deepEqual(
    call.transcript.map(({ role, text }) => [role, text]),
    [["user", "Hello"]],
  );
});

test("fields that are not known yet are omitted for a call in progress", async () => {
  const answer = await platform.client.get(`${CALLS}/${ids[1]}`, tenancy.byKey);
  for (const name of ["endedAt", "durationSec", "summary", "sentiment"]) {
    assert.ok(!(name in Object(answer.body)), name);
  }
});

test("a paging parameter that is not a whole number in range is refused and named", async () => {
  const wrong = ["skip=-1", "limit=0", "limit=101", "skip=1.5", "limit=ten", "skip=", "skip=1e3"];
  for (const query of [...wrong, "status=over", `agentId=${"x".repeat(129)}`]) {
    const answer = await platform.client.get(`${CALLS}?${query}`, tenancy.byKey);
    assert.equal(answer.status, 400, query);
    assert.ok(answer.text.startsWith(`{"error":"${query.split("=")[0]}: expected `), answer.text);
  }
});

test("usage has an entry for every day, oldest first, with today last", async () => {
  const today = new Date(platform.clock.epochMs()).toISOString().slice(0, 10);
  const answer = await platform.client.get("/api/dashboard/analytics/usage?days=3", tenancy.byKey);
  assert.ok(Array.isArray(answer.body));
  assert.deepEqual(
    answer.body.map(({ calls, minutes }) => [calls, minutes]),
    [
      [0, 0],
      [0, 0],
      [1, 2],
    ],
  );
  assert.equal(answer.body[2].date, today);
  const month = await platform.client.get("/api/dashboard/analytics/usage", tenancy.byKey);
  assert.equal(Object(month.body).length, 30);
  for (const days of ["0", "366", "x"]) {
    const path = `/api/dashboard/analytics/usage?days=${days}`;
    assert.equal((await platform.client.get(path, tenancy.byKey)).status, 400);
  }
});

test("statistics sum up calls and agents", async () => {
  const answer = await platform.client.get("/api/dashboard/stats", tenancy.byKey);
  assert.deepEqual(answer.body, {
    totalCalls: 25,
    activeCalls: 24,
    activeAgents: 1,
    totalMinutes: 2,
    avgDurationSec: 120,
  });
});

test("vendor statistics cover only the organization's own calls", async () => {
  const path = "/api/dashboard/analytics/vendor-shares";
  const own = await platform.client.get(path, tenancy.byKey);
  assert.equal(own.status, 200, own.text);
  v.parse(v.array(VendorShare), own.body);
  const others = await platform.client.get(path, (await platform.newTenancy()).byKey);
  assert.deepEqual(others.body, []);
  assert.equal((await platform.client.get(path)).status, 401);
});

test("usage by agent and by key covers only the organization's own calls", async () => {
  const path = "/api/dashboard/analytics/usage-shares";
  const own = await platform.client.get(path, tenancy.byKey);
  assert.equal(own.status, 200, own.text);
  const { calls, isWhole, agents, apiKeys } = v.parse(UsageShares, own.body);
  assert.deepEqual([calls, isWhole], [25, true]);
  assert.deepEqual(agents, [
    { id: agentId, calls: 25, failed: 0, failures: [], minutes: 2, llmTokens: 42, ttsChars: 80 },
  ]);
  assert.deepEqual(
    apiKeys.map(({ id }) => id),
    [null],
  );
  const others = await platform.client.get(path, (await platform.newTenancy()).byKey);
  const nothing = { calls: 0, isWhole: true, agents: [], apiKeys: [] };
  assert.deepEqual(others.body, nothing);
  assert.equal((await platform.client.get(path)).status, 401);
});
