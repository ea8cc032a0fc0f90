import assert from "node:assert/strict";
import { test } from "node:test";
import { sessionTools, withTransfers } from "../../../engine/tools/agent-toolbox.js";
import { agentRecord } from "../../storage/sample-records.js";

const AGENT = agentRecord({
  tools: [{ type: "hangup" }, { type: "transfer", to: "+493012345678" }],
});

test("an agent on a line that nobody can hand on has all tools but the transfer", async () => {
  const others = { ...AGENT, tools: [{ type: "hangup" }] };
  assert.deepEqual(await withTransfers(AGENT, false, () => true), others);
  assert.deepEqual(await withTransfers(AGENT, true, () => false), others);
  assert.deepEqual(await withTransfers(AGENT, true, (target) => target === "+493012345678"), AGENT);
});

test("the session knows a tool of the caller's page by its own name", () => {
  const show = { name: "show", description: "Shows it", parameters: {}, timeoutMs: 5_000 };
  const agent = agentRecord({ tools: [{ type: "client", ...show }] });
  assert.deepEqual(sessionTools(agent), [{ kind: "client", name: "show" }]);
});

test("the session is told which tools end the call, and where a transfer leads", () => {
  assert.deepEqual(sessionTools(AGENT), [
    { kind: "hangup", name: "hangup" },
    { kind: "transfer", name: "transfer", to: "+493012345678" },
  ]);
});
