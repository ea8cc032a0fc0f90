import assert from "node:assert/strict";
import { test } from "node:test";
import { type AgentDraft, changesOf } from "../../../api/console/model/agent-draft.js";
import { agentRecord } from "../../storage/sample-records.js";

/** A draft with one tool, and what it says in German. */
function draft(): AgentDraft {
  const { persona, ...record } = agentRecord();
  const tool = { type: "client", name: "look", description: "Looks.", parameters: {} } as const;
  const toolSentences = { look: { onStart: "Moment." } };
  const german = { language: "de-DE", greeting: null, stockPhrases: {}, toolSentences };
  return JSON.parse(
    JSON.stringify({
      ...record,
      persona: { ...persona, languages: ["de-DE"], languageTexts: [german] },
      tools: [{ ...tool, timeoutMs: 1_000 }],
    }),
  );
}

test("sentences of a tool that is renamed or removed are not sent, since the server would refuse their name", () => {
  const saved = draft();
  assert.deepEqual(changesOf(saved, saved), {});
  const [tool] = saved.tools;
  assert.ok(tool);
  for (const tools of [[], [{ ...tool, name: "see" }]]) {
    const { persona } = changesOf(saved, { ...saved, tools });
    assert.deepEqual(persona?.languageTexts?.[0]?.toolSentences, {});
  }
});
