import assert from "node:assert/strict";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { type TestContext, test } from "node:test";
import { type LogFields, type LogLevel, newLogger } from "../../engine/log.js";

/** What comes of lines on standard output, which is the test's own; the log asks for the next when one is written. */
async function written(
  context: TestContext,
  level: LogLevel,
  fields?: LogFields,
): Promise<readonly unknown[]> {
  const lines: unknown[] = [];
  type Told = (error: Error | null, count: number) => void;
  context.mock.method(fs, "write", (fd: number, bytes: Buffer, told: Told) => {
    assert.equal(fd, 1);
    for (const line of bytes.toString().trimEnd().split("\n")) lines.push(JSON.parse(line));
    setImmediate(told, null, bytes.length);
  });
  syncBuiltinESMExports();
  const exits = new Set(process.rawListeners("exit"));
  const log = newLogger(level, fields);
  log.debug({ count: 1 }, "one");
  log.info({ count: 2 }, "two");
  log.warn({ error: new TypeError("a mistake") }, "three");
  log.error({}, "four");
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  context.mock.restoreAll();
  syncBuiltinESMExports();
  for (const listener of process.rawListeners("exit")) {
    if (!exits.has(listener)) process.removeListener("exit", Object(listener));
  }
  return lines;
}

const isObject = (given: unknown): given is Record<string, unknown> =>
  typeof given === "object" && given !== null;

test("a line has its level, its time, what every line has, its fields and its words", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 0, 2, 3, 4, 5, 6) });
  const lines = (await written(t, "debug", { run: "r" })).filter(isObject);
  const time = "2026-01-02T03:04:05.006Z";
  const every = { time, run: "r" };
  const [debug, info, warn, error] = lines;
  assert.deepEqual(debug, { level: "debug", ...every, count: 1, msg: "one" });
  assert.deepEqual(info, { level: "info", ...every, count: 2, msg: "two" });
  assert.deepEqual(error, { level: "error", ...every, msg: "four" });
  assert.ok(isObject(warn) && isObject(warn["error"]));
  const { type, message } = warn["error"];
  assert.deepEqual([warn["level"], type, message], ["warn", "TypeError", "a mistake"]);
});

test("nothing below its level is written, and no unlisted field", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 0 });
  const lines = (await written(t, "error")).filter(isObject);
  const time = "1970-01-01T00:00:00.000Z";
  assert.deepEqual(lines, [{ level: "error", time, msg: "four" }]);
  assert.deepEqual(await written(t, "silent"), []);
});
