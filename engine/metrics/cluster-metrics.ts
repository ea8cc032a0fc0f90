import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";
import { collectProcessMetrics } from "./process-metrics.js";

/** A metric that a process sends to the process that serves the metrics page. */
export type Metric = MetricObjectWithValues<MetricValue<string>>;

/** How to combine metrics that are not sums over the processes of a server. */
const AGGREGATORS: Readonly<Record<string, string>> = {
  parley_ready: "max",
  parley_build_info: "first",
  parley_disk_free_bytes: "min",
  // Each process reports the open breakers of all processes.
  parley_vendor_breakers_open: "max",
  parley_storage_requests_waiting: "max",
  process_start_time_seconds: "min",
  process_max_fds: "min",
  nodejs_eventloop_lag_p50_seconds: "max",
  nodejs_eventloop_lag_p90_seconds: "max",
  nodejs_eventloop_lag_p99_seconds: "max",
  nodejs_eventloop_lag_max_seconds: "max",
};

/** Returns one page for several processes in Prometheus' text format; each metric is added up unless listed above. */
export function clusterMetricsText(pages: readonly (readonly Metric[])[]): Promise<string> {
  const named = pages.map((page) =>
    page.map((metric) => ({
      ...metric,
      aggregator: AGGREGATORS[metric.name] ?? metric.aggregator,
    })),
  );
  return AggregatorRegistry.aggregate(named).metrics();
}

/** Returns the metrics of a process without calls, followed by those of `more`. */
export function processMetrics(
  more: () => Promise<readonly Metric[]> = () => Promise.resolve([]),
): () => Promise<readonly Metric[]> {
  const registry = new Registry();
  collectProcessMetrics(registry);
  return async () => [...(await registry.getMetricsAsJSON()), ...(await more())];
}
