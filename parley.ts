import { randomInt, randomUUID } from "node:crypto";
import { join } from "node:path";
import { sharedLimits } from "./api/cluster/cluster-limits.js";
import { singleProcess } from "./api/cluster/cluster-member.js";
import { joinNodes, soleWorker } from "./api/cluster/cluster-nodes.js";
import { startJobs } from "./api/cluster/job-work.js";
import { WorkerProcesses } from "./api/cluster/worker-processes.js";
import { startWorkerServer, type WorkerSettings } from "./api/cluster/worker-server.js";
import { freePort } from "./api/http/backend/free-port.js";
import { localUrl } from "./api/start-up/local-url.js";
import { refuseWrongBucket } from "./api/start-up/recordings-bucket.js";
import { type Config, DATABASE_FILE } from "./config.js";
import type { CallCenter } from "./engine/calls/call-center.js";
import { pauseRestoredLists } from "./engine/calls/lists/call-lists.js";
import type { CallPlacer } from "./engine/calls/lists/listed-calls.js";
import { refuseBesideOther } from "./engine/calls/orphaned-calls.js";
import { ClusterPrimary } from "./engine/cluster/primary.js";
import type { Logger } from "./engine/log.js";
import { processMetrics } from "./engine/metrics/cluster-metrics.js";
import { removeSandboxNote, writeSandboxNote } from "./engine/sandbox/sandbox-note.js";
import { startSandboxThread } from "./engine/sandbox/start-sandbox-thread.js";
import { hasTwilioAccount, twilioInSandbox } from "./engine/sandbox/telephone/sandbox-telephony.js";
import { AccessTokens } from "./engine/security/access-token.js";
import { CredentialCipher } from "./engine/security/credential-cipher.js";
import { developmentKeys } from "./engine/security/development-keys.js";
import { CredentialRotation, checkEncryptionKey } from "./engine/tenancy/credential-rotation.js";
import {
  type ConfiguredVendors,
  configuredVendors,
} from "./engine/tenancy/providers/vendor-preference.js";
import type { Demo } from "./engine/tenancy/seeding/demo-file.js";
import { ensureDemo } from "./engine/tenancy/seeding/demo-organization.js";
import { seedPlatform, warnOfRetiringModels } from "./engine/tenancy/seeding/seeding.js";
import { newTenancy } from "./engine/tenancy/tenancy.js";
import { type Clock, SystemClock } from "./engine/time/clock.js";
import { makeDataFolder } from "./storage/data-folder.js";
import { type Database, openDatabase } from "./storage/database.js";

const RANDOM_STEPS = 1_000_000;
/** Sees what no organization owns. */
const PLATFORM = "";

export interface Server {
  readonly port: number;
  readonly usesSandbox: boolean;
  /** Where the sandbox's faults and journal are. */
  readonly sandboxUrl: string | undefined;
  readonly configured: ConfiguredVendors;
  readonly demo: Demo | undefined;
  readonly demoToken: string | undefined;
  readonly database: Database;
  /** Tells every call in progress to end. */
  endAll(): void;
  /** Drains, then takes the parts down in reverse; further calls wait for the first. */
  stop(drainTimeoutMs?: number): Promise<void>;
}

/** All of it in one process. */
export interface Parley extends Server {
  readonly calls: CallCenter;
}

/** Processes that carry calls, and this one, which has what must be one for all of them. */
export interface ServerWithWorkers extends Server {
  /** The ids of the processes that carry calls. */
  readonly pids: () => readonly number[];
}

/** Builds every part in order and starts it. Rejects when one of them cannot start. */
export async function startParley(
  config: Config,
  log: Logger,
  clock: Clock = new SystemClock(),
): Promise<Parley> {
  const stop = once(async (drainTimeoutMs = config.drainTimeoutMs) => {
    // Where there are no others, nothing may come before the drain, whose deadline begins with the stop.
    if (lone !== undefined) await lone.primary.stopTaking();
    await server.stop(drainTimeoutMs);
    lone?.close();
    await installation.close();
  });
  const installation = await openInstallation(config, log, clock, () => void stop(0));
  const { settings, database, cipher, tenancy, nodes, jobs } = installation;
  const moreMetrics = () => jobs.metrics.page();
  const lone = nodes && soleWorker({ settings, database, nodes, moreMetrics, clock, log });
  const cluster = lone?.worker ?? singleProcess(settings.jwtSecret, clock);
  const about = { settings, database, cipher, tenancy, cluster, clock, newId: randomUUID, log };
  const runId = randomUUID();
  await nodes?.addRun(runId);
  const starting = startWorkerServer({ ...about, isFirst: true, runId, moreMetrics });
  const server = await orClosed(starting, installation);
  if (lone !== undefined) {
    lone.worker.began(server);
    await nodes?.serve(lone.primary.asNode);
  }
  const { port, calls } = server;
  await installation.listensOn(port, lone?.primary ?? server.placer);
  return { ...installation, port, calls, endAll: () => calls.endAll(), stop };
}

/** As `startParley`, with processes that carry the calls. */
export async function startServerWithWorkers(
  config: Config,
  log: Logger,
  clock: Clock = new SystemClock(),
): Promise<ServerWithWorkers> {
  const port = await freePort(config.host, config.port);
  const stop = once(async (drainTimeoutMs = config.drainTimeoutMs) => {
    if (nodes !== undefined) await primary.stopTaking();
    await processes.stop(drainTimeoutMs);
    primary.close();
    await installation.close();
  });
  const installation = await openInstallation(config, log, clock, () => void stop(0));
  const { settings, keys, database, nodes, jobs } = installation;
  const limits = sharedLimits(settings, clock, () => nodes?.liveCount ?? 1);
  const primary = new ClusterPrimary({
    limits,
    database,
    nodes,
    metrics: processMetrics(() => jobs.metrics.page()),
    clock,
    log,
  });
  database.recordChanges.onChanged(() => primary.recordsChanged());
  const { workers: count, logLevel } = config;
  const addRun = (runId: string) => nodes?.addRun(runId) ?? Promise.resolve();
  const orders = { settings, keys, writers: database.writers, logLevel };
  const parts = { count, orders, primary, addRun, database, clock, log };
  const processes = await orClosed(WorkerProcesses.start(parts, port), installation);
  await nodes?.serve(primary.asNode);
  await installation.listensOn(port, primary);
  const endAll = () => processes.endAll();
  return { ...installation, port, pids: () => processes.pids, endAll, stop };
}

/** What a server has once, whatever carries its calls. */
async function openInstallation(config: Config, log: Logger, clock: Clock, onLost: () => void) {
  const { dataDir } = config;
  makeDataFolder(dataDir);
  await refuseWrongBucket(config, clock, log);
  const keys = await installationKeys(config, log);
  const sandbox = wantsSandbox(config)
    ? await startSandboxThread({ tls: config.sandbox === "tls", voice: config.sandboxVoice })
    : undefined;

  const filePath = join(dataDir, DATABASE_FILE);
  const database = await openDatabase({
    filePath,
    url: config.databaseUrl,
    sessionUrl: config.databaseSessionUrl,
    connectionsMax: config.databaseConnections,
    onFailure: onStorageFailure,
    isServer: true,
    nodeName: config.nodeName,
    mustExist: config.databaseStart !== "any",
  });
  const opened = { database, keys, sandbox };
  return orClosed(install(config, opened, log, clock, onLost), database);

  function onStorageFailure(error: Error): void {
    log.error({ error }, "storage failed; stopping the server");
    process.exitCode = 1;
    onLost();
  }
}

interface Opened {
  readonly database: Database;
  readonly keys: Awaited<ReturnType<typeof installationKeys>>;
  readonly sandbox: Awaited<ReturnType<typeof startSandboxThread>> | undefined;
}

async function install(
  config: Config,
  { database, keys, sandbox }: Opened,
  log: Logger,
  clock: Clock,
  onLost: () => void,
) {
  const newId = randomUUID;
  const { dataDir } = config;
  const isOneServers = database.messageBus === undefined;
  if (isOneServers && !database.isSoleServer && config.databaseStart !== "restored") {
    await refuseBesideOther({ calls: database.calls, clock, log });
  }
  const nodes = await joinNodes({ ...config, database, onLost: onTakenForDead, clock, log });
  const cipher = new CredentialCipher(keys.encryptionKey, config.encryptionKeysOld);
  const { vendorKeys, vendorUrls, jwtExpiresIn: expiresIn } = config;
  const usesSandbox = sandbox !== undefined;
  const platform = { database, cipher, clock, newId, vendorKeys, vendorUrls };
  const rotation = new CredentialRotation({ database, cipher, clock, newId });
  const keyRefusal = await checkEncryptionKey(rotation, log);
  // Nothing is sealed with a key that would have to be taken back.
  if (keyRefusal === undefined) {
    const changedKeys = await seedPlatform({ ...platform, sandbox: usesSandbox });
    for (const vendor of changedKeys) {
      log.info(
        { vendor },
        "the environment has another key for this vendor; it is used from now on",
      );
    }
  }

  const { jwtSecret: secret } = keys;
  const oldSecrets = config.jwtSecretsOld;
  const tokens = new AccessTokens({ secret, oldSecrets, expiresIn, clock });
  const allowPrivateAddresses = config.allowPrivateProviders;
  const parts = { database, cipher, tokens, clock, newId, allowPrivateAddresses, log };
  const tenancy = newTenancy(parts);
  const demo =
    config.isProduction || keyRefusal !== undefined
      ? undefined
      : await ensureDemo({ database, ...tenancy, dataDir, clock, log });
  const demoToken = demo && (await tenancy.accounts.signIn(demo).catch(() => undefined))?.token;
  // A simulated vendor retires nothing.
  if (!usesSandbox) await warnOfRetiringModels({ database, clock, log });
  const configured = configuredVendors(await database.providers.listVisible(PLATFORM));
  const stopPurging = tenancy.auditTrail.startPurging(log);

  const telephony = sandbox === undefined ? config : twilioInSandbox(config, sandbox.urls);
  const settings: WorkerSettings = {
    ...telephony,
    takesTokensInAddress: demo !== undefined,
    jwtSecret: secret,
    keyRefusal,
    authorities: [config.vendorCa, sandbox?.caCertificate].filter((pem) => pem !== undefined),
    platformUrls: { ...(sandbox?.urls ?? vendorUrls) },
    isSandboxed: usesSandbox,
    sandboxControlUrl: hasTwilioAccount(config) ? undefined : sandbox?.urls.desk,
  };

  const { phoneNumbers } = tenancy;
  // Spreads the tries of deliveries that failed together.
  const random = () => randomInt(RANDOM_STEPS) / RANDOM_STEPS;
  if (config.databaseStart === "restored") {
    const paused = await pauseRestoredLists(database.callLists, clock);
    if (paused > 0) log.warn({ callLists: paused }, "paused the call lists of a restored database");
  }
  let placer: CallPlacer | undefined;
  const isListening = () => placer !== undefined;
  const own = { settings, database, phoneNumbers, cipher, isListening, placer: () => placer };
  const jobs = startJobs({ ...own, clock, newId, random, log });

  async function listensOn(port: number, workers: CallPlacer): Promise<void> {
    placer = workers;
    if (sandbox === undefined) return;
    const { telephones: twilioUrl, desk: deskUrl } = sandbox.urls;
    const serverUrl = localUrl(config.host, port);
    await writeSandboxNote(dataDir, { serverUrl, twilioUrl, deskUrl });
  }

  async function close(): Promise<void> {
    stopPurging();
    await jobs.close();
    await nodes?.leave();
    await database.close();
    await sandbox?.close();
    if (usesSandbox) await removeSandboxNote(dataDir);
    log.info({}, "stopped");
  }

  function onTakenForDead(): void {
    log.error({}, "other servers declared this one dead and closed its calls; stopping");
    process.exitCode = 1;
    onLost();
  }

  const { encryptionKey } = keys;
  const { encryptionKeysOld, jwtSecretsOld, jwtExpiresIn } = config;
  return {
    settings,
    keys: { encryptionKey, encryptionKeysOld, jwtSecretsOld, jwtExpiresIn },
    database,
    nodes,
    cipher,
    tenancy,
    jobs,
    usesSandbox,
    sandboxUrl: sandbox?.urls.desk,
    configured,
    demo,
    demoToken,
    listensOn,
    close,
  };
}

/** As `work`; where that fails, first closes what is open: a process that ends then meets no thread in the midst of a statement. */
async function orClosed<Result>(
  work: Promise<Result>,
  open: { close(): Promise<void> },
): Promise<Result> {
  return work.catch(async (error: unknown) => {
    await open.close();
    throw error;
  });
}

/** Every further call gets what the first one got. */
function once<Result>(work: (limit?: number) => Promise<Result>) {
  let begun: Promise<Result> | undefined;
  return (limit?: number) => {
    begun ??= work(limit);
    return begun;
  };
}

function wantsSandbox({ sandbox, vendorKeys, isProduction }: Config): boolean {
  if (isProduction || sandbox === "off") return false;
  return (
    sandbox === "on" ||
    sandbox === "tls" ||
    Object.values(vendorKeys).every((key) => key === undefined)
  );
}

async function installationKeys({ jwtSecret, encryptionKey, dataDir }: Config, log: Logger) {
  if (jwtSecret !== undefined && encryptionKey !== undefined) return { jwtSecret, encryptionKey };
  const made = await developmentKeys(dataDir);
  log.warn(
    { dataDir },
    "JWT_SECRET or ENCRYPTION_KEY is not set: using keys made for this data folder",
  );
  return {
    jwtSecret: jwtSecret ?? made.jwtSecret,
    encryptionKey: encryptionKey ?? made.encryptionKey,
  };
}
