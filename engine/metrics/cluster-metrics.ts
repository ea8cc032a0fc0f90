import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";
import { collectProcessMetrics } from "./process-metrics.js";

/** A metric of one process on its way to the page of its server. */
export type Metric = MetricObjectWithValues<MetricValue<string>>;

/** Metrics that are no sums of those of the box's processes. */
const AGGREGATORS: Readonly<Record<string, string>> = {
  parley_ready: "max",
  parley_build_info: "first",
  parley_disk_free_bytes: "min",
  // Each process tells of all of them.
  parley_vendor_breakers_open: "max",
  parley_storage_requests_waiting: "max",
  process_start_time_seconds: "min",
  process_max_fds: "min",
  nodejs_eventloop_lag_p50_seconds: "max",
  nodejs_eventloop_lag_p90_seconds: "max",
  nodejs_eventloop_lag_p99_seconds: "max",
  nodejs_eventloop_lag_max_seconds: "max",
};

/** One page for several processes in the text format of Prometheus: each metric added up, or as its name asks. */
export function clusterMetricsText(pages: readonly (readonly Metric[])[]): Promise<string> {
  const named = pages.map((page) =>
    page.map((metric) => ({
      ...metric,
      aggregator: AGGREGATORS[metric.name] ?? metric.aggregator,
    })),
  );
  return AggregatorRegistry.aggregate(named).metrics();
}

/** What a process that has no calls has to say, and `more`. */
export function processMetrics(
  more: () => Promise<readonly Metric[]> = () => Promise.resolve([]),
): () => Promise<readonly Metric[]> {
  const registry = new Registry();
  collectProcessMetrics(registry);
  return async () => [...(await registry.getMetricsAsJSON()), ...(await more())];
}
