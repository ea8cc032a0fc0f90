/** Series in promtool's notation, by name and labels. */
export type Series = Readonly<Record<string, string>>;

const SERVER = 'job="parley",instance="a"';

/** Adds the server's labels to the name, then the others. */
export function series(name: string, labels = ""): string {
  return `${name}{${SERVER}${labels === "" ? "" : `,${labels}`}}`;
}

export const NAMES = {
  up: series("up"),
  ready: series("parley_ready"),
  started: series("process_start_time_seconds"),
  late: series("nodejs_eventloop_lag_p99_seconds"),
  repliesWithin1: series("parley_turn_stage_seconds_bucket", 'stage="total",le="1"'),
  repliesWithin5: series("parley_turn_stage_seconds_bucket", 'stage="total",le="5"'),
  replies: series("parley_turn_stage_seconds_bucket", 'stage="total",le="+Inf"'),
  replyCount: series("parley_turn_stage_seconds_count", 'stage="total"'),
  setUpsWithin1: series("parley_call_setup_seconds_bucket", 'le="1"'),
  setUpsWithin5: series("parley_call_setup_seconds_bucket", 'le="5"'),
  setUps: series("parley_call_setup_seconds_bucket", 'le="+Inf"'),
  setUpCount: series("parley_call_setup_seconds_count"),
  vendorTimeouts: series(
    "parley_vendor_errors_total",
    'category="llm",vendor="openai",fault="timeout"',
  ),
  vendorAborts: series(
    "parley_vendor_errors_total",
    'category="tts",vendor="openai",fault="aborted"',
  ),
  vendorRefusals: series(
    "parley_vendor_errors_total",
    'category="stt",vendor="deepgram",fault="unauthorized"',
  ),
  refusedByCaller: series("parley_calls_refused_total", 'reason="callerLeft"'),
  refusedByLoad: series("parley_calls_refused_total", 'reason="overloaded"'),
  callsThatEnded: series("parley_calls_total", 'channel="web",reason="callerLeft"'),
  callsThatBroke: series("parley_calls_total", 'channel="web",reason="internalError"'),
  sttOutageSeconds: series("parley_stt_outage_seconds_total"),
  lookupsReady: series("parley_knowledge_lookups_total", 'outcome="ready"'),
  lookupsLate: series("parley_knowledge_lookups_total", 'outcome="late"'),
  calls: series("parley_calls_active"),
  storageWaiting: series("parley_storage_requests_waiting"),
  summaryAge: series("parley_job_age_seconds", 'kind="summary"'),
  deliveryAge: series("parley_job_age_seconds", 'kind="webhook"'),
  deliveriesQueued: series("parley_jobs", 'kind="webhook",state="queued"'),
  jobFailures: series("parley_job_failures_total", 'kind="webhook"'),
  listsHeldByPlan: series("parley_call_lists", 'state="running",hold="calls_limit_reached"'),
  listsHeldByVendor: series("parley_call_lists", 'state="running",hold="telephony_unavailable"'),
  diskFree: series("parley_disk_free_bytes"),
  filesOpen: series("process_open_fds"),
  filesMax: series("process_max_fds"),
} as const;

/**
 * One hour of a server with twenty calls and occasional problems: a slow reply, a vendor's timeout, a caller who hung
 * up.
 */
export const HEALTHY: Series = {
  [NAMES.up]: "1x60",
  [NAMES.ready]: "1x60",
  [NAMES.started]: "1000x60",
  [NAMES.late]: "0.012x60",
  [NAMES.repliesWithin1]: "0+99x60",
  [NAMES.repliesWithin5]: "0+100x60",
  [NAMES.replies]: "0+100x60",
  [NAMES.replyCount]: "0+100x60",
  [NAMES.setUpsWithin1]: "0+10x60",
  [NAMES.setUpsWithin5]: "0+10x60",
  [NAMES.setUps]: "0+10x60",
  [NAMES.setUpCount]: "0+10x60",
  [NAMES.vendorTimeouts]: "0+1x60",
  [NAMES.vendorAborts]: "0+50x60",
  [NAMES.vendorRefusals]: "7x60",
  [NAMES.refusedByCaller]: "0+20x60",
  [NAMES.refusedByLoad]: "0x60",
  [NAMES.callsThatEnded]: "0+10x60",
  [NAMES.callsThatBroke]: "0x60",
  [NAMES.sttOutageSeconds]: "0+1x60",
  [NAMES.lookupsReady]: "0+50x60",
  [NAMES.lookupsLate]: "0+1x60",
  [NAMES.calls]: "20x60",
  [NAMES.storageWaiting]: "3x60",
  [NAMES.summaryAge]: "40x60",
  [NAMES.deliveryAge]: "90000x60",
  [NAMES.deliveriesQueued]: "40x60",
  [NAMES.jobFailures]: "0x30 3x30",
  [NAMES.listsHeldByPlan]: "2x60",
  [NAMES.listsHeldByVendor]: "0x20 1x20 0x20",
  [NAMES.diskFree]: "50000000000-1000000x60",
  [NAMES.filesOpen]: "300x60",
  [NAMES.filesMax]: "65536x60",
};
