import assert from "node:assert/strict";
import { test } from "node:test";
import { JobRunner } from "../../../engine/jobs/job-runner.js";
import { JobMetrics } from "../../../engine/metrics/job-metrics.js";
import { summaryJob } from "../../../storage/jobs/job-record.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { insertOrganizations, NOON_MS } from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";

test("the only server of a database runs at its start what the one before it was at when it was killed", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const { jobs } = database;
  const job = summaryJob("org", "call", NOON_MS);
  await jobs.add([job]);
  const lease = { nowMs: NOON_MS, leaseUntilMs: NOON_MS + 30_000, limit: 9 };
  const claimed = await jobs.claim({ queue: job.queue, owner: "killed", ...lease });
  assert.equal(claimed.length, 1);
  const clock = new VirtualClock(NOON_MS + 1_000);
  const log = new RecordingLogger();
  const ran = new Promise<string>((resolve) => {
    const summary = {
      runningMax: 1,
      triesMax: 1,
      runningPerQueue: () => 1,
      delayMs: () => 0,
      run: async ({ id }: { readonly id: string }) => {
        resolve(id);
        return { kind: "done" } as const;
      },
    };
    const meter = new JobMetrics();
    const handlers = { summary };
    const runner = new JobRunner({
      store: jobs,
      handlers,
      owner: "me",
      isAlone: true,
      meter,
      clock,
      log,
    });
    context.after(async () => {
      const closing = runner.close(0);
      clock.advance(0);
      await closing;
    });
    runner.start();
  });
  assert.equal(await ran, job.id);
});
