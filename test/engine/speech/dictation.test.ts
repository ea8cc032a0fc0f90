import assert from "node:assert/strict";
import { test } from "node:test";
import { isDictating } from "../../../engine/speech/dictation.js";

test("whoever is asked for a number and begins with digits is dictating", () => {
  const questions = [
    "Sure. What is your phone number?",
    "Could you give me your e-mail address?",
    "Please spell your last name.",
    "¿Me da su número de teléfono?",
    "Quel est votre numéro de téléphone ?",
    "Wie ist Ihre Telefonnummer?",
  ];
  for (const question of questions) {
    assert.ok(isDictating("it is 0 7", question), question);
    assert.ok(isDictating("five five", question), question);
    assert.ok(isDictating("it is five five", question), question);
    assert.ok(isDictating("it begins with 7", question), question);
    assert.ok(!isDictating("I have five", question), question);
    assert.ok(!isDictating("I do not have one", question), question);
    assert.ok(!isDictating("", question), question);
  }
});

test("a row of digits or letters is a dictation without any question", () => {
  for (const text of [
    "my number is 555 12",
    "five five five one",
    "it's J O H N",
    "seis uno dos tres",
    "null eins sieben zwo",
    "call 0171 55",
  ]) {
    assert.ok(isDictating(text, ""), text);
  }
});

test("an address is not over after 'at' or 'dot'", () => {
  for (const text of ["jane J at", "it is 7 dot", "jane dot d at", "x guion 7 arroba"]) {
    assert.ok(isDictating(text, ""), text);
  }
});

test("a whole e-mail address is over", () => {
  for (const text of [
    "it is jane at example dot com",
    "jane.doe@example.com",
    "jane arroba ejemplo punto es",
  ]) {
    assert.ok(!isDictating(text, "What is your e-mail address?"), text);
  }
});

test("ordinary talk with a number in it is not a dictation", () => {
  for (const text of [
    "I need two rooms",
    "a table for 2",
    "at nine",
    "I'd like to book for May 5",
    "no",
    "what are you looking at",
  ]) {
    assert.ok(!isDictating(text, "How can I help you today?"), text);
  }
});

test("a very long monologue is judged by its end, in no time", () => {
  assert.ok(isDictating(`${"and so on ".repeat(50_000)} 555 1234`, ""));
  assert.ok(!isDictating(`555 1234 ${"and so on ".repeat(50_000)}`, ""));
  assert.ok(!isDictating("@".repeat(100_000).concat(" ok then"), "phone number?"));
});
