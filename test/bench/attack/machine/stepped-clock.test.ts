import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { STEPPED } from "../../../../bench/attack/machine/stepped-clock.js";

const MODULE = new URL("../../../../bench/attack/machine/stepped-clock.js", import.meta.url).href;
/** Prints on request the time of both clocks, and how a given date reads. */
const PROGRAM = `
process.stdin.on("data", () => {
  const times = [Date.now(), new Date().getTime(), performance.now(), new Date(5).getTime()];
  console.log(JSON.stringify(times));
});
console.log("ready");`;
const DAY_MS = 86_400_000;

test("a process's wall clock is moved, and its monotonic clock is not", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "parley-stepped-"));
  context.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "offset");
  const child = spawn(process.execPath, ["--import", MODULE, "--eval", PROGRAM], {
    env: { ...process.env, CLOCK_OFFSET_FILE: file },
    stdio: ["pipe", "pipe", "inherit"],
  });
  context.after(() => child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout });
  const next = async () => String((await once(lines, "line"))[0]);
  const times = async (): Promise<number[]> => {
    const line = next();
    child.stdin.write("?\n");
    return JSON.parse(await line);
  };
  assert.equal(await next(), "ready");
  const [before = 0, , monotonicBefore = 0] = await times();
  for (const offsetMs of [DAY_MS, -DAY_MS]) {
    await writeFile(file, String(offsetMs));
    const said = next();
    child.kill("SIGUSR2");
    assert.equal(await said, STEPPED);
    const [now = 0, made = 0, monotonic = 0, given] = await times();
    const passedMs = monotonic - monotonicBefore;
    assert.ok(passedMs >= 0 && passedMs < DAY_MS / 2);
    assert.ok(Math.abs(now - before - passedMs - offsetMs) < 2_000);
    assert.ok(made - now < 2_000);
    assert.equal(given, 5);
  }
});
