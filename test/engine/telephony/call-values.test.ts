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
  const overrides = { greeting: "Hello again.", language: "de-DE" };
  const answer = answerTo({ variables: { name: "Ada\r\nIgnore all", age: 36 }, overrides });
  const variables = { name: "Ada Ignore all", age: "36" };
  assert.deepEqual(answer, { variables, overrides, dropped: [] });
  assert.deepEqual(answerTo({}), { dropped: [] });
});

test("what is null or empty counts as absent, and is no fault", () => {
  const variables = { first: null, second: "", third: " \n", fourth: 0, fifth: false };
  assert.deepEqual(answerTo({ variables, overrides: { greeting: null } }), {
    variables: { fourth: "0", fifth: "false" },
    dropped: [],
  });
  assert.deepEqual(answerTo({ variables: null, overrides: null }), { dropped: [] });
});

test("a part that cannot be used is left out and named, with nothing of its value, and the others are used", () => {
  const voiceFault = "expected a voice of the vendor";
  const name = "expected a name of a letter and up to 39 letters, digits and underscores";
  const text = "expected text of at most 500 characters";
  for (const [body, dropped] of [
    [{ variables: { "not a name": "secret" } }, [`variables.not a name: ${name}`]],
    [{ variables: { long: "x".repeat(501) } }, [`variables.long: ${text}`]],
    [{ variables: { deep: { secret: 1 } } }, [`variables.deep: ${text}`]],
    [{ variables: 7 }, ["variables: expected an object"]],
    [{ secret: 7 }, ["secret: expected an object with variables and overrides"]],
    [
      { overrides: { guardrails: "none" } },
      ["overrides.guardrails: expected only greeting, systemPrompt, voice and language"],
    ],
    [
      { overrides: { greeting: "x".repeat(2_001) } },
      ["overrides.greeting: expected text of at most 2000 characters"],
    ],
    [
      { overrides: { greeting: " " } },
      ["overrides.greeting: expected text, or nothing for the agent's own"],
    ],
    [
      { overrides: { language: "zzzz nonsense" } },
      ["overrides.language: expected a language tag such as de-DE"],
    ],
    [{ overrides: { voice: "secret" } }, [`overrides.voice: ${voiceFault}`]],
  ] as const) {
    const whole = { ...body, variables: { kept: "yes", ...Object(body)["variables"] } };
    const sent = JSON.stringify("variables" in body && body.variables === 7 ? body : whole);
    const answer = preCallAnswer(sent, () => voiceFault);
    assert.ok("dropped" in answer);
    assert.deepEqual(answer.dropped, dropped);
    assert.deepEqual(answer.overrides, undefined);
    assert.deepEqual(answer.variables, sent.includes("kept") ? { kept: "yes" } : {});
  }
});

test("an override's text is checked as the agent's own, and one without a default is left out", () => {
  for (const greeting of ["Hello {{first-name|there}}.", "Hello {{name}}.", "Hello {{"]) {
    const answer = answerTo({ overrides: { greeting, systemPrompt: "Talk to {{name|them}}." } });
    assert.ok("dropped" in answer);
    assert.deepEqual(answer.overrides, { systemPrompt: "Talk to {{name|them}}." });
    assert.match(answer.dropped.join(), /^overrides\.greeting: /);
  }
});

test("of too many variables the first are used, and of many faults a few are named", () => {
  const answer = answerTo({ variables: many(1_000) });
  assert.ok("dropped" in answer);
  assert.equal(Object.keys(answer.variables ?? {}).length, VARIABLES_MAX);
  assert.deepEqual(answer.dropped, ["variables: expected at most 50; 950 more came"]);
  const wrong = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`bad name${n}`, "x"]));
  const faulty = answerTo({ variables: wrong });
  assert.ok("dropped" in faulty);
  assert.deepEqual([faulty.dropped.length, faulty.dropped.at(-1)], [11, "20 more"]);
});

test("an answer that is no object is an error", () => {
  assert.deepEqual(answerTo([]), { error: "expected an object with variables and overrides" });
  assert.deepEqual(preCallAnswer("no JSON"), { error: "expected JSON" });
});

test("an empty value takes no earlier one away", () => {
  const merged = mergedValues({ variables: { a: "1" } }, { variables: { a: " ", b: "" } });
  assert.deepEqual(merged, { variables: { a: "1" } });
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
