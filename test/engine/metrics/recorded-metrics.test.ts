import assert from "node:assert/strict";
import { test } from "node:test";
import { CALLER_LEFT } from "../../../engine/conversation/call-end.js";
import { Metrics } from "../../../engine/metrics/metrics.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { VERSION } from "../../../engine/version.js";

const NO_LATENESS = { p50Ms: 0, p90Ms: 0, p99Ms: 0, maxMs: 0 };
/** The bucket edges that dashboards and alerts rely on. */
const EDGES_SEC = [0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10];

function newMetrics(takeWorst = () => NO_LATENESS): Metrics {
  return new Metrics({
    callsActive: () => 0,
    storageRequestsWaiting: () => 4,
    speechCacheBytes: () => 5,
    isReady: () => true,
    diskFreeBytes: () => Promise.resolve(7),
    failingVendors: () => [],
    eventLoopDelay: { takeWorst },
  });
}

async function told(metrics: Metrics, prefix: string): Promise<readonly string[]> {
  return (await metrics.text()).split("\n").filter((line) => line.startsWith(prefix));
}

test("calls are counted by channel and end, and refused calls by reason", async () => {
  const metrics = newMetrics();
  metrics.callEnded("phone", CALLER_LEFT);
  metrics.callEnded("phone", CALLER_LEFT);
  metrics.callRefused("overloaded");
  assert.deepEqual(await told(metrics, "parley_calls_total{"), [
    'parley_calls_total{channel="phone",reason="callerLeft"} 2',
  ]);
  assert.deepEqual(await told(metrics, "parley_calls_refused_total{"), [
    'parley_calls_refused_total{reason="overloaded"} 1',
  ]);
});

test("a call's setup time is counted in its bucket, including the bucket's edges", async () => {
  const metrics = newMetrics();
  for (const edgeSec of EDGES_SEC) metrics.callReady(edgeSec * 1_000);
  metrics.callReady(10_001);
  assert.deepEqual(await told(metrics, "parley_call_setup_seconds_bucket"), [
    ...EDGES_SEC.map(
      (edgeSec, index) => `parley_call_setup_seconds_bucket{le="${edgeSec}"} ${index + 1}`,
    ),
    `parley_call_setup_seconds_bucket{le="+Inf"} ${EDGES_SEC.length + 1}`,
  ]);
});

test("requests to MCP servers are counted by operation and outcome", async () => {
  const metrics = newMetrics();
  metrics.mcpRequested("list", "ok");
  metrics.mcpRequested("call", "timeout");
  assert.deepEqual(await told(metrics, "parley_mcp_requests_total{"), [
    'parley_mcp_requests_total{operation="list",outcome="ok"} 1',
    'parley_mcp_requests_total{operation="call",outcome="timeout"} 1',
  ]);
});

test("replies that looked up documents are counted by outcome, and searches by store and time", async () => {
  const metrics = newMetrics();
  metrics.lookedUp("late");
  metrics.knowledgeSearched("postgresql", 25);
  assert.deepEqual(await told(metrics, "parley_knowledge_lookups_total{"), [
    'parley_knowledge_lookups_total{outcome="late"} 1',
  ]);
  const searches = await told(metrics, "parley_knowledge_search_seconds_bucket");
  assert.ok(
    searches.includes('parley_knowledge_search_seconds_bucket{le="0.02",store="postgresql"} 0'),
  );
  assert.ok(
    searches.includes('parley_knowledge_search_seconds_bucket{le="0.03",store="postgresql"} 1'),
  );
});

test("barge-in decisions are counted by action and reason, and ends of turns by reason", async () => {
  const metrics = newMetrics();
  metrics.bargedIn({ action: "ignore", reason: "backchannel" });
  metrics.bargedIn({ action: "ignore", reason: "backchannel" });
  metrics.bargedIn({ action: "interrupt", reason: "words" });
  metrics.callerTurnEnded("endpointing");
  assert.deepEqual(await told(metrics, "parley_barge_in_decisions_total{"), [
    'parley_barge_in_decisions_total{action="ignore",reason="backchannel"} 2',
    'parley_barge_in_decisions_total{action="interrupt",reason="words"} 1',
  ]);
  assert.deepEqual(await told(metrics, "parley_end_of_turn_total{"), [
    'parley_end_of_turn_total{reason="endpointing"} 1',
  ]);
});

test("a turn is counted with its stages, its underruns and whether it was interrupted", async () => {
  const metrics = newMetrics();
  const times = { sttMs: 100, llmFirstTokenMs: 200, llmSentenceMs: 300, ttsFirstByteMs: 400 };
  const reply = { turn: 1, kind: "reply", ttsRestMs: 500 } as const;
  metrics.turnEnded({ ...reply, ...times, outcome: "interrupted", underruns: 2, totalMs: 1_500 });
  metrics.turnEnded({ turn: 2, kind: "greeting", outcome: "played", totalMs: 500 });
  assert.deepEqual(await told(metrics, "parley_turns_total{"), [
    'parley_turns_total{kind="reply",outcome="interrupted"} 1',
    'parley_turns_total{kind="greeting",outcome="played"} 1',
  ]);
  assert.deepEqual(await told(metrics, "parley_interruptions_total"), [
    "parley_interruptions_total 1",
  ]);
  assert.deepEqual(await told(metrics, "parley_underruns_total"), ["parley_underruns_total 2"]);
  assert.deepEqual(await told(metrics, "parley_turn_stage_seconds_sum"), [
    'parley_turn_stage_seconds_sum{stage="stt"} 0.1',
    'parley_turn_stage_seconds_sum{stage="llmFirstToken"} 0.2',
    'parley_turn_stage_seconds_sum{stage="llmSentence"} 0.3',
    'parley_turn_stage_seconds_sum{stage="ttsFirstByte"} 0.4',
    'parley_turn_stage_seconds_sum{stage="ttsRest"} 0.5',
    'parley_turn_stage_seconds_sum{stage="total"} 2',
  ]);
});

test("vendor errors are counted by kind, and time without STT in seconds", async () => {
  const metrics = newMetrics();
  metrics.vendorFailed("stt", new VendorError("deepgram", "timeout", "deepgram: too late"));
  metrics.listenerWasDeaf(1_500);
  assert.deepEqual(await told(metrics, "parley_vendor_errors_total{"), [
    'parley_vendor_errors_total{category="stt",vendor="deepgram",fault="timeout"} 1',
  ]);
  assert.deepEqual(await told(metrics, "parley_stt_outage_seconds_total"), [
    "parley_stt_outage_seconds_total 1.5",
  ]);
});

test("all event loop gauges come from one reading, in seconds", async () => {
  let count = 0;
  const metrics = newMetrics(() => {
    count += 1;
    return { p50Ms: 1, p90Ms: 20, p99Ms: 300, maxMs: 4_000 };
  });
  assert.deepEqual(
    (await told(metrics, "nodejs_eventloop_lag_")).filter((line) => !line.includes("lag_seconds")),
    [
      "nodejs_eventloop_lag_p50_seconds 0.001",
      "nodejs_eventloop_lag_p90_seconds 0.02",
      "nodejs_eventloop_lag_p99_seconds 0.3",
      "nodejs_eventloop_lag_max_seconds 4",
    ],
  );
  assert.equal(count, 1);
});

test("every gauge has its own source", async () => {
  const metrics = newMetrics();
  for (const [name, value] of [
    ["parley_storage_requests_waiting", 4],
    ["parley_speech_cache_bytes", 5],
    ["parley_disk_free_bytes", 7],
  ] as const) {
    assert.deepEqual(await told(metrics, name), [`${name} ${value}`]);
  }
});

test("hedged replies are counted by outcome", async () => {
  const metrics = newMetrics();
  metrics.hedged({ asked: 5, won: 3, withheld: 2, wastedTokens: 70 });
  metrics.hedged({ asked: 1, won: 0, withheld: 0, wastedTokens: 7 });
  assert.deepEqual(await told(metrics, "parley_hedges_total{"), [
    'parley_hedges_total{outcome="asked"} 6',
    'parley_hedges_total{outcome="won"} 3',
    'parley_hedges_total{outcome="withheld"} 2',
  ]);
  assert.deepEqual(await told(metrics, "parley_hedge_wasted_tokens_total"), [
    "parley_hedge_wasted_tokens_total 77",
  ]);
});

test("a turn without underruns, replies or stages is counted only as a turn", async () => {
  const metrics = newMetrics();
  metrics.turnEnded({ turn: 1, kind: "greeting", outcome: "played" });
  assert.deepEqual(await told(metrics, "parley_turns_total{"), [
    'parley_turns_total{kind="greeting",outcome="played"} 1',
  ]);
  assert.deepEqual(await told(metrics, "parley_underruns_total"), ["parley_underruns_total 0"]);
  assert.deepEqual(await told(metrics, "parley_interruptions_total"), [
    "parley_interruptions_total 0",
  ]);
  assert.deepEqual(await told(metrics, "parley_turn_stage_seconds_count"), []);
});

test("the page contains the build and the process's usage, but no figures of the library's event loop monitor", async () => {
  const metrics = newMetrics();
  assert.deepEqual(await told(metrics, "parley_build_info"), [
    `parley_build_info{version="${VERSION}",node="${process.version}"} 1`,
  ]);
  assert.equal((await told(metrics, "process_cpu_seconds_total")).length, 1);
  assert.deepEqual(await told(metrics, "nodejs_eventloop_lag_mean"), []);
  assert.deepEqual(await told(metrics, "nodejs_eventloop_lag_stddev"), []);
});
