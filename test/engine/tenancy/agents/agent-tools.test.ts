import assert from "node:assert/strict";
import { test } from "node:test";
import { CredentialCipher } from "../../../../engine/security/credential-cipher.js";
import {
  type HttpToolInput,
  openToolHeaders,
  sealedTools,
} from "../../../../engine/tenancy/agents/agent-tools.js";
import { platformOfFile, refusal } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();

const cipher = new CredentialCipher("5a".repeat(32));

function httpTool(changes: Partial<HttpToolInput> = {}): HttpToolInput {
  return {
    type: "http",
    name: "look_up",
    description: "Finds an order",
    parameters: { type: "object" },
    url: "https://orders.example.com/find",
    method: "POST",
    timeoutMs: 5_000,
    speak: false,
    ...changes,
  };
}

function headersOf(tools: { readonly sealedToolHeaders: string | null }) {
  return Object.fromEntries(openToolHeaders(tools, cipher));
}

test("the headers of all tools are encrypted together, in lower case, and only their names are readable", () => {
  const stored = sealedTools(
    [
      { type: "hangup" },
      httpTool({ headers: { Authorization: "top-secret" } }),
      httpTool({ name: "plain" }),
    ],
    cipher,
  );
  assert.deepEqual(headersOf(stored), { look_up: { authorization: "top-secret" } });
  assert.deepEqual(
    stored.tools.map((tool) => (tool.type === "http" ? tool.headerNames : tool.type)),
    ["hangup", ["authorization"], []],
  );
  assert.doesNotMatch(JSON.stringify(stored), /top-secret/);
});

test("an agent without headers stores no sealed text", () => {
  const tools = [{ type: "hangup" } as const, httpTool(), httpTool({ name: "b", headers: {} })];
  assert.equal(sealedTools(tools, cipher).sealedToolHeaders, null);
  assert.equal(openToolHeaders({ sealedToolHeaders: null }, cipher).size, 0);
});

test("omitted headers stay with their tool; given ones replace them", () => {
  const before = sealedTools(
    [
      httpTool({ headers: { "x-a": "1", "x-b": "2" } }),
      httpTool({ name: "other", headers: { "x-c": "3" } }),
    ],
    cipher,
  );
  const kept = sealedTools(
    [httpTool({ url: "https://orders.example.com/new" }), httpTool({ name: "other" })],
    cipher,
    before,
  );
  assert.equal(kept.sealedToolHeaders, before.sealedToolHeaders);

  const changed = sealedTools(
    [httpTool({ headers: { "x-b": "9" } }), httpTool({ name: "third" })],
    cipher,
    before,
  );
  assert.deepEqual(headersOf(changed), { look_up: { "x-b": "9" } });
  assert.equal(sealedTools([], cipher, before).sealedToolHeaders, null);
});

test("headers that were given for one origin are not sent to another one, nor from http to https or back", () => {
  const before = sealedTools([httpTool({ headers: { "x-a": "1" } })], cipher);
  for (const url of [
    "https://elsewhere.example.com/find",
    "http://orders.example.com/find",
    "https://orders.example.com:8443/find",
  ]) {
    const moved = [{ type: "hangup" } as const, httpTool({ url })];
    assert.throws(
      () => sealedTools(moved, cipher, before),
      refusal("invalid_request", "tools.1.headers"),
    );
    assert.throws(() => sealedTools(moved, cipher, before), /address leads to another server/);
    const given = sealedTools([httpTool({ url, headers: { "x-a": "2" } })], cipher, before);
    assert.deepEqual(headersOf(given), { look_up: { "x-a": "2" } });
  }
});

test("only headers that no key opens have to be given again", () => {
  const lost = sealedTools(
    [httpTool({ headers: { "x-a": "1" } })],
    new CredentialCipher("0f".repeat(32)),
  );
  assert.throws(
    () => sealedTools([httpTool()], cipher, lost),
    refusal("invalid_request", "tools.0.headers"),
  );
  assert.throws(() => sealedTools([httpTool()], cipher, lost), /stored ones cannot be opened/);
  const anew = sealedTools([httpTool({ headers: { "x-a": "1" } })], cipher, lost);
  assert.deepEqual(headersOf(anew), { look_up: { "x-a": "1" } });
  assert.equal(sealedTools([{ type: "hangup" }], cipher, lost).sealedToolHeaders, null);
  assert.throws(() => openToolHeaders(lost, cipher));
});

test("an agent can transfer calls on provider failure only if it has a transfer tool", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const thresholds = { onProviderFailure: "transfer" } as const;
  const tools = [{ type: "transfer", to: "+15550001111" } as const];
  const refused = refusal("invalid_request", "thresholds.onProviderFailure");
  const alone = await platform.agentInput({ thresholds });
  await assert.rejects(platform.agents.create(tenant, alone), refused);
  const input = await platform.agentInput({ thresholds, tools });
  const { id } = await platform.agents.create(tenant, input);
  await assert.rejects(platform.agents.update(tenant, id, { tools: [] }), refused);
  const patch = { tools: [], thresholds: { onProviderFailure: "end" } } as const;
  const { thresholds: stored } = await platform.agents.update(tenant, id, patch);
  assert.equal(stored.onProviderFailure, "end");
  await assert.rejects(platform.agents.update(tenant, id, { thresholds }), refused);
});

test("the audit trail records a change of tools or headers without their content", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const give = (headers?: Record<string, string>) => ({
    tools: [httpTool(headers === undefined ? {} : { headers })],
  });
  const input = await platform.agentInput(give({ "x-a": "top-secret" }));
  const { id } = await platform.agents.create(tenant, input);
  for (const patch of [give(), give({ "x-b": "top-secret" }), give({ "x-b": "other" })]) {
    platform.clock.advance(1);
    await platform.agents.update(tenant, id, patch);
  }
  const page = { skip: 0, limit: 10 };
  const { items } = await platform.database.audit.list(tenant.organization.id, page);
  assert.deepEqual(
    items.map(({ changes }) => changes),
    [["tools"], ["tools"], [], []],
  );
});

test("a change of other fields does not undo a concurrent re-encryption of the headers", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const tools = [httpTool({ headers: { "x-a": "1" } })];
  const agent = await platform.agents.create(tenant, await platform.agentInput({ tools }));
  const resealed = platform.cipher.reseal(agent.sealedToolHeaders ?? "");
  const { agents, sealedCredentials } = platform.database;
  const find = agents.findById.bind(agents);
  // The headers are re-encrypted after the update has read the agent and before it writes it.
  agents.findById = async (...identity) => {
    const found = await find(...identity);
    const { id } = agent;
    const current = await sealedCredentials.find({ owner: "agent", id });
    assert.ok(current && resealed);
    await sealedCredentials.replace(current, resealed, {
      id: platform.newId(),
      orgId: agent.orgId,
      atMs: 0,
      actor: { type: "administrator", id: "root" },
      action: "agent.reseal",
      targetType: "agent",
      targetId: id,
      targetName: agent.name,
      changes: [],
    });
    return found;
  };
  const updated = await platform.agents.update(tenant, agent.id, { name: "Another" });
  agents.findById = find;
  assert.equal(updated.name, "Another");
  assert.equal(updated.sealedToolHeaders, resealed);
});

test("the next call uses the changed headers of a tool", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("free");
  const tools = (secret: string) => [httpTool({ headers: { "x-a": secret } })];
  const input = await platform.agentInput({ tools: tools("old") });
  const { id } = await platform.agents.create(tenant, input);
  await platform.agents.update(tenant, id, { tools: tools("new") });
  const { agent } = await platform.agents.forCall(tenant, id);
  const headers = openToolHeaders(agent, platform.cipher);
  assert.deepEqual(headers.get("look_up"), { "x-a": "new" });
});
