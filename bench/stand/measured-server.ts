import { setTimeout as sleep } from "node:timers/promises";
import type { BenchProcess } from "./child-process.js";
import { Inspector } from "./inspector.js";
import { childrenOf, cpuMs, residentBytes } from "./process-usage.js";
import type { ServerStand } from "./stand.js";

/** The collector gives pages back to the system on a thread of its own. */
const PAGES_RETURNED_MS = 1_000;

/** What is measured of a server: its processes, and those of the servers beside it. */
export type MeasuredServer = Pick<ServerStand, "process" | "besides">;

function startedBy({ process, besides = [] }: MeasuredServer): readonly BenchProcess[] {
  return [process, ...besides.map((each) => each.process)];
}

/** All process ids: the first is that of the server's own first process. */
export function pidsOf(server: MeasuredServer): readonly number[] {
  return startedBy(server).flatMap(({ pid }) => [pid, ...childrenOf(pid)]);
}

/** CPU time of all threads of all processes since their start. */
export function cpuMsOf(server: MeasuredServer): number {
  return pidsOf(server).reduce((sum, pid) => sum + cpuMs(pid), 0);
}

/** What the processes share counts for each. */
export function residentBytesOf(server: MeasuredServer): number {
  return pidsOf(server).reduce((sum, pid) => sum + residentBytes(pid), 0);
}

/** After a full collection in each process: the heaps of their main threads with their buffers, and what is resident. */
export async function collectedBytesOf(
  server: MeasuredServer,
): Promise<{ readonly live: number; readonly resident: number }> {
  let live = 0;
  for (const url of startedBy(server).flatMap(({ inspectorUrls }) => inspectorUrls)) {
    const inspector = await Inspector.attach(url);
    live += await inspector.liveBytes();
    inspector.close();
  }
  await sleep(PAGES_RETURNED_MS);
  return { live, resident: residentBytesOf(server) };
}
