import type { Inspector } from "./inspector.js";
import { descriptorCount, residentBytes } from "./process-usage.js";
import type { ServerStand } from "./stand.js";

/** What a server holds at a moment when nobody calls. */
export interface Holdings {
  readonly liveHeapBytes: number;
  readonly residentBytes: number;
  readonly handles: number;
  readonly timers: number;
  /** Calls, requests to storage and summaries that are not done. */
  readonly unfinished: number;
}

const POLL_MS = 200;

/** Waits until nothing is unfinished, at most `timeoutMs`, and counts. */
export async function holdingsOf(
  server: ServerStand,
  inspector: Inspector,
  timeoutMs: number,
): Promise<Holdings> {
  const deadlineMs = performance.now() + timeoutMs;
  let gauges = await readGauges(server.url);
  while (unfinishedIn(gauges) > 0 && performance.now() < deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    gauges = await readGauges(server.url);
  }
  const liveHeapBytes = await inspector.liveHeapBytes();
  const { pid } = server.process;
  return {
    liveHeapBytes,
    residentBytes: residentBytes(pid),
    handles: descriptorCount(pid),
    timers: gauges.get('nodejs_active_resources{type="Timeout"}') ?? 0,
    unfinished: unfinishedIn(gauges),
  };
}

function unfinishedIn(gauges: ReadonlyMap<string, number>): number {
  const names = ["parley_calls_active", "parley_storage_requests_waiting"];
  return names.reduce((sum, name) => sum + (gauges.get(name) ?? Number.NaN), 0);
}

/** Gauges and counters of `/metrics` by name with labels. */
export async function readGauges(url: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const gauges = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, name, value] = /^([a-z]\S*) (\S+)$/.exec(line) ?? [];
    if (name !== undefined) gauges.set(name, Number(value));
  }
  return gauges;
}
