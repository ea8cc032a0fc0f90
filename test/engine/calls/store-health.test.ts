import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreHealth } from "../../../engine/calls/store-health.js";
import type { StoreCondition } from "../../../storage/statements/statement-port.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const WELL_MS = 4_000;
const LOOK_MS = 2_000;
const FULL = { reason: "the disk is full", advice: "make room" };

interface Found {
  fault: StoreCondition["fault"];
  warning: StoreCondition["warning"];
  kept: number;
  writes: number;
}

/** A store without a reported fault before its check, like one whose file was deleted. */
function watchOf() {
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const found: Found = {
    fault: undefined,
    warning: undefined,
    kept: 0,
    writes: 0,
  };
  const watch = new StoreHealth({
    store: {
      writeFault: undefined,
      checkHealth: async () => ({ fault: found.fault, warning: found.warning }),
    },
    keptCount: () => found.kept,
    tryToWrite: async () => void (found.writes += 1),
    clock,
    log,
  });
  const look = async () => {
    clock.advance(LOOK_MS);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { watch, found, log, look };
}

test("a store that does not answer a look is not looked at a second time", async () => {
  const clock = new VirtualClock();
  const answers: (() => void)[] = [];
  const look = () =>
    new Promise<StoreCondition>((resolve) => {
      answers.push(() => resolve({ fault: undefined, warning: undefined }));
    });
  const watch = new StoreHealth({
    store: { writeFault: undefined, checkHealth: look },
    keptCount: () => 0,
    tryToWrite: () => Promise.resolve(),
    clock,
    log: new RecordingLogger(),
  });
  clock.advance(3 * LOOK_MS);
  assert.equal(answers.length, 1);
  answers[0]?.();
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(LOOK_MS);
  assert.equal(answers.length, 2);
  watch.close();
});

test("a fault that only a look finds refuses calls until the store has been well for a while", async () => {
  const { watch, found, log, look } = watchOf();
  await look();
  assert.equal(watch.refusal, undefined);
  found.fault = FULL;
  await look();
  await look();
  assert.equal(watch.refusal, FULL.reason);
  assert.equal(found.writes, 2);
  found.fault = undefined;
  await look();
  assert.equal(watch.refusal, "the database has only just recovered");
  await look();
  assert.equal(watch.refusal, undefined);
  const afterMs = LOOK_MS + WELL_MS;
  assert.deepEqual(
    log.lines.map(({ level, fields }) => ({ level, ...fields })),
    [
      { level: "error", ...FULL },
      { level: "info", afterMs },
    ],
  );
});

test("the store is not well while something waits to be stored", async () => {
  const { watch, found, look } = watchOf();
  found.fault = FULL;
  await look();
  found.fault = undefined;
  found.kept = 1;
  for (let looks = 0; looks < 5; looks += 1) await look();
  assert.equal(watch.refusal, "turns of other calls are still to be stored");
  found.kept = 0;
  await look();
  assert.equal(watch.refusal, "the database has only just recovered");
  await look();
  assert.equal(watch.refusal, undefined);
});

test("a warning is said once, and again when it has gone and come back", async () => {
  const { found, log, look } = watchOf();
  const warnings: (string | undefined)[] = ["locked", "locked", undefined, "locked"];
  for (const warning of warnings) {
    found.warning = warning;
    await look();
  }
  assert.deepEqual(
    log.lines.map(({ fields }) => fields["warning"]),
    ["locked", "locked"],
  );
});

test("a fault that a write has met refuses calls at once, and a store that cannot be looked at is looked at again", async () => {
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  let looks = 0;
  let tries = 0;
  const store: { writeFault: StoreCondition["fault"]; checkHealth: () => Promise<StoreCondition> } =
    {
      writeFault: undefined,
      checkHealth: () => {
        looks += 1;
        if (looks === 1) return Promise.reject(new Error("storage is closed"));
        return Promise.resolve({ fault: FULL, warning: undefined });
      },
    };
  const tryToWrite = () => {
    tries += 1;
    return Promise.reject(new Error("the disk is full"));
  };
  const watch = new StoreHealth({ store, keptCount: () => 0, tryToWrite, clock, log });
  assert.equal(watch.refusal, undefined);
  store.writeFault = { reason: "a lock", advice: "wait" };
  assert.equal(watch.refusal, "a lock");
  for (let look = 0; look < 3; look += 1) {
    clock.advance(LOOK_MS);
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  }
  assert.deepEqual([looks, tries, log.lines.length], [3, 2, 1]);
  watch.close();
  assert.equal(clock.pendingTimerCount, 0);
});

test("the store counts as well four seconds after it was seen ill last, to the look", async () => {
  const { watch, found, log, look } = watchOf();
  found.fault = FULL;
  await look();
  found.fault = undefined;
  await look();
  found.fault = FULL;
  await look();
  found.fault = undefined;
  const refusals: (string | undefined)[] = [];
  for (let looks = 0; looks < 3; looks += 1) {
    await look();
    refusals.push(watch.refusal);
  }
  assert.deepEqual(refusals, ["the database has only just recovered", undefined, undefined]);
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields["afterMs"]]),
    [
      ["error", undefined],
      ["info", 8_000],
    ],
  );
});
