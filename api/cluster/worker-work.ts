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
import type { FromOwner, SessionOrders } from "./worker-orders.js";
import { type SessionServer, startSessionServer } from "./worker-server.js";

/** What a session process does; `worker-process.ts` loads it. */

async function begin(orders: SessionOrders): Promise<void> {
  const { name, settings, keys, runId, isFirst, isKeeper } = orders;
  const { jwtSecret } = settings;
  const clock = new SystemClock();
  const newId = randomUUID;
  const log = newLogger(orders.logLevel, { process: name });
  let server: SessionServer | undefined;
  const member = new ClusterWorker({
    name,
    sharesPort: true,
    post,
    jwtSecret,
    clock,
    log,
    onRecordsChanged: () => database.recordChanges.heard(),
    stop: async (drainTimeoutMs) => {
      await server?.stop(drainTimeoutMs);
      member.close();
      process.disconnect();
    },
    endAll: () => server?.calls.endAll(),
  });
  process.on("message", (message: FromOwner) => {
    if (message.kind === "message") member.owner.receive(message.message);
  });
  member.sendHeartbeats(() => debuggerUrl() !== undefined);
  const database = joinDatabase(orders.writers, {
    run: (request) => member.owner.ask("store", request),
    look: () => member.owner.ask("lookAtStore", undefined),
  });
  database.recordChanges.tellOthersBy(() => member.recordsChanged());
  const cipher = new CredentialCipher(keys.encryptionKey, keys.encryptionKeysOld);
  const { jwtSecretsOld: oldSecrets, jwtExpiresIn: expiresIn } = keys;
  const tokens = new AccessTokens({ secret: jwtSecret, oldSecrets, expiresIn, clock });
  const { allowPrivateProviders: allowPrivateAddresses } = settings;
  const parts = { database, cipher, clock, newId, log };
  const tenancy = newTenancy({ ...parts, tokens, allowPrivateAddresses });
  const leavesAudioSocket = !isKeeper;
  const role = { box: member, runId, isFirst, leavesAudioSocket };
  server = await startSessionServer({ ...parts, ...role, settings, tenancy });
  if (isKeeper && !isFirst) server.calls.recordings.startUpkeep();
  member.began(server);
  process.on("unhandledRejection", (error) => {
    log.error({ error }, "unhandled promise rejection");
  });
}

function post(message: IpcMessage): void {
  if (process.connected) process.send?.(message);
}

process.once("message", (message: FromOwner) => {
  if (message.kind !== "begin") return;
  begin(message.orders).catch((error: unknown) => {
    newLogger("error").error({ error }, "a session process cannot start");
    process.exit(1);
  });
});
