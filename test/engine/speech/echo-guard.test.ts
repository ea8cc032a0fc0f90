import assert from "node:assert/strict";
import { test } from "node:test";
import { isEcho } from "../../../engine/speech/echo-guard.js";

const SPEAKING =
  "Sure! We have a table for two at eight, or you could come on Friday. Don't wait too long.";

test("the agent's own words coming back are an echo", () => {
  for (const words of [
    "we have a table",
    "Table for two at eight",
    "have a table for two at ate or you could",
    "you could come friday",
    "sure we have",
    "DONT WAIT TOO LONG",
  ]) {
    assert.ok(isEcho(words, SPEAKING), words);
  }
});

test("the caller's own words are not", () => {
  for (const words of [
    "",
    "stop",
    "no",
    "wait",
    "no wait",
    "stop stop stop",
    "hold on a minute",
    "friday",
    "I would rather come on Monday",
    "can we have it outside",
    "a table for six please",
    "eight two for",
    "friday come could you",
  ]) {
    assert.ok(!isEcho(words, SPEAKING), words);
  }
});

test("words of interruption are never an echo, even while the agent says them", () => {
  assert.ok(!isEcho("wait a moment", "Please wait a moment while I look."));
  assert.ok(!isEcho("no stop", "There is no stop here."));
  assert.ok(!isEcho("espere un momento", "Espere un momento, por favor."));
});

test("in silence nothing is an echo", () => {
  assert.ok(!isEcho("we have a table", ""));
});

test("scripts without spaces are compared by characters", () => {
  assert.ok(isEcho("我们有一张", "好的，我们有一张两人的桌子。"));
  assert.ok(!isEcho("我不要了", "好的，我们有一张两人的桌子。"));
});

test("only the newest words of very long texts are compared", () => {
  const long = "word ".repeat(100_000);
  assert.ok(isEcho(long, long));
  assert.ok(!isEcho("this is the beginning", `this is the beginning ${long}`));
});
