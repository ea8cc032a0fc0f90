import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyToPostgres } from "../../storage/postgres/copy-to-postgres.js";
import { median } from "../quantile.js";
import { BenchProcess, pinToServerCore, SERVER_CORE } from "../stand/child-process.js";
import { PostgresCluster } from "../stand/postgres-cluster.js";
import { cpuMs } from "../stand/process-usage.js";
import { SERVER_FLAGS, serverEnvironment } from "../stand/stand.js";
import { type AskingPlan, type AskingResult, askRepeatedly } from "./rest-client.js";
import { ENCRYPTION_KEY, JWT_SECRET, makeRestData, type RestData } from "./rest-data.js";

/** Many dashboards, each with one request under way. */
const PLAN: AskingPlan = { connections: 32, warmUpMs: 300, measureMs: 1_000 };
export const ROUNDS = 7;
/** Health is asked for many at a time: one request costs a client more than the server. */
const HEALTH_DEPTH = 16;
export const CALLS = 100_000;
export const FEW_CALLS = 1_000;
export const MANY_CALLS = 1_000_000;
const NO_LIMIT = "10000000";
const NOWHERE = "http://127.0.0.1:9";
const NO_VENDORS = {
  deepgram: NOWHERE.replace("http", "ws"),
  openai: NOWHERE,
  groq: NOWHERE,
  ollama: NOWHERE,
  elevenlabs: NOWHERE,
  edge: NOWHERE.replace("http", "ws"),
};

export interface RestRequest {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly depth?: number;
}

export interface RestMeasure extends AskingResult {
  /** CPU of the whole server, storage thread included, for each request. */
  readonly cpuMicrosPerRequest: number;
}

export interface RestComparison {
  readonly name: string;
  readonly server: RestMeasure;
  readonly reference: RestMeasure;
}

export function restRequests({ apiKey, token }: RestData): readonly RestRequest[] {
  const byToken = { authorization: `Bearer ${token}` };
  return [
    { name: "health, one at a time", path: "/api/health", headers: {} },
    { name: "health", path: "/api/health", headers: {}, depth: HEALTH_DEPTH },
    {
      name: "25 agents by API key",
      path: "/api/dashboard/agents",
      headers: { "x-api-key": apiKey },
    },
    { name: "20 calls by JWT", path: "/api/dashboard/calls?limit=20", headers: byToken },
  ];
}

/** What a customer's own program reads over and over: each within the CPU that one such request may cost. */
export function keyReads({ apiKey, agentId }: RestData): readonly RestRequest[] {
  const headers = { "x-api-key": apiKey };
  return [
    { name: "organization by API key", path: "/api/dashboard/organization", headers },
    { name: "agent by API key", path: `/api/dashboard/agents/${agentId}`, headers },
  ];
}

/** The server as it is shipped, on a database that is there already. */
export function startRestServer(
  dataDir: string,
  vendorUrls: typeof NO_VENDORS = NO_VENDORS,
  nodeFlags: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Promise<BenchProcess> {
  return BenchProcess.start({
    script: "../main.js",
    nodeFlags: [...nodeFlags, ...SERVER_FLAGS],
    env: {
      ...serverEnvironment(dataDir, vendorUrls),
      JWT_SECRET,
      ENCRYPTION_KEY,
      REQUESTS_PER_MINUTE: NO_LIMIT,
      ...more,
    },
    core: SERVER_CORE,
    readyPattern: /listens on (\S+)/,
  });
}

function startReference(dataDir: string): Promise<BenchProcess> {
  return BenchProcess.start({
    script: "rest/rest-fastify.js",
    args: [join(dataDir, "parley.db")],
    env: {},
    core: SERVER_CORE,
    readyPattern: /listens on (\S+)/,
  });
}

/** Both servers on one database at the same time; they are asked in turns, so that a slow moment of the machine meets both. */
export async function compareRest(
  rounds: number,
  names?: readonly string[],
): Promise<readonly RestComparison[]> {
  return withRestData(CALLS, async (dataDir, data) => {
    const server = await startRestServer(dataDir);
    const reference = await startReference(dataDir);
    try {
      const comparisons: RestComparison[] = [];
      const asked = [...restRequests(data), ...keyReads(data)];
      for (const request of asked.filter(({ name }) => names?.includes(name) ?? true)) {
        comparisons.push(await compare(request, server, reference, rounds));
      }
      return comparisons;
    } finally {
      await reference.stop();
      await server.stop();
    }
  });
}

async function compare(
  request: RestRequest,
  server: BenchProcess,
  reference: BenchProcess,
  rounds: number,
  referenceRequest: RestRequest = request,
): Promise<RestComparison> {
  const ours: RestMeasure[] = [];
  const theirs: RestMeasure[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await measure(request, server));
    theirs.push(await measure(referenceRequest, reference));
  }
  return { name: request.name, server: middle(ours), reference: middle(theirs) };
}

async function measure(request: RestRequest, server: BenchProcess): Promise<RestMeasure> {
  const cpuBeforeMs = cpuMs(server.pid);
  const startMs = performance.now();
  const plan = request.depth === undefined ? PLAN : { ...PLAN, depth: request.depth };
  const result = await askRepeatedly({ url: server.ready, ...request }, plan);
  const cpuShare = (cpuMs(server.pid) - cpuBeforeMs) / (performance.now() - startMs);
  return { ...result, cpuMicrosPerRequest: (cpuShare * 1e6) / result.perSecond };
}

function middle(measures: readonly RestMeasure[]): RestMeasure {
  const of = (pick: (one: RestMeasure) => number) => median(measures.map(pick));
  return {
    perSecond: of(({ perSecond }) => perSecond),
    p50Ms: of(({ p50Ms }) => p50Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    bodyBytes: of(({ bodyBytes }) => bodyBytes),
    cpuMicrosPerRequest: of(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest),
  };
}

/** The server on PostgreSQL and as the reference on SQLite, with the same rows. */
export function compareDatabases(rounds: number): Promise<readonly RestComparison[]> {
  return withRestData(CALLS, async (dataDir, data) => {
    const cluster = await PostgresCluster.start();
    pinToServerCore(cluster.pid);
    const url = await cluster.makeDatabase();
    await copyToPostgres(join(dataDir, "parley.db"), url);
    const reference = await startRestServer(dataDir);
    const server = await startRestServer(dataDir, NO_VENDORS, [], { DATABASE_URL: url });
    try {
      const comparisons: RestComparison[] = [];
      for (const request of [...restRequests(data), ...keyReads(data)]) {
        comparisons.push(await compare(request, server, reference, rounds));
      }
      return comparisons;
    } finally {
      await server.stop();
      await reference.stop();
      await cluster.stop();
    }
  });
}

/** A page of calls out of many, and as the reference out of few, on two servers that are asked in turns. */
export function comparePages(): Promise<RestComparison> {
  return onRestServer(FEW_CALLS, (few, data) =>
    onRestServer(MANY_CALLS, async (many, manyData) => {
      const [page, manyPage] = [restRequests(data).at(-1), restRequests(manyData).at(-1)];
      if (page === undefined || manyPage === undefined) throw new Error("there is no page");
      return compare(manyPage, many, few, ROUNDS, page);
    }),
  );
}

function onRestServer<Result>(
  callCount: number,
  use: (server: BenchProcess, data: RestData) => Promise<Result>,
): Promise<Result> {
  return withRestData(callCount, async (dataDir, data) => {
    const server = await startRestServer(dataDir);
    try {
      return await use(server, data);
    } finally {
      await server.stop();
    }
  });
}

/** A database of its own, which is gone afterwards. */
export async function withRestData<Result>(
  callCount: number,
  use: (dataDir: string, data: RestData) => Promise<Result>,
): Promise<Result> {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-bench-rest-"));
  try {
    return await use(dataDir, await makeRestData(dataDir, callCount));
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

export function describeRest(
  comparisons: readonly RestComparison[],
  referenceName = "Fastify",
): readonly string[] {
  return comparisons.map(({ name, server, reference }) => {
    const ratio = (server.perSecond / reference.perSecond).toFixed(2);
    return `${name}: ${told(server)} | ${referenceName} ${told(reference)} | ${ratio} times the throughput`;
  });
}

export function told({ perSecond, p50Ms, p99Ms, cpuMicrosPerRequest }: RestMeasure): string {
  return `${Math.round(perSecond)}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, ${Math.round(cpuMicrosPerRequest)} µs CPU`;
}
