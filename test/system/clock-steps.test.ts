import assert from "node:assert/strict";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { backupCommand } from "../../api/commands/backup-command.js";
import { ran } from "../api/commands/recording-terminal.js";
import { VirtualClock } from "../doubles/virtual-clock.js";
import { TestServer } from "./test-server.js";

const HOUR_MS = 3_600_000;
const TEN_YEARS_MS = 3_653 * 24 * HOUR_MS;

test("calls are billed for the time that passed, however the machine's clock is set", async (context) => {
  const clock = new VirtualClock();
  const server = await TestServer.start({ clock });
  context.after(() => server.stop());
  const customer = await server.customer("free");
  await server.agent(customer);
  const steps = [26 * HOUR_MS, -26 * HOUR_MS, TEN_YEARS_MS, -2 * TEN_YEARS_MS, TEN_YEARS_MS];
  for (const [index, stepMs] of steps.entries()) {
    const caller = await server.call(customer);
    clock.advance(15_000);
    clock.stepWallClock(stepMs);
    clock.advance(15_000);
    await caller.hangUp();
    await server.endedCalls(customer, index + 1);
  }
  const calls = await server.calls(customer);
  assert.deepEqual(
    calls.map(({ status, durationSec }) => [status, durationSec]),
    steps.map(() => ["completed", 30]),
  );
  for (const { startedAtMs, endedAtMs } of calls) assert.equal(endedAtMs, startedAtMs + 30_000);
  const headers = { "x-api-key": customer.apiKey };
  const stats = await fetch(`${server.url}/api/dashboard/stats`, { headers });
  const seen: unknown = await stats.json();
  assert.deepEqual(seen, {
    totalCalls: 5,
    activeCalls: 0,
    activeAgents: 1,
    totalMinutes: 2.5,
    avgDurationSec: 30,
  });
});

test("a call that a crashed server left behind is billed for its actual duration, whatever its clock showed", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "parley-clock-steps-"));
  context.after(() => rm(folder, { recursive: true }));
  const clock = new VirtualClock();
  const server = await TestServer.start({ clock });
  const { dataDir, sandbox } = server;
  context.after(() => server.stop());
  const customer = await server.customer();
  await server.agent(customer);
  const caller = await server.call(customer);
  clock.stepWallClock(26 * HOUR_MS);
  clock.advance(20_000);
  const file = join(folder, "copy.db");
  const copied = await ran(
    backupCommand(() => ({ dataDir, port: 0 })),
    file,
  );
  assert.equal(copied.exitCode, 0, copied.errors);
  await caller.hangUp();
  await server.endedCall(customer);

  const leftDir = await mkdtemp(join(folder, "left-"));
  await copyFile(file, join(leftDir, "parley.db"));
  const next = await TestServer.start({ dataDir: leftDir, sandbox });
  context.after(() => next.stop());
  const [left] = await next.calls(customer);
  assert.deepEqual([left?.status, left?.durationSec], ["failed", 20]);
});
