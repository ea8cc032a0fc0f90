import type { TestContext } from "node:test";
import { BackgroundLlm } from "../../../engine/calls/background-llm.js";
import { CallFeed } from "../../../engine/calls/call-feed.js";
import { CallJournal } from "../../../engine/calls/call-journal.js";
import { EventFilters } from "../../../engine/calls/event-filters.js";
import { EventLoopDelay } from "../../../engine/metrics/event-loop-delay.js";
import { Metrics } from "../../../engine/metrics/metrics.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { insertOrganizations, NOON_MS } from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";

/** A call of that database's organization. */
export const CALL_START = {
  callId: "call",
  orgId: "org",
  agentId: "agent",
  sessionId: "session",
  historyKey: "key",
  channel: "web",
} as const;

/** A journal on a database of the test's own, at noon, with everything that it leans on. */
export async function temporaryJournal(context: TestContext) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const clock = new VirtualClock(NOON_MS);
  const log = new RecordingLogger();
  const { calls, history } = database;
  const metrics = new Metrics({
    callsActive: () => 0,
    storageRequestsWaiting: () => 0,
    speechCacheBytes: () => 0,
    isReady: () => true,
    failingVendors: () => [],
    diskFreeBytes: async () => undefined,
    eventLoopDelay: new EventLoopDelay(),
  });
  const backgroundLlm = new BackgroundLlm(clock, log);
  const feed = new CallFeed(clock);
  const eventFilters = new EventFilters(database, clock);
  const shared = { backgroundLlm, metrics, feed, clock, log, eventFilters };
  const journal = new CallJournal({ calls, history, ...shared, runId: "run" });
  return { database, clock, log, metrics, feed, journal };
}
