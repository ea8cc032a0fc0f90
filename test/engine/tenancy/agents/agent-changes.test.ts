import assert from "node:assert/strict";
import { test } from "node:test";
import { openToolHeaders } from "../../../../engine/tenancy/agents/agent-tools.js";
import { platformOfFile } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();

test("two concurrent changes both apply, and a tool's new secrets are never combined with its old address", async () => {
  const platform = await sharedPlatform();
  const tenant = await platform.tenantOn("pro");
  const tool = (url: string, secret: string) => ({
    type: "http" as const,
    name: "crm",
    description: "Looks up a customer.",
    parameters: { type: "object" },
    url,
    method: "GET" as const,
    headers: { "x-key": secret },
    timeoutMs: 2_000,
    speak: false,
  });
  const input = await platform.agentInput();
  for (let round = 0; round < 10; round += 1) {
    const { id } = await platform.agents.create(tenant, { ...input, name: `Agent ${round}` });
    await platform.agents.update(tenant, id, { tools: [tool("https://old.example.com/x", "old")] });
    await Promise.all([
      platform.agents.update(tenant, id, { tools: [tool("https://new.example.com/x", "new")] }),
      platform.agents.update(tenant, id, { name: `Renamed ${round}` }),
      platform.agents.update(tenant, id, { active: false }),
    ]);
    const agent = await platform.agents.get(tenant, id);
    assert.deepEqual([agent.name, agent.active], [`Renamed ${round}`, false]);
    const urls = agent.tools.map((each) => (each.type === "http" ? each.url : ""));
    assert.deepEqual(urls, ["https://new.example.com/x"]);
    const headers = openToolHeaders(agent, platform.cipher);
    assert.deepEqual(headers.get("crm"), { "x-key": "new" });
    await platform.agents.remove(tenant, id);
  }
});
