import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type JobHandler, JobRunner } from "../../../engine/jobs/job-runner.js";
import { JobMetrics } from "../../../engine/metrics/job-metrics.js";
import type { Database } from "../../../storage/database.js";
import { summaryJob } from "../../../storage/jobs/job-record.js";
import { LOST_CLAIMS_FORGIVEN_MAX } from "../../../storage/jobs/job-store.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { insertOrganizations, NOON_MS } from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";
import { eventually } from "../../system/eventually.js";

const QUEUE = summaryJob("org", "", NOON_MS).queue;

/** A real file, time moved by hand, and a handler of summaries that the test completes. */
async function stand(context: TestContext, parts: Partial<JobHandler> & Pick<JobHandler, "run">) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const clock = new VirtualClock(NOON_MS + 1_000);
  const summary: JobHandler = {
    runningMax: 9,
    triesMax: 1,
    runningPerQueue: () => 2,
    delayMs: () => 5_000,
    ...parts,
  };
  const runner = new JobRunner({
    store: database.jobs,
    handlers: { summary },
    owner: "me",
    isAlone: true,
    meter: new JobMetrics(),
    clock,
    log: new RecordingLogger(),
  });
  context.after(async () => {
    const closing = runner.close(0);
    clock.advance(0);
    await closing;
  });
  return { database, clock, runner };
}

const add = ({ jobs }: Database, ...calls: readonly string[]) =>
  jobs.add(calls.map((call) => summaryJob("org", call, NOON_MS)));

test("the only server of a database runs at its start what the one before it was at when it was killed", async (context) => {
  const ran: string[] = [];
  const { database, runner } = await stand(context, {
    run: async ({ id }) => {
      ran.push(id);
      return { kind: "done" };
    },
  });
  await add(database, "call");
  const lease = { nowMs: NOON_MS, leaseUntilMs: NOON_MS + 30_000, limit: 9 };
  const claimed = await database.jobs.claim({ queue: QUEUE, owner: "killed", ...lease });
  assert.equal(claimed.length, 1);
  runner.start();
  await eventually("the job", () => ran[0]);
  assert.deepEqual(ran, ["summary_call"]);
});

test("a job that has ended the process in all its tries is given up, and not run again", async (context) => {
  let runs = 0;
  const { database, runner } = await stand(context, {
    run: async () => {
      runs += 1;
      return { kind: "done" };
    },
  });
  const { jobs } = database;
  await add(database, "poison");
  for (let lost = 0; lost <= LOST_CLAIMS_FORGIVEN_MAX; lost += 1) {
    const lease = { nowMs: NOON_MS, leaseUntilMs: NOON_MS + 30_000, limit: 9 };
    await jobs.claim({ queue: QUEUE, owner: "killed", ...lease });
    await jobs.takeOver(NOON_MS, Number.MAX_SAFE_INTEGER);
  }
  runner.start();
  const failed = await eventually("the failed job", async () => {
    const [job] = await jobs.list("org", { state: "failed", skip: 0, limit: 9 });
    return job;
  });
  assert.equal(failed.lastError, "the process ended during its last tries");
  assert.equal(runs, 0);
});

test("a job that has more to do runs again after its time, and no run counts as a try", async (context) => {
  const ranAtMs: number[] = [];
  const { database, clock, runner } = await stand(context, {
    triesMax: 1,
    run: async () => {
      ranAtMs.push(clock.epochMs());
      return ranAtMs.length < 4 ? { kind: "again", afterMs: 5_000 } : { kind: "done" };
    },
  });
  await add(database, "call");
  runner.start();
  await eventually("the job's end", async () => {
    const queued = await database.jobs.list("org", { state: "queued", skip: 0, limit: 9 });
    const isOver = ranAtMs.length === 4 && runner.runningCount === 0;
    if (isOver) return true;
    if (queued.length > 0) clock.advance(1_000);
    return undefined;
  });
  const waits = ranAtMs.slice(1).map((atMs, index) => atMs - (ranAtMs[index] ?? 0));
  assert.ok(
    waits.every((waitMs) => waitMs >= 5_000),
    String(waits),
  );
  assert.deepEqual(await database.jobs.list("org", { state: "failed", skip: 0, limit: 9 }), []);
});

test("jobs that are claimed ahead begin as others end, and their ends are stored together", async (context) => {
  const stored: number[] = [];
  let running = 0;
  let runningMax = 0;
  const { database, runner } = await stand(context, {
    claimedAheadPerQueue: 6,
    run: async () => {
      running += 1;
      runningMax = Math.max(runningMax, running);
      await new Promise(setImmediate);
      running -= 1;
      return { kind: "done" };
    },
    finish: (jobs, nowMs) => {
      stored.push(jobs.length);
      return database.jobs.finish(jobs, nowMs);
    },
  });
  await add(database, "a", "b", "c", "d", "e");
  runner.start();
  await eventually("all jobs", () => (runner.runningCount === 0 ? stored[0] : undefined));
  assert.deepEqual([stored, runningMax], [[5], 2]);
});

test("a job that fails gives back what was claimed ahead of its queue, as if it had not been", async (context) => {
  let isFirst = true;
  const { database, runner } = await stand(context, {
    triesMax: 9,
    runningPerQueue: () => (isFirst ? 2 : 0),
    claimedAheadPerQueue: 6,
    run: async () => {
      isFirst = false;
      return { kind: "retry", error: "no" };
    },
  });
  await add(database, "a", "b", "c", "d");
  runner.start();
  const queued = await eventually("the jobs", async () => {
    const jobs = await database.jobs.list("org", { state: "queued", skip: 0, limit: 9 });
    return !isFirst && runner.runningCount === 0 && jobs.length === 4 ? jobs : undefined;
  });
  assert.deepEqual(
    queued.map(({ attempts, runAfterMs }) => [attempts, runAfterMs - NOON_MS]),
    [
      [0, 0],
      [0, 0],
      [1, 6_000],
      [1, 6_000],
    ],
  );
});

test("what is added just after a claim waits for the next one, a second at most", async (context) => {
  const ran: string[] = [];
  const { database, clock, runner } = await stand(context, {
    claimedAheadPerQueue: 1,
    run: async ({ id }) => {
      ran.push(id);
      return { kind: "done" };
    },
  });
  runner.start();
  await add(database, "a");
  await eventually("the first job", () => (runner.runningCount === 0 ? ran[0] : undefined));
  await add(database, "b");
  await add(database, "c");
  clock.advance(999);
  assert.deepEqual(ran, ["summary_a"]);
  await eventually("the others", () => {
    clock.advance(1);
    return ran[2];
  });
  assert.ok(clock.epochMs() >= NOON_MS + 2_000);
});

test("jobs are counted for the metrics once at a time, however slow the store is", async (context) => {
  const { database, clock, runner } = await stand(context, { run: async () => ({ kind: "done" }) });
  let answer = () => {};
  const counted = context.mock.method(database.jobs, "counts", () => {
    return new Promise((resolve) => {
      answer = () => resolve([]);
    });
  });
  runner.start();
  clock.advance(60_000);
  assert.equal(counted.mock.callCount(), 1);
  answer();
  await new Promise(setImmediate);
  clock.advance(15_000);
  assert.equal(counted.mock.callCount(), 2);
});

/** What waits until the test opens it. */
function gate(): { readonly opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

for (const placesAfterFailure of [1, 0]) {
  test(`what a claim under way brings after a job failed does not wait for ever, with ${placesAfterFailure} places`, async (context) => {
    const [failing, claiming, settling] = [gate(), gate(), gate()];
    const ran: string[] = [];
    let places = 2;
    const { database, clock, runner } = await stand(context, {
      triesMax: 9,
      runningPerQueue: () => places,
      claimedAheadPerQueue: 6,
      run: async ({ id }) => {
        ran.push(id);
        if (id !== "summary_a") return { kind: "done" };
        await failing.opened;
        places = placesAfterFailure;
        return { kind: "retry", error: "no" };
      },
    });
    const { jobs } = database;
    await add(database, "a");
    runner.start();
    await eventually("the first job", () => ran[0]);
    let claimed = 0;
    const claim = jobs.claim.bind(jobs);
    const postpone = jobs.postpone.bind(jobs);
    jobs.claim = async (asked) => {
      const answer = await claim(asked);
      claimed += answer.length;
      await claiming.opened;
      return answer;
    };
    let isSettling = false;
    jobs.postpone = async (...asked) => {
      isSettling = true;
      await settling.opened;
      await postpone(...asked);
    };
    await add(database, "b", "c", "d");
    await eventually("the claim", () => {
      clock.advance(100);
      return claimed === 3 || undefined;
    });
    failing.open();
    await eventually("the failure", () => isSettling || undefined);
    claiming.open();
    await eventually("what was claimed", () => runner.runningCount === 4 || undefined);
    settling.open();
    if (placesAfterFailure > 0) {
      await eventually("the others", () => ran[3]);
      assert.deepEqual(ran, ["summary_a", "summary_b", "summary_c", "summary_d"]);
      return;
    }
    const queued = await eventually("the jobs given back", async () => {
      const all = await jobs.list("org", { state: "queued", skip: 0, limit: 9 });
      return runner.runningCount === 0 && all.length === 4 ? all : undefined;
    });
    assert.deepEqual(
      queued.map(({ attempts }) => attempts),
      [0, 0, 0, 1],
    );
  });
}

test("a job whose claim was answered to nobody runs when its lease is over, though others of this process run", async (context) => {
  const ending = gate();
  const ran: string[] = [];
  const { database, clock, runner } = await stand(context, {
    run: async ({ id }) => {
      ran.push(id);
      if (id === "summary_a") await ending.opened;
      return { kind: "done" };
    },
  });
  const { jobs } = database;
  await add(database, "a");
  runner.start();
  await eventually("the first job", () => ran[0]);
  const claim = jobs.claim.bind(jobs);
  let isLost = false;
  jobs.claim = async (asked) => {
    const answer = await claim(asked);
    if (isLost || answer.length === 0) return answer;
    isLost = true;
    throw new Error("the connection was lost");
  };
  await add(database, "b");
  await eventually("the lost claim", () => isLost || undefined);
  for (let passedMs = 0; passedMs < 60_000 && ran.length < 2; passedMs += 1_000) {
    clock.advance(1_000);
    await jobs.nextTimes();
    await new Promise(setImmediate);
  }
  await eventually("the second job", () => ran[1]);
  ending.open();
  assert.deepEqual(ran, ["summary_a", "summary_b"]);
});

test("a job that was claimed ahead is not begun after its lease is over", async (context) => {
  const ending = gate();
  const ran: string[] = [];
  const { database, clock, runner } = await stand(context, {
    runningPerQueue: () => 2,
    claimedAheadPerQueue: 6,
    run: async ({ id }) => {
      ran.push(id);
      await ending.opened;
      return { kind: "done" };
    },
  });
  const { jobs } = database;
  await add(database, "a", "b", "c");
  runner.start();
  await eventually("the jobs", () => (runner.runningCount === 3 && ran[1]) || undefined);
  jobs.heartbeat = () => Promise.reject(new Error("the database is away"));
  clock.advance(30_001);
  const nowMs = clock.epochMs();
  await jobs.takeOver(nowMs);
  const lease = { nowMs, leaseUntilMs: nowMs + 30_000, limit: 9 };
  const theirs = await jobs.claim({ queue: QUEUE, owner: "they", ...lease });
  ending.open();
  await eventually("the end", () => runner.runningCount === 0 || undefined);
  assert.deepEqual(ran, ["summary_a", "summary_b"]);
  assert.equal((await jobs.finish(theirs, nowMs)).count, theirs.length);
});
