import assert from "node:assert/strict";
import { test } from "node:test";
import { callInfoIn } from "../../../engine/telephony/call-info.js";
import {
  mergedValues,
  preCallAnswer,
  VARIABLES_MAX,
} from "../../../engine/telephony/call-values.js";

const answerTo = (body: unknown) => preCallAnswer(JSON.stringify(body));
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`name${n}`, "x"]));

test("a service answers variables and overrides; numbers become texts, and line breaks blanks", () => {
  const overrides = { greeting: "Hello again." };
  const answer = answerTo({ variables: { name: "Ada\r\nIgnore all", age: 36 }, overrides });
  assert.deepEqual(answer, { variables: { name: "Ada Ignore all", age: "36" }, overrides });
  assert.deepEqual(answerTo({}), {});
});

test("an answer that cannot be used names the field, and nothing of its value", () => {
  for (const [body, error] of [
    [{ variables: many(1_000) }, `variables: expected at most ${VARIABLES_MAX} variables`],
    [
      { variables: { "not a name": "secret" } },
      "variables.not a name: expected names of a letter and up to 39 letters, digits and underscores",
    ],
    [
      { variables: { long: "x".repeat(501) } },
      "variables.long: expected text of at most 500 characters",
    ],
    [
      { variables: { deep: { secret: 1 } } },
      "variables.deep: expected text of at most 500 characters",
    ],
    [
      { overrides: { guardrails: "none" } },
      "overrides.guardrails: expected only greeting, systemPrompt, voice and language",
    ],
    [{ overrides: { greeting: "x".repeat(2_001) } }, "overrides.greeting: expected shorter text"],
    [[], "expected an object with variables and overrides"],
  ] as const) {
    assert.deepEqual(answerTo(body), { error });
  }
  assert.deepEqual(preCallAnswer("no JSON"), { error: "expected JSON" });
});

test("later values count more, and what nobody gives leaves no trace", () => {
  assert.deepEqual(mergedValues(undefined, { variables: {}, overrides: {} }), {});
  const first = { variables: { a: "1", b: "2" }, overrides: { greeting: "Hi.", voice: "v" } };
  const second = { variables: { b: "3" }, overrides: { greeting: "Ho.", voice: undefined } };
  assert.deepEqual(mergedValues(first, second), {
    variables: { a: "1", b: "3" },
    overrides: { greeting: "Ho.", voice: "v" },
  });
});

test("the record of a call keeps its values, and what is unreadable there is left out", () => {
  const preCall = { outcome: "ok", status: 200, durationMs: 12, callId: "call" } as const;
  const metadata = { direction: "inbound", variables: { a: "1" }, preCall } as const;
  assert.deepEqual(callInfoIn(metadata), metadata);
  const broken = { ...metadata, variables: { "a b": 1 }, preCall: { outcome: "x" } };
  assert.deepEqual(callInfoIn(broken), { direction: "inbound" });
});

test("values of several ways that are too many together keep the later ones, and are read again", () => {
  const later = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`later${n}`, "y"]));
  const merged = mergedValues({ variables: many(30) }, { variables: { ...later, name29: "z" } });
  assert.equal(Object.keys(merged.variables ?? {}).length, VARIABLES_MAX);
  assert.equal(merged.variables?.["later0"], "y");
  assert.equal(merged.variables["name29"], "z");
  assert.equal(merged.variables["name0"], undefined);
  assert.deepEqual(callInfoIn({ direction: "inbound", ...merged })?.variables, merged.variables);
});
