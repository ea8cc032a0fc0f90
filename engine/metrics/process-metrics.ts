import { collectDefaultMetrics, Gauge, type Registry } from "prom-client";
import { VERSION } from "../version.js";

/**
 * The library's own monitor of the event loop wakes the process at this period. It cannot be left out, so it is made to
 * sleep: an hour.
 */
const MONITOR_PERIOD_MS = 3_600_000;
const MONITORED = ["min", "max", "mean", "stddev", "p50", "p90", "p99"];

/** CPU time, memory, handles, garbage collection, and which build this is; without what the sleeping monitor would say. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: MONITOR_PERIOD_MS });
  for (const name of MONITORED) registry.removeSingleMetric(`nodejs_eventloop_lag_${name}_seconds`);
  const build = new Gauge({
    name: "parley_build_info",
    help: "Always 1; its labels say which build runs",
    labelNames: ["version", "node"],
    registers: [registry],
  });
  build.set({ version: VERSION, node: process.version }, 1);
}
