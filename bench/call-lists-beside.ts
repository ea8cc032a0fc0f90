import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import * as v from "valibot";
import { packageRoot } from "../api/commands/livestream-local/package-root.js";
import { CALL_LIST_ROWS_MAX } from "../engine/calls/lists/call-list-rows.js";
import { urlsAt } from "../engine/sandbox/sandbox-urls.js";
import { readDemo } from "../engine/tenancy/seeding/demo-file.js";
import { alternate } from "./alternation.js";
import { freePorts } from "./livestream/free-ports.js";
import { thisMachine } from "./machine.js";
import { type PhoneLoadResult, phonePhrases, runPhoneLoad } from "./phone/phone-load.js";
import { askServer, createAgent } from "./phone/phone-stand.js";
import { quantile } from "./quantile.js";
import { pinThisProcess } from "./stand/child-process.js";
import { residentBytesOf } from "./stand/measured-server.js";
import { startPreparedVendors } from "./stand/prepared-vendors.js";
import { type ThreadUsage, threadsOf, usedSince } from "./stand/process-usage.js";
import type { ServerStand } from "./stand/stand.js";
import { wholeNumber } from "./whole-number.js";

/**
 * `node dist/bench/call-lists-beside.js [--entries 10000] [--calls 100] [--at-once 100] [--seconds 120] [--rounds 2] [--write]`: call lists
 * whose lines are all busy, worked through at the simulated vendor as fast as admission allows, beside telephone calls, compared with
 * the same calls alone. Fails where a person is not called exactly once, where the lists are not done in the measured time, or where
 * they take more memory than `MEMORY_GROWTH_MAX_BYTES`. `--write` keeps the table beside the other results.
 */
const { values } = parseArgs({
  options: {
    entries: { type: "string", default: "10000" },
    calls: { type: "string", default: "100" },
    "at-once": { type: "string", default: "100" },
    seconds: { type: "string", default: "120" },
    rounds: { type: "string", default: "2" },
    write: { type: "boolean", default: false },
  },
});
const entries = wholeNumber("entries", values.entries);
const calls = wholeNumber("calls", values.calls);
const atOnce = wholeNumber("at-once", values["at-once"]);
const seconds = wholeNumber("seconds", values.seconds);
const rounds = wholeNumber("rounds", values.rounds);

/** How much higher the highest resident memory may be than that of the calls alone. */
const MEMORY_GROWTH_MAX_BYTES = 96 * 1024 * 1024;
const SAMPLE_MS = 250;
const FROM = "+15550109999";
/** Numbers begin so, and end with the digits of a busy line. */
const TARGETS = "+4930";
const BUSY = "0001";
/** Their five digits between. */
const ENTRIES_MAX = 99_999;
if (entries > ENTRIES_MAX) {
  console.error(`--entries: expected at most ${ENTRIES_MAX}`);
  process.exit(1);
}
const TWILIO = { sid: `AC${"1".repeat(32)}`, token: "the-bench-token" };
const ADMIN = fileURLToPath(new URL("../api/commands/admin.js", import.meta.url));

const Created = v.object({ id: v.string() });
const Progress = v.object({ state: v.string(), counts: v.record(v.string(), v.number()) });
const Journal = v.array(
  v.object({ vendor: v.string(), kind: v.string(), text: v.optional(v.string()) }),
);

interface ListRun {
  readonly importMs: number;
  /** From the start of the first list to the end of the last one. */
  readonly workedMs: number;
  readonly doneCount: number;
  /** How long a request for the progress of a list took, which reads the database. */
  readonly readsMs: readonly number[];
}

interface Run extends PhoneLoadResult {
  readonly peakBytes: number;
  /** CPU of the session thread, and of the busiest other one, which is the storage thread here, in the measured time. */
  readonly sessionMs: number;
  readonly storageMs: number;
  readonly orderCount: number;
  readonly list: ListRun | undefined;
}

pinThisProcess();
const plan = {
  callers: calls,
  settleMs: 6_000,
  measureMs: seconds * 1_000,
  turnPeriodMs: 10_000,
  interruptEvery: 4,
};
const spoken = phonePhrases(plan);
const vendors = await startPreparedVendors(spoken, ["elevenlabs"]);
const { twilio } = urlsAt(new URL(vendors.deskUrl).host);

const admin = (server: ServerStand, environment: Record<string, string>, ...words: string[]) =>
  promisify(execFile)(process.execPath, [ADMIN, "number", ...words], {
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "development",
      DATA_DIR: server.dataDir,
      ...environment,
    },
  });

/** Stores the lists, which wait for their start. */
async function importLists(server: ServerStand): Promise<readonly string[]> {
  const agentId = await createAgent(server, "elevenlabs");
  const numbers = Array.from(
    { length: entries },
    (_, index) => `${TARGETS}${String(index).padStart(5, "0")}${BUSY}`,
  );
  const ids: string[] = [];
  for (let from = 0; from < numbers.length; from += CALL_LIST_ROWS_MAX) {
    const some = numbers.slice(from, from + CALL_LIST_ROWS_MAX);
    const list = await askServer(server, "/api/dashboard/call-lists", {
      name: "Measured",
      agentId,
      from: FROM,
      vendor: "twilio",
      detectMachine: false,
      callsMax: atOnce,
      windows: [
        { days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], from: "00:00", to: "24:00" },
      ],
      csv: `to,firstName\n${some.map((number) => `${number},Ada`).join("\n")}\n`,
    });
    ids.push(v.parse(Created, list).id);
  }
  return ids;
}

/** Starts the lists, and resolves when they are over, or `isOn` is false. */
async function workThrough(
  server: ServerStand,
  ids: readonly string[],
  isOn: () => boolean,
): Promise<Omit<ListRun, "importMs">> {
  const beganMs = performance.now();
  const readsMs: number[] = [];
  const progressOf = async (id: string) => {
    const askedMs = performance.now();
    const answer = await askServer(server, `/api/dashboard/call-lists/${id}`);
    readsMs.push(performance.now() - askedMs);
    return v.parse(Progress, answer);
  };
  for (const id of ids) await askServer(server, `/api/dashboard/call-lists/${id}/start`, {});
  for (;;) {
    await sleep(SAMPLE_MS);
    const lists = await Promise.all(ids.map(progressOf));
    const doneCount = lists.reduce((sum, { counts }) => sum + (counts["failed"] ?? 0), 0);
    if (lists.every(({ state }) => state === "completed") || !isOn()) {
      return { workedMs: performance.now() - beganMs, doneCount, readsMs };
    }
  }
}

/** Orders that the simulated vendor has got. */
function ordersIn(journal: unknown): number {
  return v
    .parse(Journal, journal)
    .filter(({ vendor, kind, text }) => `${vendor} ${kind} ${text}` === "twilio request place")
    .length;
}

const load = (hasLists: boolean) => async (): Promise<Run> => {
  const [port = 0] = await freePorts(1);
  const environment = {
    PORT: String(port),
    PUBLIC_BASE_URL: `http://127.0.0.1:${port}`,
    TWILIO_ACCOUNT_SID: TWILIO.sid,
    TWILIO_AUTH_TOKEN: TWILIO.token,
    TWILIO_BASE_URL: twilio,
    VENDOR_REQUESTS_PER_MINUTE: "1000000",
  };
  let ids: readonly string[] = [];
  let importMs = 0;
  let isMeasuring = false;
  let peakBytes = 0;
  let sessionMs = 0;
  let storageMs = 0;
  let orderCount = 0;
  let before: ReadonlyMap<string, ThreadUsage> = new Map();
  let work: Promise<Omit<ListRun, "importMs">> | undefined;
  let sampling: NodeJS.Timeout | undefined;
  const result = await runPhoneLoad("elevenlabs", vendors, spoken, plan, {
    environment,
    async onServer(server) {
      if (!hasLists) return;
      const demo = await readDemo(server.dataDir ?? "");
      await admin(server, environment, "allow", demo?.email ?? "", FROM);
      await admin(server, environment, "reach", demo?.email ?? "", TARGETS);
      const beganMs = performance.now();
      ids = await importLists(server);
      importMs = performance.now() - beganMs;
    },
    onMeasuring(server, isOn) {
      const threads = threadsOf(server.process.pid);
      isMeasuring = isOn;
      clearInterval(sampling);
      if (!isOn) {
        const others = new Map(threads);
        others.delete(String(server.process.pid));
        const all = usedSince(before, threads).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
        const used = usedSince(before, others).map(({ cpuMs }) => cpuMs);
        sessionMs = all - used.reduce((sum, cpuMs) => sum + cpuMs, 0);
        storageMs = Math.max(...used);
        return;
      }
      before = threads;
      sampling = setInterval(() => {
        peakBytes = Math.max(peakBytes, residentBytesOf(server));
      }, SAMPLE_MS);
      if (hasLists) work = workThrough(server, ids, () => isMeasuring);
    },
    onJournal(journal) {
      orderCount = ordersIn(journal);
    },
  });
  const worked = await work;
  const list = worked === undefined ? undefined : { importMs, ...worked };
  return { ...result, peakBytes, sessionMs, storageMs, orderCount, list };
};

const ms = (value: number) => value.toFixed(1);
const mean = (amounts: readonly number[]) =>
  amounts.reduce((sum, amount) => sum + amount, 0) / amounts.length;
const MEBIBYTE = 1024 * 1024;

function row(title: string, runs: readonly Run[]): string {
  const timings = runs.flatMap((run) => run.timings);
  const sounds = timings.map(({ totalMs }) => totalMs);
  const perSecond = (of: (run: Run) => number) => ms(mean(runs.map(of)) / seconds);
  const cells = [
    title,
    timings.length,
    runs.reduce((sum, { missedReplies }) => sum + missedReplies, 0),
    ms(quantile(sounds, 0.5)),
    ms(quantile(sounds, 0.99)),
    perSecond(({ sessionMs }) => sessionMs),
    perSecond(({ storageMs }) => storageMs),
    Math.round(mean(runs.map(({ peakBytes }) => peakBytes)) / MEBIBYTE),
  ];
  return `| ${cells.join(" | ")} |`;
}

function listRow({ list, orderCount }: Run): string {
  if (list === undefined) return "";
  const { importMs, workedMs, doneCount, readsMs } = list;
  const cells = [
    ms(importMs),
    doneCount,
    orderCount,
    ms(workedMs / 1_000),
    ms((doneCount * 1_000) / workedMs),
    ms(quantile(readsMs, 0.5)),
    ms(quantile(readsMs, 0.99)),
  ];
  return `| ${cells.join(" | ")} |`;
}

try {
  const [alone = [], beside = []] = await alternate(rounds, [load(false), load(true)]);
  const isCalledOnce = beside.every(({ orderCount }) => orderCount === entries);
  const isDone = beside.every(({ list }) => list?.doneCount === entries);
  const peakOf = (runs: readonly Run[]) => mean(runs.map(({ peakBytes }) => peakBytes));
  const growthBytes = peakOf(beside) - peakOf(alone);
  const isSmall = growthBytes <= MEMORY_GROWTH_MAX_BYTES;
  const verdict = (isKept: boolean) => (isKept ? "held" : "MISSED");
  const { cores, cpu, node, pinning, commit } = thisMachine();
  const report = `# Call lists beside calls

Call lists of ${entries} people whose lines are busy, in lists of at most ${CALL_LIST_ROWS_MAX} with ${atOnce} calls at the same time each, worked through at the simulated vendor beside ${calls} telephone calls, compared with the same calls alone, in turns. One server on SQLite. Latency is what the server adds to the first sound of a reply.
Made by \`node dist/bench/call-lists-beside.js --entries ${entries} --calls ${calls} --at-once ${atOnce} --seconds ${seconds} --rounds ${rounds}\` on ${new Date().toISOString().slice(0, 10)}, on ${cores} cores of ${cpu}, Node ${node}, ${pinning}, commit ${commit}; load at the end ${(loadavg()[0] ?? 0).toFixed(1)}.

| Calls | Turns | Not answered | Latency p50, ms | p99, ms | CPU of the session thread, ms a second | CPU of the storage thread, ms a second | Highest resident memory, MiB |
|---|---|---|---|---|---|---|---|
${row("alone", alone)}
${row("beside the lists", beside)}

| Import, ms | People done | Orders at the vendor | Time, s | People a second | Reading a list's progress p50, ms | p99, ms |
|---|---|---|---|---|---|---|
${beside.map(listRow).join("\n")}

The lists are done in the measured time: ${verdict(isDone)}. Each person is called once: ${verdict(isCalledOnce)}. More memory: ${Math.round(growthBytes / MEBIBYTE)} MiB, at most ${MEMORY_GROWTH_MAX_BYTES / MEBIBYTE}: ${verdict(isSmall)}.
`;
  console.log(report);
  if (values.write) {
    writeFileSync(join(packageRoot(), "bench/results/call-lists-beside.md"), report);
  }
  process.exitCode = isDone && isCalledOnce && isSmall ? 0 : 1;
} finally {
  await vendors.process.stop();
}
