import { collectDefaultMetrics, Gauge, type Registry } from "prom-client";
import { VERSION } from "../version.js";

/** The period of the library's own event loop monitor. It cannot be turned off, so it wakes the process only hourly. */
const MONITOR_PERIOD_MS = 3_600_000;
const MONITORED = ["min", "max", "mean", "stddev", "p50", "p90", "p99"];

/** Collects CPU time, memory, handles, garbage collection and build, without the figures of the library's monitor. */
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
