import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { DATABASE_FILE } from "../config.js";
import { Caller } from "../engine/sandbox/caller.js";
import { openDatabase } from "../storage/database.js";
import { callEventId, newEvent } from "../storage/webhooks/event-record.js";
import { alternate } from "./alternation.js";
import { AttackedServer } from "./attack/attacked-server.js";
import { freePorts } from "./livestream/free-ports.js";
import { thisMachine } from "./machine.js";
import { quantile } from "./quantile.js";
import { SERVER_CORE } from "./stand/child-process.js";
import { PostgresCluster } from "./stand/postgres-cluster.js";
import { startVendors } from "./stand/stand.js";
import { makeEndpoint } from "./webhooks/endpoint.js";

/**
 * `node dist/bench/webhook-backlog.js [--rows 1000000] [--database sqlite|postgresql] [--starts 200] [--rounds 4]`: how long a web call
 * takes to be connected at a server whose endpoint is down and has so many deliveries waiting, compared with one without, in both
 * orders. Fails where the median grows by 10 % and by more than a millisecond.
 */
const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    database: { type: "string", default: "sqlite" },
    starts: { type: "string", default: "200" },
    rounds: { type: "string", default: "4" },
  },
});
const GROWTH_MAX = 0.1;
const GROWTH_MAX_MS = 1;
/** Stored at the same time. */
const EVENTS_AT_ONCE = 500;
/** Copied in one statement. */
const COPIES_AT_ONCE = 50_000;
const { database } = values;
const [rows = 0, starts = 0, rounds = 0] = [values.rows, values.starts, values.rounds].map(Number);
if (
  ![rows, starts, rounds].every((value) => Number.isSafeInteger(value) && value > 0) ||
  !["sqlite", "postgresql"].includes(database)
) {
  console.error("expected --database sqlite or postgresql, and whole numbers from 1");
  process.exit(1);
}

const vendors = await startVendors();
const cluster = database === "postgresql" ? await PostgresCluster.start() : undefined;
const [deadPort] = await freePorts(1);
const folders: string[] = [];

/** A server with the given number of deliveries waiting for an endpoint that is down. */
async function serverWith(backlog: number): Promise<AttackedServer> {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-webhook-backlog-"));
  folders.push(dataDir);
  const url = await cluster?.makeDatabase();
  const environment = url === undefined ? {} : { DATABASE_URL: url };
  const server = await AttackedServer.start({
    urls: vendors.urls,
    dataDir,
    environment,
    core: SERVER_CORE,
  });
  await makeEndpoint(server, `http://127.0.0.1:${deadPort}/`);
  if (backlog > 0) {
    await server.process.stop();
    await fill(join(dataDir, DATABASE_FILE), url, backlog);
    await server.start();
  }
  return server;
}

async function fill(filePath: string, url: string | undefined, backlog: number): Promise<void> {
  const store = await openDatabase({ filePath, ...(url !== undefined && { url }) });
  try {
    const [organization] = await store.organizations.list();
    const orgId = organization?.organization.id ?? "";
    const atMs = Date.now();
    const add = async (callId: string) => {
      const data = { to: "+15550101000", mode: "blind" } as const;
      const id = callEventId(callId, "transfer");
      const event = newEvent({ id, orgId, type: "call.transferred", callId, atMs, data });
      await store.webhooks.addEvent(event);
    };
    if (url !== undefined) return await copyInPostgres(url, add, backlog);
    for (let stored = 0; stored < backlog; stored += EVENTS_AT_ONCE) {
      const length = Math.min(EVENTS_AT_ONCE, backlog - stored);
      await Promise.all(Array.from({ length }, () => add(randomUUID())));
    }
  } finally {
    await store.close();
  }
}

/**
 * PostgreSQL commits each request by itself, so only the first event is stored as a server does; the others are its copies, of calls
 * of their own.
 */
async function copyInPostgres(
  url: string,
  add: (callId: string) => Promise<void>,
  backlog: number,
): Promise<void> {
  const first = randomUUID();
  await add(first);
  for (let stored = 1; stored < backlog; stored += COPIES_AT_ONCE) {
    const count = Math.min(COPIES_AT_ONCE, backlog - stored);
    const copied = (column: string) => `replace(${column}, '${first}', calls.id)`;
    await cluster?.query(
      `with calls as materialized (select gen_random_uuid()::text as id from generate_series(1, ${count})),
      events as (
        insert into "webhookEvents" ("id", "orgId", "type", "callId", "callSequence", "atMs", "data")
        select ${copied("first.id")}, "orgId", "type", calls.id, "callSequence", "atMs", "data"
        from "webhookEvents" first, calls where "callId" = '${first}')
      insert into jobs ("id", "orgId", "kind", "queue", "lane", "payload", "state", "runAfterMs", "attempts", "fence", "createdAtMs")
      select ${copied("first.id")}, "orgId", "kind", "queue", ${copied("lane")}, ${copied("payload")}, "state", "runAfterMs",
        "attempts", "fence", "createdAtMs"
      from jobs first, calls where lane like '%${first}'`,
      url,
    );
  }
  // A backlog that has grown for hours has statistics; that of a minute has none yet.
  await cluster?.query(`analyze "webhookEvents", jobs`, url);
}

/** From the first byte to `connected`, of calls one after the other. */
async function connectMs({ url, apiKey }: AttackedServer): Promise<readonly number[]> {
  const durationsMs: number[] = [];
  for (let start = 0; start < starts; start += 1) {
    const beganMs = performance.now();
    const caller = await Caller.connect({ url, apiKey, keepsAudio: false });
    durationsMs.push(performance.now() - beganMs);
    await caller.hangUp();
  }
  return durationsMs;
}

const servers: AttackedServer[] = [];
try {
  const without = await serverWith(0);
  servers.push(without);
  const beganMs = performance.now();
  const behind = await serverWith(rows);
  servers.push(behind);
  console.log(
    `${rows} deliveries were stored in ${((performance.now() - beganMs) / 1_000).toFixed(0)} s`,
  );
  // The first calls compile code and open connections, so they are not measured.
  for (const server of servers) await connectMs(server);
  const [plain = [], loaded = []] = await alternate(rounds, [
    () => connectMs(without),
    () => connectMs(behind),
  ]);
  const machine = thisMachine();
  console.log(`${machine.cpu}, Node ${machine.node}, ${database}, ${new Date().toISOString()}`);
  const medians = [plain.flat(), loaded.flat()].map((durationsMs, index) => {
    const [p50Ms, p99Ms] = [quantile(durationsMs, 0.5), quantile(durationsMs, 0.99)];
    const title = index === 0 ? "no delivery waits" : `${rows} deliveries wait`;
    console.log(
      `${title}: ${durationsMs.length} calls connected, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`,
    );
    return p50Ms;
  });
  const [plainMs = 0, loadedMs = 0] = medians;
  const isSlower = loadedMs - plainMs > GROWTH_MAX_MS && loadedMs / plainMs - 1 > GROWTH_MAX;
  process.exitCode = isSlower ? 1 : 0;
} finally {
  for (const server of servers) await server.close();
  await vendors.process.stop();
  await cluster?.stop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
}
