import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { Caller } from "../../engine/sandbox/caller.js";
import { closeOf } from "./events.js";
import { type Customer, TestServer } from "./test-server.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

/** The server must send the reason in an `error`, close with the code and the same reason, and leave no call behind. */
async function assertRefused(caller: Caller, code: number, reason: RegExp): Promise<void> {
  const close = await closeOf(caller);
  assert.equal(close.code, code);
  assert.match(close.reason, reason);
  assert.match(close.error ?? "", reason);
  assert.deepEqual(
    caller.events.map(({ type }) => type),
    ["error", "closed"],
  );
}

async function customerWithAgent(planSlug?: string): Promise<Customer> {
  const customer = await server.customer(planSlug);
  await server.agent(customer, {}, { tts: "edge" });
  return customer;
}

describe("an API key that is not accepted closes with 4001", { concurrency: true }, () => {
  test("no key", async () => {
    await assertRefused(Caller.dial({ url: server.url, apiKey: "" }), 4001, /api_key is missing/);
  });

  test("a key in another form, and an unknown key", async () => {
    for (const apiKey of ["nonsense", `vk_${"0".repeat(48)}`, "x".repeat(1_000)]) {
      await assertRefused(Caller.dial({ url: server.url, apiKey }), 4001, /wrong/);
    }
  });

  test("a key that was revoked", async () => {
    const customer = await customerWithAgent();
    const { organization } = customer.tenant;
    await server.tenancy.apiKeys.revoke(organization.id, customer.apiKeyId);
    await assertRefused(server.dial(customer), 4001, /revoked/);
  });

  test("a key of an organization that is pending", async () => {
    const customer = await customerWithAgent();
    await server.tenancy.organizations.suspend(customer.email);
    await assertRefused(server.dial(customer), 4001, /is pending/);
  });

  test("a key for the dashboard only", async () => {
    const customer = await customerWithAgent();
    const { organization } = customer.tenant;
    const { rawKey } = await server.tenancy.apiKeys.create(organization.id, {
      name: "Reports",
      scopes: ["dashboard"],
    });
    await assertRefused(server.dial(customer, { apiKey: rawKey }), 4001, /scope "voice"/);
  });
});

test("the key may be in the header x-api-key instead of the query", async () => {
  const customer = await customerWithAgent();
  const address = `${server.url.replace("http", "ws")}/ws/voice`;
  const socket = new WebSocket(address, { headers: { "x-api-key": customer.apiKey } });
  const first = await new Promise<string>((resolve) => {
    socket.once("message", (data: Buffer) => resolve(data.toString()));
  });
  assert.equal(JSON.parse(first).type, "connected");
  const gone = new Promise((resolve) => {
    socket.once("close", resolve);
  });
  socket.close();
  await gone;
  await server.settled();
});

describe("an agent that takes no calls", { concurrency: true }, () => {
  test("4005: no such agent, and another organization's", async () => {
    const customer = await customerWithAgent();
    const stranger = await server.customer();
    const { id } = await server.agent(stranger);
    for (const agentId of ["unknown", id]) {
      await assertRefused(server.dial(customer, { agentId }), 4005, /no such agent/);
    }
  });

  test("4005: an organization without agents, and one whose only agent is off", async () => {
    const customer = await server.customer();
    await assertRefused(server.dial(customer), 4005, /no active agent/);
    const { id } = await server.agent(customer);
    await server.tenancy.agents.update(customer.tenant, id, { active: false });
    await assertRefused(server.dial(customer), 4005, /no active agent/);
    await assertRefused(server.dial(customer, { agentId: id }), 4005, /off|inactive|not active/);
  });

  test("4004: an agent whose own provider was switched off", async () => {
    const customer = await server.customer();
    const { tenant } = customer;
    const { id } = await server.tenancy.providers.create(tenant, {
      category: "llm",
      providerKey: "openai",
      name: "Ours",
      credentials: { apiKey: "sk-ours" },
      models: [{ modelId: "house", label: "House" }],
      settings: {},
    });
    const agent = await server.agent(customer, { llmProviderId: id, llmModelId: "house" });
    await server.tenancy.providers.update(tenant, id, { active: false });
    await assertRefused(server.dial(customer, { agentId: agent.id }), 4004, /Ours/);
    await assertRefused(server.dial(customer), 4005, /no active agent/);
  });

  test("without an id, the first agent that can take the call takes it, however many before it are paused", async () => {
    const customer = await server.customer("pro");
    const { tenant } = customer;
    const paused = await server.agent(customer, { name: "Off" });
    await server.tenancy.agents.update(tenant, paused.id, { active: false });
    const { id } = await server.tenancy.providers.create(tenant, {
      category: "llm",
      providerKey: "openai",
      name: "Ours",
      credentials: { apiKey: "sk-ours" },
      models: [{ modelId: "house", label: "House" }],
      settings: {},
    });
    await server.agent(customer, { name: "Dead", llmProviderId: id, llmModelId: "house" });
    await server.tenancy.providers.update(tenant, id, { active: false });
    const gold = await server.agent(customer, { name: "Gold", ttsModelId: "tts-1-hd" });
    const fit = await server.agent(customer, { name: "Fit" }, { tts: "edge" });
    for (const [index, plan] of ["starter", "pro"].entries()) {
      await server.tenancy.organizations.changePlan(customer.email, plan);
      await (await server.call(customer)).hangUp();
      await server.endedCalls(customer, index + 1);
    }
    const calls = await server.calls(customer);
    assert.deepEqual(
      calls.map(({ agentId }) => agentId),
      [fit.id, gold.id],
    );
  });

  test("4003: an agent whose model the plan does not include", async () => {
    const customer = await server.customer("pro");
    const premium = { ttsModelId: "eleven_flash_v2_5" };
    const { id: agentId } = await server.agent(customer, premium, { tts: "elevenlabs" });
    await server.tenancy.organizations.changePlan(customer.email, "free");
    await assertRefused(server.dial(customer, { agentId }), 4003, /plan/);
    await assertRefused(server.dial(customer), 4005, /no active agent/);
  });

  test("4003: an agent beyond the number that the plan allows", async () => {
    const customer = await server.customer("starter");
    await server.agent(customer, {}, { tts: "edge" });
    const second = await server.agent(customer, {}, { tts: "edge" });
    await server.tenancy.organizations.changePlan(customer.email, "free");
    await assertRefused(server.dial(customer, { agentId: second.id }), 4003, /plan/);
  });
});

describe("a reached limit closes with 4029", { concurrency: true }, () => {
  test("the plan's concurrent calls are in use, and the next call is accepted when one has ended", async () => {
    const customer = await customerWithAgent("free");
    const [first, second] = await Promise.all([server.call(customer), server.call(customer)]);
    await assertRefused(server.dial(customer), 4029, /2 calls at the same time/);
    await first.hangUp();
    const third = await server.call(customer);
    await Promise.all([second.hangUp(), third.hangUp()]);
  });

  test("the month's minutes are used up", async () => {
    const customer = await customerWithAgent("free");
    const orgId = customer.tenant.organization.id;
    await useMinutes(orgId, 60);
    await assertRefused(server.dial(customer), 4029, /60 minutes of this month/);
    const calls = await server.calls(customer);
    assert.equal(calls.length, 1, "a refused call leaves no record");
  });
});

test("the 31st connection of a minute from one address is closed with 4029 before its key is checked", async () => {
  const limited = await TestServer.start({ environment: { VOICE_CONNECTIONS_PER_MINUTE: "" } });
  try {
    const dial = () => Caller.dial({ url: limited.url, apiKey: "" });
    const first = await Promise.all(Array.from({ length: 30 }, () => closeOf(dial())));
    assert.deepEqual([...new Set(first.map(({ code }) => code))], [4001]);
    await assertRefused(dial(), 4029, /too many connections/);
    const customer = await limited.customer();
    await limited.agent(customer);
    await assertRefused(limited.dial(customer), 4029, /too many connections/);
  } finally {
    await limited.stop();
  }
});

/** Stores a call of this many minutes that has just ended. */
async function useMinutes(orgId: string, minutes: number): Promise<void> {
  const nowMs = Date.now();
  const id = crypto.randomUUID();
  const metrics = {
    ttfbMs: 0,
    avgLatencyMs: 0,
    totalTokens: 0,
    ttsChars: 0,
    interruptions: 0,
    turnCount: 0,
  };
  await server.database.calls.start(
    {
      id,
      orgId,
      agentId: "an earlier agent",
      sessionId: id,
      channel: "web",
      status: "active",
      startedAtMs: nowMs - minutes * 60_000,
      endedAtMs: null,
      durationSec: null,
      metrics,
      summary: null,
      sentiment: null,
      analysis: null,
      transcript: [],
      metadata: {},
      createdAtMs: nowMs,
    },
    "an earlier run",
  );
  await server.database.calls.finish(id, {
    status: "completed",
    endedAtMs: nowMs,
    durationSec: minutes * 60,
    metrics,
    metadata: {},
    messages: [],
    usage: {
      orgId,
      date: new Date(nowMs).toISOString().slice(0, 10),
      calls: 1,
      minutes,
      ttsChars: 0,
      llmTokens: 0,
      sttSeconds: 0,
    },
  });
}
