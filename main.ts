import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { FrontUnavailable } from "./api/http/open-front.js";
import { CannotListen } from "./api/http/server.js";
import { type HttpConfig, startServer } from "./api/http/start-server.js";
import { openVoiceDoors } from "./api/voice/voice-doors.js";
import { type Config, ConfigFault, DATABASE_FILE, readConfig } from "./config.js";
import { AgentChats } from "./engine/calls/agent-chats.js";
import { agentLlm } from "./engine/calls/agent-vendors.js";
import { CallCenter } from "./engine/calls/call-center.js";
import { CallReports } from "./engine/calls/call-reports.js";
import { OutboundCalls } from "./engine/calls/outbound-calls.js";
import { missingSettings, outboundTelephony } from "./engine/calls/outbound-telephony.js";
import { type Logger, newLogger } from "./engine/log.js";
import { removeSandboxNote, writeSandboxNote } from "./engine/sandbox/sandbox-note.js";
import { hasTwilioAccount, twilioInSandbox } from "./engine/sandbox/sandbox-telephony.js";
import { startSandboxThread } from "./engine/sandbox/start-sandbox-thread.js";
import { AccessTokens } from "./engine/security/access-token.js";
import { CredentialCipher } from "./engine/security/credential-cipher.js";
import { developmentKeys } from "./engine/security/development-keys.js";
import { OutboundTokens } from "./engine/security/outbound-token.js";
import { CallControl } from "./engine/telephony/call-control.js";
import { callControlApis } from "./engine/telephony/phone-vendors.js";
import { type Demo, ensureDemo } from "./engine/tenancy/demo-organization.js";
import { ProviderChecks } from "./engine/tenancy/provider-check.js";
import { seedPlatform } from "./engine/tenancy/seeding.js";
import { newTenancy } from "./engine/tenancy/tenancy.js";
import { VendorClients } from "./engine/tenancy/vendor-clients.js";
import { type Clock, SystemClock } from "./engine/time/clock.js";
import { within } from "./engine/time/deadline.js";
import { Connections } from "./engine/vendors/transport/connections.js";
import { type Database, openDatabase } from "./storage/database.js";
import { StorageUnavailable } from "./storage/storage-failure.js";

const MINUTE_MS = 60_000;
/** REST requests in flight when the server stops. */
const LAST_REQUESTS_MAX_MS = 5_000;

export interface Parley {
  readonly port: number;
  readonly usesSandbox: boolean;
  /** Of the sandbox's faults and journal. */
  readonly sandboxUrl: string | undefined;
  readonly demo: Demo | undefined;
  readonly database: Database;
  readonly calls: CallCenter;
  /** Drains, then takes the parts down in reverse; further calls wait for the first. */
  stop(drainTimeoutMs?: number): Promise<void>;
}

/** Builds every part in order and starts it. Rejects when one of them cannot start. */
export async function startParley(
  config: Config,
  log: Logger,
  clock: Clock = new SystemClock(),
): Promise<Parley> {
  const newId = randomUUID;
  const { dataDir } = config;
  await mkdir(dataDir, { recursive: true });
  const keys = await installationKeys(config, log);
  const sandbox = wantsSandbox(config) ? await startSandboxThread() : undefined;

  const filePath = join(dataDir, DATABASE_FILE);
  const database = await openDatabase({ filePath, onFailure: onStorageFailure, isServer: true });
  const cipher = new CredentialCipher(keys.encryptionKey, config.encryptionKeysOld);
  const { vendorKeys, jwtExpiresIn: expiresIn } = config;
  await seedPlatform({
    database,
    cipher,
    clock,
    newId,
    vendorKeys,
    sandbox: sandbox !== undefined,
  });

  const { jwtSecret: secret } = keys;
  const oldSecrets = config.jwtSecretsOld;
  const tokens = new AccessTokens({ secret, oldSecrets, expiresIn, clock });
  const tenancy = newTenancy({ database, cipher, tokens, clock, newId, log });
  const demo = config.isProduction
    ? undefined
    : await ensureDemo({ database, ...tenancy, dataDir });

  const allowPrivateAddresses = config.allowPrivateProviders;
  const connections = new Connections({ clock, allowPrivateAddresses });
  const context = { clock, connections };
  let port = 0;
  const telephony = sandbox === undefined ? config : twilioInSandbox(config, sandbox.urls);
  const isTwilioSimulated = sandbox !== undefined && !hasTwilioAccount(config);
  const localBaseUrl = isTwilioSimulated ? () => localUrl(config.host, port) : undefined;
  const settings = { ...telephony, ...keys, localBaseUrl };
  const platformUrls = { ...(sandbox?.urls ?? config.vendorUrls) };
  const clients = new VendorClients(cipher, platformUrls, context);
  const vendors = { clients, cipher, context };
  const { agents } = tenancy;
  const shared = { database, agents, vendors, clock, newId, log };
  const calls = new CallCenter({ ...settings, ...shared, runId: newId() });
  await calls.recover();
  const callControl = new CallControl(callControlApis(settings, context), log);
  const { opener, slots, liveCalls, journal } = calls;
  const outboundCalls = new OutboundCalls({
    telephony: outboundTelephony(settings, context),
    missing: missingSettings(settings),
    tokens: new OutboundTokens({ secret, clock }),
    phoneNumbers: sandbox === undefined ? tenancy.phoneNumbers : undefined,
    opener,
    slots,
    liveCalls,
    journal,
    clock,
    newId,
    log,
  });
  const stopPurging = tenancy.auditTrail.startPurging(log);

  let closeDoors = () => Promise.resolve();
  const http = await startServer({
    config: httpConfig(config),
    services: {
      ...tenancy,
      callReports: new CallReports({ database, clock }),
      recordings: calls.recordings,
      outboundCalls,
      agentChats: new AgentChats({
        agents,
        llmOf: (forCall) => agentLlm(forCall, clients),
        clock,
        log,
      }),
      providerChecks: new ProviderChecks({ ...tenancy, clients, clock }),
    },
    logger: log,
    clock,
    newId,
    isDraining: () => calls.isStopping,
    isReady: () => calls.isReady,
    metricsText: () => calls.metrics.text(),
    extend: async (server, edge) => {
      const parts = { tenancy, calls, callControl, outboundCalls, clock, log };
      closeDoors = await openVoiceDoors({ ...settings, server, edge, ...parts });
    },
  });
  port = http.port;
  if (sandbox !== undefined) {
    const { twilio: twilioUrl, desk: deskUrl } = sandbox.urls;
    const serverUrl = localUrl(config.host, port);
    await writeSandboxNote(dataDir, { serverUrl, twilioUrl, deskUrl });
  }

  let stopped: Promise<void> | undefined;
  function stop(drainTimeoutMs = config.drainTimeoutMs): Promise<void> {
    stopped ??= takeDown(drainTimeoutMs);
    return stopped;
  }

  async function takeDown(drainTimeoutMs: number): Promise<void> {
    await calls.drain(drainTimeoutMs);
    await closeDoors();
    await within(clock, LAST_REQUESTS_MAX_MS, http.server.drain());
    await calls.close();
    await within(clock, LAST_REQUESTS_MAX_MS, callControl.settled());
    await connections.close();
    stopPurging();
    http.server.close();
    await database.close();
    await sandbox?.close();
    if (sandbox !== undefined) await removeSandboxNote(dataDir);
    log.info({}, "stopped");
  }

  function onStorageFailure(error: Error): void {
    log.error({ error }, "storage failed; the server stops");
    process.exitCode = 1;
    void stop(0);
  }

  const sandboxUrl = sandbox?.urls.desk;
  return { port, usesSandbox: sandbox !== undefined, sandboxUrl, demo, database, calls, stop };
}

function wantsSandbox({ sandbox, vendorKeys, isProduction }: Config): boolean {
  if (isProduction || sandbox === "off") return false;
  return sandbox === "on" || Object.values(vendorKeys).every((key) => key === undefined);
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

/** This server for whoever is on the same machine. */
function localUrl(host: string, port: number): string {
  const every: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  const address = every[host] ?? host;
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

function httpConfig({
  authRequestsPerMinute,
  requestsPerMinute,
  vendorRequestsPerMinute,
  ...config
}: Config): HttpConfig {
  return {
    ...config,
    authLimit: { usesMax: authRequestsPerMinute, windowMs: MINUTE_MS },
    generalLimit: { usesMax: requestsPerMinute, windowMs: MINUTE_MS },
    vendorLimit: { usesMax: vendorRequestsPerMinute, windowMs: MINUTE_MS },
  };
}

function greet(
  { host, publicBaseUrl, dataDir }: Config,
  { port, demo, usesSandbox, sandboxUrl }: Parley,
): void {
  const base = publicBaseUrl ?? localUrl(host, port);
  const lines = [
    `Parley listens on ${base}`,
    `  vendors     ${usesSandbox ? "simulated, since no vendor key is set" : "real"}`,
    `  API         ${base}/api/docs`,
  ];
  if (sandboxUrl !== undefined) lines.push(`  sandbox     ${sandboxUrl}/faults`);
  if (demo !== undefined) {
    const own = port === 8080 ? "" : ` --url ${base}`;
    lines.push(`  first call  npm run call${own === "" ? "" : ` --${own}`}`);
    lines.push(`  telephone   npm run call -- --phone${own}`);
    lines.push(
      `  demo user   ${demo.email}, password and API key in ${join(dataDir, "demo.json")}`,
    );
  }
  process.stdout.write(`\n${lines.join("\n")}\n\n`);
}

async function main(): Promise<void> {
  const config = readConfig();
  const log = newLogger(config.logLevel);
  const parley = await startParley(config, log);
  if (!config.isProduction) greet(config, parley);
  let signalCount = 0;
  const onSignal = () => {
    signalCount += 1;
    // A second signal is an operator who does not want to wait for the calls.
    if (signalCount > 1) parley.calls.endAll();
    void parley.stop().then(() => process.exit());
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  process.on("unhandledRejection", (error) => {
    log.error({ error }, "a promise was rejected and nobody waited for it; calls go on");
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  main().catch((error: unknown) => {
    console.error(isOperatorsToMend(error) ? error.message : error);
    process.exit(1);
  });
}

/** The others are bugs, whose stack is worth having. */
function isOperatorsToMend(error: unknown): error is Error {
  return (
    error instanceof ConfigFault ||
    error instanceof CannotListen ||
    error instanceof FrontUnavailable ||
    error instanceof StorageUnavailable
  );
}
