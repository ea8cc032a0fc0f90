import assert from "node:assert/strict";
import { test } from "node:test";
import { sessionTools, withoutTransfer } from "../../../engine/tools/agent-toolbox.js";
import { agentRecord } from "../../storage/sample-records.js";

const AGENT = agentRecord({
  tools: [{ type: "hangup" }, { type: "transfer", to: "+493012345678" }],
});

test("an agent on a line that nobody can hand on has all tools but the transfer", () => {
  assert.deepEqual(withoutTransfer(AGENT), { ...AGENT, tools: [{ type: "hangup" }] });
});

test("the session is told which tools end the call, and where a transfer leads", () => {
  assert.deepEqual(sessionTools(AGENT), [
    { kind: "hangup", name: "hangup" },
    { kind: "transfer", name: "transfer", to: "+493012345678" },
  ]);
});
