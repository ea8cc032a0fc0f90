import assert from "node:assert/strict";
import { test } from "node:test";
import { systemMessage } from "../../../engine/speech/prompt.js";

test("the system message holds the persona and the rules of a voice", () => {
  const { role, content } = systemMessage({
    systemPrompt: "You run the front desk of a hotel.",
    greeting: "Welcome!",
    personality: "calm",
    language: "es-MX",
    guardrails: "Never quote prices.",
  });
  assert.equal(role, "system");
  assert.match(content, /^You run the front desk of a hotel\./);
  for (const part of [/calm/, /Mexican Spanish/, /no markdown/, /Never quote prices\./]) {
    assert.match(content, part);
  }
  assert.doesNotMatch(content, /Welcome!/);
});

test("what the owner left empty leaves no trace", () => {
  const { content } = systemMessage({
    systemPrompt: " ",
    greeting: "",
    personality: "",
    language: "not a language!",
    guardrails: "",
  });
  assert.match(content, /^Everything you write is spoken aloud/);
  assert.doesNotMatch(content, /manner|Rules that|Speak |\n\n/);
});
