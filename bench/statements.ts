import * as v from "valibot";
import { PhoneCaller } from "../engine/sandbox/telephone/phone-caller.js";
import { createAgent } from "./phone/phone-stand.js";
import { PostgresCluster } from "./stand/postgres-cluster.js";
import { type ServerStand, startServerStand, startVendors } from "./stand/stand.js";

/**
 * What one server and one call ask of PostgreSQL, counted by PostgreSQL itself: `node dist/bench/statements.js`. Counts do not
 * depend on how fast the machine is. What is measured is told, and multiplied for 100 servers with 1,000 calls each.
 */
const CALLS = 10;
const TURNS_FEW = 2;
const TURNS_MANY = 8;
const IDLE_MS = 30_000;
const WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
const CALL_SEC = 180;
const TURN_SEC = 9;
const SERVERS = 100;
const CALLS_PER_SERVER = 1_000;
/** Marks what this program asks itself. */
const OWN = "/* bench */";

const Counts = v.array(
  v.object({ query: v.string(), calls: v.pipe(v.string(), v.transform(Number)) }),
);
type Counted = ReadonlyMap<string, number>;

const cluster = await PostgresCluster.start();
const databaseUrl = await cluster.makeDatabase();
await cluster.query("create extension pg_stat_statements", databaseUrl);

/** By statement, how often it was asked since the last reset. */
async function counted(): Promise<Counted> {
  const { rows } = await cluster.query(
    `select query, sum(calls)::text as calls from pg_stat_statements ${OWN}
     where query not like '%bench%' and query not like '%pg_stat%' group by query`,
    databaseUrl,
  );
  return new Map(v.parse(Counts, rows).map(({ query, calls }) => [query, calls]));
}

function reset(): Promise<unknown> {
  return cluster.query(`select pg_stat_statements_reset() ${OWN}`, databaseUrl);
}

function sum(counts: Counted): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

function notifications(counts: Counted): number {
  return sum(new Map([...counts].filter(([query]) => query.includes("pg_notify"))));
}

async function pause(durationMs: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, durationMs);
  });
}

async function talk(webhookUrl: string, turns: number): Promise<void> {
  const caller = await PhoneCaller.call({ webhookUrl });
  for (const word of WORDS.slice(0, turns)) {
    await caller.say(`say ${word}`);
    while (!caller.playedText().includes(word)) {
      await caller.until(({ type }) => type === "markEchoed");
    }
  }
  await caller.hangUp();
}

async function activeCalls(): Promise<number> {
  const { rowCount } = await cluster.query(
    `select id from calls ${OWN} where status = 'active'`,
    databaseUrl,
  );
  return rowCount ?? 0;
}

/** All statements of so many calls, without what the server asks in the same time anyway. */
async function callsOf(server: ServerStand, turns: number, idlePerSec: Counted) {
  const agentId = await createAgent(server, "elevenlabs");
  const query = new URLSearchParams({ api_key: server.apiKey, agent_id: agentId });
  const webhookUrl = `${server.url}/api/telephony/voice?${query.toString()}`;
  await reset();
  const beganMs = performance.now();
  await Promise.all(Array.from({ length: CALLS }, () => talk(webhookUrl, turns)));
  while ((await activeCalls()) > 0) await pause(200);
  // The slot is given back, and the summary written, behind the call's end.
  await pause(3_000);
  const tookSec = (performance.now() - beganMs) / 1_000;
  const counts = await counted();
  const own = new Map(
    [...counts].map(([query, count]) => [
      query,
      Math.max(0, count - (idlePerSec.get(query) ?? 0) * tookSec) / CALLS,
    ]),
  );
  return own;
}

const vendors = await startVendors();
const environment = { DATABASE_URL: databaseUrl, NODE_NAME: "one" };
const server = await startServerStand(vendors, [], environment);
const listening = await cluster.query(
  `select pid from pg_stat_activity ${OWN} where datname is not null and pid <> pg_backend_pid()`,
);
await pause(5_000);
await reset();
await pause(IDLE_MS);
const idle = await counted();
const idlePerSec = new Map([...idle].map(([query, count]) => [query, count / (IDLE_MS / 1_000)]));
const few = await callsOf(server, TURNS_FEW, idlePerSec);
const many = await callsOf(server, TURNS_MANY, idlePerSec);
await server.close();
await vendors.process.stop();
await cluster.stop();

const perTurn = (sum(many) - sum(few)) / (TURNS_MANY - TURNS_FEW);
const perCall = sum(few) - perTurn * TURNS_FEW;
const nodePerSec = sum(idlePerSec);
const lines = [
  `a server with no calls: ${nodePerSec.toFixed(2)} statements a second, ${listening.rowCount} connections`,
  `a telephone call, without its turns: ${perCall.toFixed(1)} statements, ${notifications(few).toFixed(2)} notifications`,
  `a turn: ${perTurn.toFixed(1)} statements`,
];
const callsPerSec = (SERVERS * CALLS_PER_SERVER) / CALL_SEC;
const turnsPerSec = (SERVERS * CALLS_PER_SERVER) / TURN_SEC;
lines.push(
  `${SERVERS} servers with ${CALLS_PER_SERVER} calls of ${CALL_SEC} s, a turn every ${TURN_SEC} s:`,
  `  servers ${Math.round(nodePerSec * SERVERS)}, calls ${Math.round(perCall * callsPerSec)}, turns ${Math.round(perTurn * turnsPerSec)} statements a second`,
);
const rows = (counts: Counted) =>
  [...counts]
    .filter(([, count]) => count >= 0.05)
    .toSorted(([, one], [, other]) => other - one)
    .map(([query, count]) => `  ${count.toFixed(2)} ${query.replace(/\s+/g, " ").slice(0, 110)}`);
console.log([...lines, "idle, a second:", ...rows(idlePerSec)].join("\n"));
console.log([`a call of ${TURNS_MANY} turns:`, ...rows(many)].join("\n"));
