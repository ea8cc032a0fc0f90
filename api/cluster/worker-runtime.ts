import { randomUUID } from "node:crypto";
import { url as debuggerUrl } from "node:inspector";
import type { IpcMessage } from "../../engine/cluster/ipc-link.js";
import { newLogger } from "../../engine/log.js";
import { AccessTokens } from "../../engine/security/access-token.js";
import { CredentialCipher } from "../../engine/security/credential-cipher.js";
import { newTenancy } from "../../engine/tenancy/tenancy.js";
import { SystemClock } from "../../engine/time/clock.js";
import { joinDatabase } from "../../storage/database.js";
import { ClusterWorker } from "./worker-client.js";
import type { FromPrimary, WorkerRequests } from "./worker-requests.js";
import { startWorkerServer, type WorkerServer } from "./worker-server.js";

/** The work of a worker; `worker-process.ts` loads it. */

async function startWork(orders: WorkerRequests): Promise<void> {
  const { name, settings, keys, runId, isFirst, isKeeper } = orders;
  const { jwtSecret } = settings;
  const clock = new SystemClock();
  const newId = randomUUID;
  const log = newLogger(orders.logLevel, { process: name });
  let server: WorkerServer | undefined;
  const worker = new ClusterWorker({
    name,
    sharesPort: true,
    post,
    jwtSecret,
    clock,
    log,
    onRecordsChanged: () => database.recordChanges.invalidate(),
    stop: async (drainTimeoutMs) => {
      await server?.stop(drainTimeoutMs);
      worker.close();
      process.disconnect();
    },
    endAll: () => server?.calls.endAll(),
  });
  process.on("message", (message: FromPrimary) => {
    if (message.kind === "message") worker.primary.receive(message.message);
  });
  worker.sendHeartbeats(() => debuggerUrl() !== undefined);
  const database = joinDatabase(orders.writers, {
    run: (request) => worker.primary.request("store", request),
    checkHealth: () => worker.primary.request("checkStore", undefined),
  });
  database.recordChanges.onChanged(() => worker.recordsChanged());
  database.jobs.added.onAdded(() => worker.primary.notify("jobsAdded", undefined));
  const cipher = new CredentialCipher(keys.encryptionKey, keys.encryptionKeysOld);
  const { jwtSecretsOld: oldSecrets, jwtExpiresIn: expiresIn } = keys;
  const tokens = new AccessTokens({ secret: jwtSecret, oldSecrets, expiresIn, clock });
  const { allowPrivateProviders: allowPrivateAddresses } = settings;
  const parts = { database, cipher, clock, newId, log };
  const tenancy = newTenancy({ ...parts, tokens, allowPrivateAddresses });
  const leavesAudioSocket = !isKeeper;
  const role = { cluster: worker, runId, isFirst, leavesAudioSocket };
  server = await startWorkerServer({ ...parts, ...role, settings, tenancy });
  if (isKeeper && !isFirst) server.calls.recordings.startUpkeep();
  worker.began(server);
  process.on("unhandledRejection", (error) => {
    log.error({ error }, "unhandled promise rejection");
  });
}

function post(message: IpcMessage): void {
  if (process.connected) process.send?.(message);
}

process.once("message", (message: FromPrimary) => {
  if (message.kind !== "begin") return;
  startWork(message.orders).catch((error: unknown) => {
    newLogger("error").error({ error }, "failed to start a worker");
    process.exit(1);
  });
});
