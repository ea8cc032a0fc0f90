import { pathToFileURL } from "node:url";
import { judge, type Measurement, readBudgets } from "../budget.js";
import { pinThisProcess } from "../stand/child-process.js";
import { Inspector } from "../stand/inspector.js";
import { holdingsOf } from "../stand/server-gauges.js";
import { startServerStand, startVendors } from "../stand/stand.js";
import { verdictTable } from "../verdict-table.js";
import { type SoakOutcome, soakCalls } from "./soak-calls.js";

const COUNT = 10_000;
const CONCURRENCY = 20;
/** Pools, caches and compiled code are made by then. */
const WARM_UP_CALLS = 200;
const SETTLE_TIMEOUT_MS = 30_000;

export interface SoakResult extends SoakOutcome {
  readonly measurements: readonly Measurement[];
}

/** `count` short calls against a server of its own; what it holds afterwards, beyond what it held before. */
export async function soak(count: number): Promise<SoakResult> {
  const vendors = await startVendors();
  const server = await startServerStand(vendors);
  const inspector = await Inspector.attach(server.process.inspectorUrl ?? "");
  try {
    const calls = { url: server.url, apiKey: server.apiKey, concurrency: CONCURRENCY };
    await soakCalls({ ...calls, count: WARM_UP_CALLS });
    const before = await holdingsOf(server, inspector, SETTLE_TIMEOUT_MS);
    const outcome = await soakCalls({ ...calls, count });
    const after = await holdingsOf(server, inspector, SETTLE_TIMEOUT_MS);
    const measurements: Measurement[] = [
      { name: "soakFailures", measured: outcome.failed },
      { name: "soakLeftovers", measured: after.unfinished },
      { name: "soakHeapGrowth", measured: (after.liveHeapBytes - before.liveHeapBytes) / 1_000 },
      {
        name: "soakResidentGrowth",
        measured: (after.residentBytes - before.residentBytes) / 1_000,
      },
      { name: "soakHandleGrowth", measured: after.handles - before.handles },
      { name: "soakTimerGrowth", measured: after.timers - before.timers },
    ];
    return { ...outcome, measurements };
  } finally {
    inspector.close();
    await server.close();
    await vendors.process.stop();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  pinThisProcess();
  const count = Number(process.argv[2] ?? COUNT);
  const startMs = performance.now();
  const { measurements, reasons } = await soak(count);
  const budgets = readBudgets();
  const verdicts = measurements.map((one) => judge(one, budgets[one.name]));
  const seconds = Math.round((performance.now() - startMs) / 1_000);
  console.log(`${count} calls, ${CONCURRENCY} at a time, in ${seconds} s\n`);
  console.log(verdictTable(verdicts));
  for (const reason of reasons) console.log(reason);
  if (verdicts.some(({ isMet }) => !isMet)) process.exitCode = 1;
}
