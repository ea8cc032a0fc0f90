import assert from "node:assert/strict";
import { test } from "node:test";
import { withTerms } from "../../../engine/calls/admission.js";
import { agentRecord } from "../../storage/sample-records.js";

test("a call may be shorter than the agent allows, and never longer", () => {
  const agent = agentRecord();
  const lengthOf = (callMaxSec: number | undefined) =>
    withTerms(agent, { callMaxSec, variables: {} }).thresholds.maxCallDurationSec;
  assert.deepEqual([lengthOf(60), lengthOf(9_999), lengthOf(undefined)], [60, 1_800, 1_800]);
  assert.equal(withTerms(agent, undefined), agent);
});

test("variables stand in the persona; names without a value leave nothing, and values are not read again", () => {
  const greeting = "Hello {{name}}, {{ name }}{{unknown}}! {{bad-name}} {{constructor}}";
  const { persona } = agentRecord();
  const agent = agentRecord({ persona: { ...persona, greeting, systemPrompt: "For {{name}}." } });
  const terms = { callMaxSec: undefined, variables: { name: "{{other}} $&", other: "no" } };
  const filled = withTerms(agent, terms);
  assert.equal(filled.persona.greeting, "Hello {{other}} $&, {{other}} $&! {{bad-name}} ");
  assert.equal(filled.persona.systemPrompt, "For {{other}} $&.");
  assert.equal(filled.persona.language, persona.language);
  assert.equal(withTerms(agent, { ...terms, variables: {} }).persona.greeting, greeting);
});

test("each part of the persona is filled", () => {
  const part = "{{name}}";
  const persona = {
    systemPrompt: part,
    greeting: part,
    personality: part,
    guardrails: part,
    language: "de",
    timeZone: "Europe/Berlin",
    stockPhrases: {},
  };
  const terms = { callMaxSec: 7, variables: { name: "Ada" } };
  const filled = withTerms(agentRecord({ persona }), terms);
  assert.deepEqual(filled.persona, {
    systemPrompt: "Ada",
    greeting: "Ada",
    personality: "Ada",
    guardrails: "Ada",
    language: "de",
    timeZone: "Europe/Berlin",
    stockPhrases: {},
  });
  assert.equal(filled.thresholds.maxCallDurationSec, 7);
});
