import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { AGENT_TEMPLATES } from "../../../api/console/model/agent-templates.js";
import { AgentBody } from "../../../api/contract/agent.js";

const VENDORS = {
  llmProviderId: "llm",
  llmModelId: "model",
  ttsProviderId: "tts",
  ttsModelId: "voice",
  sttProviderId: "stt",
};

test("the API takes every template as an agent, with words of its own and a way to hang up", () => {
  for (const { title, agent } of AGENT_TEMPLATES) {
    const body = v.parse(AgentBody, { ...agent, ...VENDORS, name: title });
    assert.ok(body.persona?.greeting, title);
    assert.ok(body.persona.systemPrompt, title);
    assert.deepEqual(body.tools, [{ type: "hangup" }]);
  }
  assert.equal(new Set(AGENT_TEMPLATES.map(({ id }) => id)).size, AGENT_TEMPLATES.length);
});
