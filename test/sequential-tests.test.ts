import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { test } from "node:test";

const SEQUENTIAL_TESTS = new URL("./sequential-tests.js", import.meta.url).href;

const PROGRAM = `
import { createHook, executionAsyncId } from "node:async_hooks";
import ${JSON.stringify(SEQUENTIAL_TESTS)};
const { after, describe, test } = await import("node:test");
const later = (act) => new Promise((resolve) => setTimeout(() => { resolve(); act(); }, 1));
let isOver;
const over = new Promise((resolve) => { isOver = resolve; });
describe("loaded late", async () => {
  await later(() => {});
  after(isOver);
  describe("inside", () => {
    test("throws without a handler", () => new Promise(() => {
      setTimeout(() => { throw new Error("a stray error"); }, 1);
    }));
    test("rejects without a handler", async () => {
      void Promise.reject(new Error("a stray rejection"));
      await new Promise(() => {});
    });
    test("passes", () => later(() => {}));
  });
  test("is not followed", async () => {
    await later(() => {});
    console.log("# followed as " + executionAsyncId());
  });
});
await over;
describe("at the top", () => {
  test("passes", () => {});
});
`;

test("each test is reported under its suite, and an unhandled error belongs to its own test", async () => {
  const child = spawn(
    process.execPath,
    ["--test-reporter=tap", "--input-type=module", "--eval", PROGRAM],
    { env: { PATH: process.env["PATH"] }, stdio: ["ignore", "pipe", "inherit"] },
  );
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  const lines = said.split("\n").filter((line) => /^ *(?:not )?ok |error:/.test(line));
  assert.deepEqual(
    lines.map((line) => line.replace(/ # .*/, "")),
    [
      "        not ok 1 - throws without a handler",
      "          error: 'a stray error'",
      "        not ok 2 - rejects without a handler",
      "          error: 'a stray rejection'",
      "        ok 3 - passes",
      "    not ok 1 - inside",
      "      error: '2 subtests failed'",
      "    ok 2 - is not followed",
      "not ok 1 - loaded late",
      "  error: '1 subtest failed'",
      "    ok 1 - passes",
      "ok 2 - at the top",
    ],
    said,
  );
  // With a hook on promises, each that is awaited has a number of its own.
  assert.match(said, /followed as 0/);
  assert.equal(code, 1);
});
