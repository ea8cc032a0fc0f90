import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AttackedServer } from "../attack/attacked-server.js";
import { freePorts } from "../livestream/free-ports.js";
import { pinToServerCore, putBehindServer, SERVER_CORE } from "../stand/child-process.js";
import { PostgresCluster } from "../stand/postgres-cluster.js";
import { childrenOf, isBackchannel } from "../stand/process-usage.js";
import { startVendors } from "../stand/stand.js";
import { startSeveralNginx } from "./several-nginx.js";

/** What is killed, and what has its calls afterwards. */
export interface KilledStand {
  readonly databaseUrl: string;
  readonly cluster: PostgresCluster;
  /** Whom callers ask. */
  readonly url: string;
  /** One that lives, after the kill too. */
  living(round: number): AttackedServer;
  kill(round: number): Promise<void>;
  /** Resolves when what was killed has its part of the calls again. */
  mend(round: number): Promise<void>;
  close(): Promise<void>;
}

const POLL_MS = 50;
const MENDED_MAX_MS = 20_000;
/** How long nginx leaves one alone that it could not reach, and a little. */
const NGINX_AGAIN_MS = 5_500;

/** Two servers, PostgreSQL, and nginx in front; they are killed in turns. */
export async function standOfServers(): Promise<KilledStand> {
  const { cluster, databaseUrl, dataDir, vendors } = await below();
  const ports = await freePorts(3);
  const url = `http://127.0.0.1:${ports[0]}`;
  const environment = {
    DATABASE_URL: databaseUrl,
    PUBLIC_BASE_URL: url,
    TRUSTED_PROXIES: "127.0.0.1",
  };
  const start = (name: string, port = 0) => {
    const own = { NODE_NAME: name, PORT: String(port) };
    return AttackedServer.start({
      urls: vendors.urls,
      dataDir,
      core: SERVER_CORE,
      environment: { ...environment, ...own },
    });
  };
  const servers = [await start("one", ports[1]), await start("two", ports[2])] as const;
  const own = (index: number) => `http://127.0.0.1:${ports[index]}`;
  const upstreams = [
    { name: "one", url: own(1) },
    { name: "two", url: own(2) },
  ];
  const stopNginx = await startSeveralNginx(ports[0] ?? 0, upstreams, pinToServerCore);
  const victim = (round: number) => servers[round % 2 === 0 ? 0 : 1];
  return {
    databaseUrl,
    cluster,
    url,
    living: (round) => victim(round + 1),
    kill: (round) => victim(round).kill(),
    async mend(round) {
      await victim(round).start();
      await sleep(NGINX_AGAIN_MS);
    },
    async close() {
      await stopNginx();
      for (const server of servers) await server.close();
      await vendors.process.stop();
      await cluster.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** One server with two processes that carry calls, on PostgreSQL; one of the two is killed. */
export async function standOfProcesses(): Promise<KilledStand> {
  const { cluster, databaseUrl, dataDir, vendors } = await below();
  const environment = { DATABASE_URL: databaseUrl, WORKERS: "2" };
  const server = await AttackedServer.start({
    urls: vendors.urls,
    dataDir,
    core: SERVER_CORE,
    environment,
  });
  return {
    databaseUrl,
    cluster,
    url: server.url,
    living: () => server,
    kill(round) {
      const children = childrenOf(server.process.pid);
      const victim = children[round % children.length];
      if (victim === undefined) throw new Error("the server has no processes of its own");
      process.kill(victim, "SIGKILL");
      return Promise.resolve();
    },
    async mend() {
      const deadlineMs = performance.now() + MENDED_MAX_MS;
      const port = Number(new URL(server.url).port);
      const taking = () =>
        childrenOf(server.process.pid).filter((pid) => isBackchannel(pid, port)).length;
      while (taking() < 2) {
        if (performance.now() > deadlineMs) throw new Error("no process came in its place");
        await sleep(POLL_MS);
      }
      await sleep(NGINX_AGAIN_MS);
    },
    async close() {
      await server.close();
      await vendors.process.stop();
      await cluster.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** What is killed and what it needs are on the server's core: what this process starts would be on the callers'. */
async function below() {
  const cluster = await PostgresCluster.start();
  putBehindServer(cluster.pid);
  const databaseUrl = await cluster.makeDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), "parley-bench-killed-"));
  return { cluster, databaseUrl, dataDir, vendors: await startVendors() };
}
