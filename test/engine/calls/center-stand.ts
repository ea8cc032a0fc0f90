import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { AdmissionLimits } from "../../../engine/calls/admission.js";
import { CallCenter, type CallCenterOptions } from "../../../engine/calls/call-center.js";
import type { Ending } from "../../../engine/conversation/call-end.js";
import { VendorClients } from "../../../engine/tenancy/providers/vendor-clients.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { chainsOf } from "../../doubles/chains-of.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { openPlatform } from "../tenancy/seeded-platform.js";

export const HOUR_MS = 60 * 60 * 1_000;
export const HISTORY_LIFETIME_MS = 24 * HOUR_MS;
export const NO_LIMITS: AdmissionLimits = { callsMax: 0, eventLoopDelayMaxMs: 0 };
export const SAID = [{ role: "user", content: "hi" }] as const;

/** The center of a server on a real database, whose time a test moves; closed after the test. */
export async function centerFor(context: TestContext, changes: Partial<CallCenterOptions> = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-center-"));
  context.after(() => rm(dataDir, { recursive: true }));
  const platform = await openPlatform(context);
  const tenant = await platform.tenantOn("free");
  const { database, clock, cipher, agents, newId } = platform;
  const connections = new Connections({ clock, allowPrivateAddresses: true });
  context.after(() => connections.close());
  const surroundings = { clock, connections };
  const clients = new VendorClients(cipher, {}, surroundings);
  const log = new RecordingLogger();
  const center = new CallCenter({
    ...NO_LIMITS,
    database,
    dataDir,
    agents,
    vendors: { chains: chainsOf(clients, clock), cipher, context: surroundings },
    dialTargets: undefined,
    speechCacheBytes: 1_000_000,
    preemptiveWasteTokensPerHour: 1_000,
    runId: "this run",
    clock,
    newId,
    log,
    ...changes,
  });
  context.after(() => center.close());
  const orgId = tenant.organization.id;
  /** A call that ends when a test says so, with its notifications. */
  const liveCall = (callId: string) => {
    const endings: Ending[] = [];
    center.liveCalls.add({ callId, end: (ending) => endings.push(ending) });
    return endings;
  };
  const begin = (callId: string) => {
    const ids = { callId, orgId, agentId: "agent", sessionId: callId, historyKey: "key" };
    return center.journal.start({ ...ids, channel: "web" });
  };
  return { center, database, clock, log, orgId, tenant, liveCall, begin };
}
