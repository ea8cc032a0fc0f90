import assert from "node:assert/strict";
import { test } from "node:test";
import type * as v from "valibot";
import { AgentPatchBody } from "../../../api/contract/agent.js";
import { AGENT_TEXTS, agentTextFaults } from "../../../engine/calls/agent-texts.js";
import { withVariables } from "../../../engine/calls/call-variables.js";
import { agentRecord } from "../../storage/sample-records.js";

type Rules = typeof AGENT_TEXTS;

/** The paths of all texts that a request for an agent can have; `*` for items of lists and names of records. */
function textPaths(schema: v.GenericSchema, path: string): readonly string[] {
  const inner: object = schema;
  if ("wrapped" in inner) return textPaths(inner.wrapped as v.GenericSchema, path);
  if ("item" in inner) return textPaths(inner.item as v.GenericSchema, `${path}.*`);
  if (schema.type === "record" && "value" in inner) {
    const value = inner.value as v.GenericSchema;
    return value.type === "unknown" ? [path] : textPaths(value, `${path}.*`);
  }
  if ((schema.type === "union" || schema.type === "variant") && "options" in inner) {
    return (inner.options as v.GenericSchema[]).flatMap((option) => textPaths(option, path));
  }
  if ("entries" in inner) {
    const entries = Object.entries(inner.entries as v.ObjectEntries);
    return entries.flatMap(([key, each]) =>
      textPaths(each as v.GenericSchema, path === "" ? key : `${path}.${key}`),
    );
  }
  return schema.type === "string" ? [path] : [];
}

function ruleOf(path: string): unknown {
  return path.split(".").reduce<unknown>((rules, key) => {
    if (typeof rules !== "object" || rules === null) return undefined;
    const own = rules as Rules;
    return own[key] ?? own["*"];
  }, AGENT_TEXTS);
}

function rulePaths(rules: Rules, path = ""): readonly string[] {
  return Object.entries(rules).flatMap(([key, rule]) => {
    const own = path === "" ? key : `${path}.${key}`;
    return typeof rule === "string" ? [own] : rulePaths(rule, own);
  });
}

test("each text of an agent's schema has a rule, and no rule is for a text that does not exist", () => {
  const texts = [...new Set(textPaths(AgentPatchBody, ""))];
  assert.ok(texts.length > 80, "the walk through the schema finds its texts");
  assert.deepEqual(
    texts.filter((path) => typeof ruleOf(path) !== "string"),
    [],
  );
  const reached = (rule: string) => {
    const pattern = new RegExp(`^${rule.replaceAll(".", "\\.").replaceAll("*", "[^.]+")}$`);
    return texts.some((path) => pattern.test(path));
  };
  assert.deepEqual(
    rulePaths(AGENT_TEXTS).filter((rule) => !reached(rule)),
    [],
  );
});

test("each text that is spoken, sent or shown to a model is refused with braces that no call fills", () => {
  for (const path of rulePaths(AGENT_TEXTS)) {
    const rule = ruleOf(path);
    const keys = path.replaceAll("*", "0").split(".");
    const text = rule === "schema" ? { description: "{{a-b|x}}" } : "{{a-b|x}}";
    const body = keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), text);
    const faults = agentTextFaults(Object(body));
    assert.equal(faults.length, rule === "opaque" ? 0 : 1, path);
  }
});

const PROBE = "Say {{probe|x}}";
const SAID = { onStart: PROBE, onDelay: PROBE, onFailure: PROBE };
const SENT = ["url", "headers", "fixedParameters"];

test("each text with variables that is said or read is filled in a call", () => {
  const stockPhrases = { apology: PROBE, waiting: [PROBE] };
  const { persona } = agentRecord();
  const own = {
    greeting: PROBE,
    systemPrompt: PROBE,
    personality: PROBE,
    stockPhrases,
    keyterms: [PROBE],
    pronunciations: [{ word: PROBE, say: PROBE }],
    languageTexts: [
      { language: "de-DE", greeting: PROBE, stockPhrases, toolSentences: { look: SAID } },
    ],
    outbound: { voicemailMessage: PROBE, screeningAnswer: PROBE },
  };
  const tool = { name: "look", description: PROBE, parameters: {}, timeoutMs: 1_000, ...SAID };
  const tools = [{ type: "client", ...tool }] as const;
  const server = { url: "https://a.example", auth: { type: "none" }, headerNames: [] } as const;
  const mcpServers = [{ name: "crm", ...server, allowedTools: null, timeoutMs: 1_000, ...SAID }];
  const filled = { persona: own, tools, mcpServers };
  for (const path of rulePaths(AGENT_TEXTS)) {
    if (ruleOf(path) !== "variables" || SENT.some((sent) => path.includes(sent))) continue;
    const place = path.replace("stockPhrases.*", "stockPhrases.apology").split(".");
    const found = place.reduce<unknown>(
      (inner, key) => (key === "*" ? Object.values(Object(inner))[0] : Object(inner)[key]),
      filled,
    );
    assert.equal(found, PROBE, `${path} is in the test's agent`);
  }
  const { outbound } = persona;
  const agent = agentRecord({
    persona: { ...persona, ...own, outbound: { ...outbound, ...own.outbound } },
    tools,
    mcpServers,
  });
  const facts = { callId: "c", channel: "web", callInfo: undefined, atMs: 0 } as const;
  const text = JSON.stringify(withVariables(agent, { probe: "Ada" }, facts));
  assert.doesNotMatch(text, /\{\{|\|x/);
});
