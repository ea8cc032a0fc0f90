import { AgentLlms } from "../../engine/analysis/agent-llms.js";
import { AnalysisJob } from "../../engine/analysis/analysis-job.js";
import { AnalysisRunJob } from "../../engine/analysis/analysis-runs.js";
import { SummaryJob } from "../../engine/analysis/summary-job.js";
import { IdempotentRequests } from "../../engine/calls/idempotent-requests.js";
import { CallListJob } from "../../engine/calls/lists/call-list-job.js";
import type { CallPlacer } from "../../engine/calls/lists/listed-calls.js";
import { PlacedCallJob } from "../../engine/calls/outbound/placed-call-job.js";
import { TelephonyAccounts } from "../../engine/calls/telephony-accounts.js";
import { WarmTransferJob } from "../../engine/calls/warm-transfer-job.js";
import { JobRunner } from "../../engine/jobs/job-runner.js";
import { DocumentReader } from "../../engine/knowledge/document-reader.js";
import { EmbeddingJob } from "../../engine/knowledge/embedding-job.js";
import { Knowledge } from "../../engine/knowledge/knowledge.js";
import { KnowledgeJob } from "../../engine/knowledge/knowledge-job.js";
import { VectorSets } from "../../engine/knowledge/vector-sets.js";
import type { Logger } from "../../engine/log.js";
import { JobMetrics } from "../../engine/metrics/job-metrics.js";
import type { CredentialCipher } from "../../engine/security/credential-cipher.js";
import type { CallControlSettings } from "../../engine/telephony/telephony-settings.js";
import type { PhoneNumbers } from "../../engine/tenancy/agents/phone-numbers.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import { Connections } from "../../engine/vendors/transport/connections.js";
import { WebhookDelivery } from "../../engine/webhooks/webhook-delivery.js";
import { Webhooks } from "../../engine/webhooks/webhooks.js";
import type { Database } from "../../storage/database.js";
import { vendorAccess } from "./vendor-access.js";
import type { WorkerSettings } from "./worker-server.js";

/** Deliveries in progress when the server stops; slower ones are sent again. */
const LAST_JOBS_MAX_MS = 2_000;
const UPLOAD_SWEEP_MS = 5 * 60 * 1_000;
const LIST_COUNT_PERIOD_MS = 15_000;

export interface JobWorkParts {
  readonly settings: Pick<
    WorkerSettings,
    | keyof CallControlSettings
    | "allowPrivateProviders"
    | "authorities"
    | "publicBaseUrl"
    | "platformUrls"
    | "hedgingTokensPercent"
    | "embeddingModels"
    | "chainTimeouts"
  >;
  readonly database: Database;
  readonly phoneNumbers: Pick<PhoneNumbers, "importFrom">;
  readonly isListening: () => boolean;
  /** Places calls of call lists; undefined while the server takes none. */
  readonly placer: () => CallPlacer | undefined;
  readonly cipher: CredentialCipher;
  readonly clock: Clock;
  readonly newId: () => string;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly log: Logger;
}

export interface JobWork {
  readonly metrics: JobMetrics;
  close(): Promise<void>;
}

/** Runs the durable jobs, in the process that has the database open. */
export function startJobs(parts: JobWorkParts): JobWork {
  const { settings, database, phoneNumbers, isListening, placer, cipher } = parts;
  const { clock, newId, random, log } = parts;
  const { allowPrivateProviders: allowPrivateAddresses, authorities, publicBaseUrl } = settings;
  const connections = new Connections({ clock, allowPrivateAddresses, authorities });
  const metrics = new JobMetrics();
  const webhook = new WebhookDelivery({
    database,
    connections,
    cipher,
    publicBaseUrl,
    clock,
    newId,
    random,
    log,
  });
  // It has its own breakers: a failed job is no reason to keep calls away from a vendor.
  const own = { settings, connections, cipher, breakerExchange: undefined, clock, log };
  const access = vendorAccess(own);
  const llms = new AgentLlms({ database, chains: access.chains });
  const accounts = { database, phoneNumbers, cipher, settings, context: access.context };
  const apis = new TelephonyAccounts({
    ...accounts,
    baseUrl: () => publicBaseUrl,
    allowPrivateAddresses,
    clock,
    newId,
    log,
  });
  const summary = new SummaryJob({ database, llms, clock });
  const owner = newId();
  const reader = new DocumentReader({ clock });
  const vectorSets = new VectorSets({
    store: database.embeddings,
    clock,
    onError: (error) => log.warn({ error }, "embeddings could not be parsed"),
  });
  const runner = new JobRunner({
    store: database.jobs,
    handlers: {
      webhook,
      summary,
      analysis: new AnalysisJob({ database, llms, clock }),
      analysisRun: new AnalysisRunJob({ database, clock }),
      placedCall: new PlacedCallJob({ calls: database.calls, runId: owner, log }),
      knowledge: new KnowledgeJob({ database, connections, reader, clock, newId }),
      warmTransfer: new WarmTransferJob({
        calls: database.calls,
        apis,
        isListening,
        clock,
        log,
      }),
      embedding: new EmbeddingJob({
        database,
        clients: access.clients,
        sets: vectorSets,
        platformModels: new Set(settings.embeddingModels),
      }),
      callList: new CallListJob({ store: database.callLists, placer, clock, newId }),
    },
    owner,
    isAlone: database.writers === "one",
    meter: metrics,
    clock,
    log,
  });
  runner.start();
  const webhooks = new Webhooks({ database, cipher, allowPrivateAddresses, clock, newId });
  const stopPurging = webhooks.startPurging(log);
  const stopKeyPurging = new IdempotentRequests(
    database.idempotencyKeys,
    clock,
    log,
  ).startPurging();
  const knowledge = new Knowledge({ database, reader, allowPrivateAddresses, clock, newId });
  const failAbandoned = () => {
    knowledge.failAbandoned().catch((error: unknown) => {
      log.warn({ error }, "abandoned uploads could not be marked");
    });
  };
  failAbandoned();
  const stopUploadSweep = clock.every(UPLOAD_SWEEP_MS, failAbandoned);
  const stopListCounts = startListCounts(database.callLists, metrics, clock, log);
  const close = async () => {
    stopPurging();
    stopKeyPurging();
    stopUploadSweep();
    stopListCounts();
    await runner.close(LAST_JOBS_MAX_MS);
    await vectorSets.close();
    await connections.close();
  };
  return { metrics, close };
}

/** Counts call lists for the metrics. A store that is slower than the period gets no second count. */
function startListCounts(
  store: Pick<Database["callLists"], "countByState">,
  metrics: JobMetrics,
  clock: Clock,
  log: Logger,
): CancelTimer {
  let isCounting = false;
  const count = async () => {
    if (isCounting) return;
    isCounting = true;
    try {
      metrics.callListsCounted(await store.countByState());
    } catch (error) {
      log.warn({ error }, "call lists could not be counted");
    } finally {
      isCounting = false;
    }
  };
  void count();
  return clock.every(LIST_COUNT_PERIOD_MS, () => void count());
}
