import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type PartEvents,
  RunningPart,
} from "../../../../api/commands/livestream-local/running-part.js";
import { SystemClock } from "../../../../engine/time/clock.js";
import { Changes } from "../../../doubles/changes.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { eventually } from "../../../system/eventually.js";

interface Noted extends PartEvents {
  readonly changes: Changes;
  readonly lines: string[];
  readonly pids: number[];
  readonly endings: string[];
  readonly hasGivenUp: () => boolean;
}

function noted(): Noted {
  const [lines, pids, endings]: [string[], number[], string[]] = [[], [], []];
  const changes = new Changes();
  let hasGivenUp = false;
  return {
    changes,
    lines,
    pids,
    endings,
    hasGivenUp: () => hasGivenUp,
    onLine: (line) => {
      lines.push(line);
      changes.tell();
    },
    onStarted: (pid) => void pids.push(pid),
    onEnded: (reason) => {
      endings.push(reason);
      changes.tell();
    },
    onGivenUp: () => {
      hasGivenUp = true;
    },
  };
}

function shell(script: string) {
  return {
    name: "part",
    file: "/bin/sh",
    args: ["-c", script],
    env: { WORD: "given" },
    stopSignal: "SIGTERM",
  } as const;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a part that exits is restarted a second later, but not forever", async () => {
  const clock = new VirtualClock();
  const events = noted();
  const part = new RunningPart(shell("exit 7"), events, clock);
  part.keep();
  part.start();
  for (let endings = 1; endings <= 6; endings += 1) {
    await events.changes.until("its end", () => events.endings.length === endings);
    assert.equal(events.pids.length, endings);
    assert.equal(events.hasGivenUp(), endings === 6);
    clock.advance(1_000);
  }
  assert.deepEqual(new Set(events.endings), new Set(["ended with exit status 7"]));
  assert.equal(events.pids.length, 6);
});

test("a part that runs well in between is restarted however often it is killed", async () => {
  const clock = new VirtualClock();
  const events = noted();
  const part = new RunningPart(shell("exec sleep 600"), events, clock);
  part.keep();
  part.start();
  for (let endings = 1; endings <= 8; endings += 1) {
    clock.advance(30_000);
    process.kill(events.pids.at(-1) ?? 0, "SIGKILL");
    await events.changes.until("its end", () => events.endings.length === endings);
    clock.advance(1_000);
    assert.equal(events.pids.length, endings + 1);
  }
  assert.equal(events.hasGivenUp(), false);
  await part.stop();
});

test("a part that was never ready is not restarted, because its settings are wrong", async () => {
  const clock = new VirtualClock();
  const events = noted();
  new RunningPart(shell("echo why; exit 1"), events, clock).start();
  await events.changes.until("its end", () => events.endings.length === 1);
  assert.equal(events.hasGivenUp(), true);
  assert.equal(clock.pendingTimerCount, 0);
});

test("a missing program is reported, not thrown", async () => {
  const events = noted();
  const part = new RunningPart(
    { ...shell(""), file: "/no/such/program" },
    events,
    new VirtualClock(),
  );
  part.start();
  await events.changes.until(
    "the fault",
    () => events.endings.length === 1 && events.lines.length === 1,
  );
  assert.match(events.endings[0] ?? "", /ended with exit status 127/);
  assert.match(events.lines[0] ?? "", /\/no\/such\/program/);
  await part.stop();
});

test("stopping requests the end, waits, and leaves no process of the part running", async () => {
  const events = noted();
  const script = `trap 'echo asked; exit 0' TERM; sleep 600 & echo "$! $WORD \${HOME:-none}"; wait`;
  const part = new RunningPart(shell(script), events, new SystemClock());
  part.start();
  const line = await events.changes.until("its line", () => events.lines[0]);
  const [grandchild, ...rest] = line.split(" ");
  assert.deepEqual(rest, ["given", "none"]);
  await part.stop();
  await events.changes.until("the output", () => events.lines.includes("asked"));
  await eventually("the end of the group", () => !isRunning(Number(grandchild)) || undefined);
  assert.deepEqual(events.endings, []);
});

test("a part that ignores the signal is killed after ten seconds", async () => {
  const clock = new VirtualClock();
  const events = noted();
  const part = new RunningPart(
    shell("trap '' TERM; echo on; while :; do sleep 1; done"),
    events,
    clock,
  );
  part.start();
  await events.changes.until("its line", () => events.lines[0]);
  const stopped = part.stop();
  clock.advance(10_000);
  await stopped;
  assert.equal(isRunning(events.pids[0] ?? 0), false);
});

test("a part that is stopped while it waits for its restart stays stopped", async () => {
  const clock = new VirtualClock();
  const events = noted();
  const part = new RunningPart(shell("exit 1"), events, clock);
  part.keep();
  part.start();
  await events.changes.until("its end", () => events.endings.length === 1);
  await part.stop();
  assert.equal(clock.pendingTimerCount, 0);
  clock.advance(60_000);
  assert.equal(events.pids.length, 1);
});
