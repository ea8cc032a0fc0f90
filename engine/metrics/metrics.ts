import { statfs } from "node:fs/promises";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Ending } from "../conversation/call-end.js";
import { type TurnReport, WAIT_PARTS } from "../conversation/effects.js";
import type { BargeInDecision, EndOfTurnReason } from "../conversation/reasons.js";
import type { Hedges } from "../vendors/chain/answer-log.js";
import type { VendorError } from "../vendors/contracts.js";
import type { Metric } from "./cluster-metrics.js";
import type { EventLoopDelay, Lateness } from "./event-loop-delay.js";
import { collectProcessMetrics } from "./process-metrics.js";

/** The free space of the folder's disk for an unprivileged process; undefined if the system does not report it. */
export async function diskFreeBytes(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

const STAGE_BUCKETS_SEC = [0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10];
/** A turn waits 30 ms for a search. */
const SEARCH_BUCKETS_SEC = [0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.25, 1, 5];
const STAGES = [...WAIT_PARTS, "totalMs"] as const;

export interface FailingVendor {
  readonly category: string;
  readonly vendor: string;
}

/** Values that are read at each scrape. */
export interface MetricsSources {
  readonly callsActive: () => number;
  readonly storageRequestsWaiting: () => number;
  readonly speechCacheBytes: () => number;
  /** Whether new calls are accepted. */
  readonly isReady: () => boolean;
  /** The free space of the disk with the database and recordings; undefined if the system does not report it. */
  readonly diskFreeBytes: () => Promise<number | undefined>;
  /** The vendors of credentials that calls avoid now, since their circuit breaker is open. */
  readonly failingVendors: () => readonly FailingVendor[];
  readonly eventLoopDelay: Pick<EventLoopDelay, "takeWorst">;
}

/** The metrics of a process for Prometheus. Labels have small fixed sets of values, never callers or tenants. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #calls = this.#counter("parley_calls_total", "Calls that ended", ["channel", "reason"]);
  readonly #refusals = this.#counter("parley_calls_refused_total", "Calls that were refused", [
    "reason",
  ]);
  readonly #turns = this.#counter("parley_turns_total", "Turns of the assistant", [
    "kind",
    "outcome",
  ]);
  readonly #interruptions = this.#counter(
    "parley_interruptions_total",
    "Replies that callers interrupted",
    [],
  );
  readonly #bargeIns = this.#counter(
    "parley_barge_in_decisions_total",
    "Barge-in decisions by reason: a bounded number for each turn",
    ["action", "reason"],
  );
  readonly #endsOfTurn = this.#counter(
    "parley_end_of_turn_total",
    "Ends of answered caller turns by reason",
    ["reason"],
  );
  readonly #underruns = this.#counter(
    "parley_underruns_total",
    "Gaps in the agent's speech, where TTS or the server was late with the audio",
    [],
  );
  readonly #vendorErrors = this.#counter("parley_vendor_errors_total", "Failed vendor requests", [
    "category",
    "vendor",
    "fault",
  ]);
  readonly #sttOutageSeconds = this.#counter(
    "parley_stt_outage_seconds_total",
    "Time without STT",
    [],
  );
  readonly #hedges = this.#counter(
    "parley_hedges_total",
    "Replies with a slow LLM: a second request was sent, answered first, or exceeded the budget",
    ["outcome"],
  );
  readonly #hedgeTokens = this.#counter(
    "parley_hedge_wasted_tokens_total",
    "Estimated tokens of hedged requests that were not needed",
    [],
  );
  readonly #mcpRequests = this.#counter(
    "parley_mcp_requests_total",
    "Requests to MCP servers by operation and outcome",
    ["operation", "outcome"],
  );
  readonly #embeddedQuestions = this.#counter(
    "parley_knowledge_embeddings_total",
    "Questions of callers that were embedded, by outcome; without `ok` full text answers alone",
    ["outcome"],
  );
  readonly #lookups = this.#counter(
    "parley_knowledge_lookups_total",
    "Replies for which documents were searched, by outcome; without `ready` and `waited` they had no passages",
    ["outcome"],
  );
  readonly #searches = new Histogram({
    name: "parley_knowledge_search_seconds",
    help: "Full-text searches of calls",
    labelNames: ["store"],
    buckets: SEARCH_BUCKETS_SEC,
    registers: [this.#registry],
  });
  readonly #stages = new Histogram({
    name: "parley_turn_stage_seconds",
    help: "Reply latency by stage; `total` is the sum",
    labelNames: ["stage"],
    buckets: STAGE_BUCKETS_SEC,
    registers: [this.#registry],
  });
  readonly #setUp = new Histogram({
    name: "parley_call_setup_seconds",
    help: "From the caller's connection to the session being ready",
    buckets: STAGE_BUCKETS_SEC,
    registers: [this.#registry],
  });

  constructor(sources: MetricsSources) {
    collectProcessMetrics(this.#registry);
    this.#eventLoopGauges(() => sources.eventLoopDelay.takeWorst());
    this.#breakersGauge(sources.failingVendors);
    this.#gauge("parley_calls_active", "Calls in progress", sources.callsActive);
    this.#gauge(
      "parley_storage_requests_waiting",
      "Requests to the storage thread",
      sources.storageRequestsWaiting,
    );
    this.#gauge("parley_speech_cache_bytes", "Audio in the speech cache", sources.speechCacheBytes);
    this.#gauge("parley_ready", "1 if new calls are accepted", () => (sources.isReady() ? 1 : 0));
    this.#gauge(
      "parley_disk_free_bytes",
      "Free space on the disk of the database and the recordings",
      sources.diskFreeBytes,
    );
  }

  #breakersGauge(troubledVendors: () => readonly FailingVendor[]): void {
    const gauge = new Gauge({
      name: "parley_vendor_breakers_open",
      help: "Credentials whose circuit breaker is open",
      labelNames: ["category", "vendor"],
      registers: [this.#registry],
      collect: () => {
        gauge.reset();
        for (const { category, vendor } of troubledVendors()) gauge.inc({ category, vendor });
      },
    });
  }

  callReady(setUpMs: number): void {
    this.#setUp.observe(setUpMs / 1_000);
  }

  callRefused(reason: string): void {
    this.#refusals.inc({ reason });
  }

  callEnded(channel: string, ending: Ending): void {
    this.#calls.inc({ channel, reason: ending.reason });
  }

  bargedIn({ action, reason }: BargeInDecision): void {
    this.#bargeIns.inc({ action, reason });
  }

  callerTurnEnded(reason: EndOfTurnReason): void {
    this.#endsOfTurn.inc({ reason });
  }

  turnEnded(report: TurnReport): void {
    this.#turns.inc({ kind: report.kind, outcome: report.outcome });
    if (report.outcome === "interrupted") this.#interruptions.inc();
    if (report.underruns !== undefined) this.#underruns.inc(report.underruns);
    for (const stage of STAGES) {
      const durationMs = report[stage];
      if (durationMs === undefined) continue;
      this.#stages.observe({ stage: stage.replace(/Ms$/, "") }, durationMs / 1_000);
    }
  }

  vendorFailed(category: "llm" | "tts" | "stt", error: VendorError): void {
    this.#vendorErrors.inc({ category, vendor: error.vendor, fault: error.fault });
  }

  hedged({ asked, won, withheld, wastedTokens }: Hedges): void {
    this.#hedges.inc({ outcome: "asked" }, asked);
    this.#hedges.inc({ outcome: "won" }, won);
    this.#hedges.inc({ outcome: "withheld" }, withheld);
    this.#hedgeTokens.inc(wastedTokens);
  }

  questionEmbedded(outcome: string): void {
    this.#embeddedQuestions.inc({ outcome });
  }

  knowledgeSearched(store: "sqlite" | "postgresql", durationMs: number): void {
    this.#searches.observe({ store }, durationMs / 1_000);
  }

  lookedUp(outcome: string): void {
    this.#lookups.inc({ outcome });
  }

  mcpRequested(operation: string, outcome: string): void {
    this.#mcpRequests.inc({ operation, outcome });
  }

  listenerWasDeaf(durationMs: number): void {
    this.#sttOutageSeconds.inc(durationMs / 1_000);
  }

  /** The metrics in Prometheus' text format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** The metrics in the form that `clusterMetricsText` combines. */
  page(): Promise<readonly Metric[]> {
    return this.#registry.getMetricsAsJSON();
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  /** Prometheus reads the first gauge first; it sets the others. */
  #eventLoopGauges(take: () => Lateness): void {
    const gaugeOf = (figure: string, collect: () => void) =>
      new Gauge({
        name: `nodejs_eventloop_lag_${figure}_seconds`,
        help: `How late timers ran: ${figure} of the worst second since the last scrape`,
        registers: [this.#registry],
        collect,
      });
    const p50 = gaugeOf("p50", () => {
      const { p50Ms, p90Ms, p99Ms, maxMs } = take();
      p50.set(p50Ms / 1_000);
      p90.set(p90Ms / 1_000);
      p99.set(p99Ms / 1_000);
      max.set(maxMs / 1_000);
    });
    const nothingMore = () => {};
    const p90 = gaugeOf("p90", nothingMore);
    const p99 = gaugeOf("p99", nothingMore);
    const max = gaugeOf("max", nothingMore);
  }

  #gauge(
    name: string,
    help: string,
    read: () => number | undefined | Promise<number | undefined>,
  ): void {
    const gauge = new Gauge({
      name,
      help,
      registers: [],
      async collect() {
        const value = await read();
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
    this.#registry.registerMetric(gauge);
  }
}
