import assert from "node:assert/strict";
import { test } from "node:test";
import { isTimeZone, systemMessage } from "../../../engine/calls/prompt.js";

/** 30 June 2026, 22:30 UTC. */
const SUMMER_MS = Date.UTC(2026, 5, 30, 22, 30);

test("the system message holds the persona and the rules of a voice", () => {
  const { role, content } = systemMessage(
    {
      systemPrompt: "You run the front desk of a hotel.",
      greeting: "Welcome!",
      personality: "calm",
      language: "es-MX",
      guardrails: "Never quote prices.",
      timeZone: "Europe/Berlin",
    },
    SUMMER_MS,
  );
  assert.equal(role, "system");
  assert.match(content, /^You run the front desk of a hotel\./);
  for (const part of [/calm/, /Mexican Spanish/, /no markdown/, /Never quote prices\./]) {
    assert.match(content, part);
  }
  assert.doesNotMatch(content, /Welcome!/);
});

test("what the owner left empty leaves no trace", () => {
  const { content } = systemMessage(
    {
      systemPrompt: " ",
      greeting: "",
      personality: "",
      language: "not a language!",
      guardrails: "",
      timeZone: "UTC",
    },
    SUMMER_MS,
  );
  assert.match(content, /^Everything you write is spoken aloud/);
  assert.doesNotMatch(content, /manner|Rules that|Speak /);
});

test("calls whose variables differ share the documents at the prompt's beginning", () => {
  const persona = { greeting: "", personality: "", language: "", guardrails: "", timeZone: "UTC" };
  const documents = 'Documents:\n{"document":"hours.md","text":"Open."}';
  const of = (name: string) =>
    systemMessage({ ...persona, systemPrompt: `You speak with ${name}.` }, SUMMER_MS, { documents })
      .content;
  assert.ok(of("Ada").startsWith(`${documents}\n\nYou speak with Ada.`));
  assert.ok(of("Grace").startsWith(`${documents}\n\nYou speak with Grace.`));
});

test("the LLM gets date, weekday and time of the agent's zone", () => {
  const persona = { systemPrompt: "", greeting: "", personality: "", language: "", guardrails: "" };
  const told = (timeZone: string, atMs: number) =>
    systemMessage({ ...persona, timeZone }, atMs)
      .content.split("\n\n")
      .at(-1);
  assert.equal(
    told("Europe/Berlin", SUMMER_MS),
    "The conversation began on Wednesday, 1 July 2026, at 00:30 (Europe/Berlin time).",
  );
  assert.equal(
    told("America/New_York", Date.UTC(2026, 0, 1, 4, 5)),
    "The conversation began on Wednesday, 31 December 2025, at 23:05 (America/New_York time).",
  );
  assert.match(told("Mars/Base", SUMMER_MS) ?? "", /22:30 \(UTC time\)/);
});

test("a time zone has an IANA name", () => {
  for (const zone of ["UTC", "Europe/Berlin", "Asia/Kolkata", "America/Argentina/Buenos_Aires"]) {
    assert.ok(isTimeZone(zone), zone);
  }
  for (const none of ["", "+02:00", "Berlin", "Europe/Berlin ", "Europe", "local"]) {
    assert.ok(!isTimeZone(none), none);
  }
});
