import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as v from "valibot";
import { SeededRandom } from "../../test/simulation/seeded-random.js";
import { AttackedServer } from "../attack/attacked-server.js";
import { freePorts } from "../livestream/free-ports.js";
import { PostgresCluster } from "../stand/postgres-cluster.js";
import { startVendors } from "../stand/stand.js";
import {
  KilledVendor,
  OWN_NUMBER,
  TARGETS,
  TWILIO_ACCOUNT,
  WebhookCalls,
} from "./webhook-calls.js";
import { CONDUCTS, type Conduct, WebhookReceivers } from "./webhook-receivers.js";
import { webhookFaults } from "./webhook-verdict.js";

const POLL_MS = 100;
const EVENT_TYPES = ["call.ringing", "call.started", "call.ended", "call.failed"];
/**
 * A receiver that hangs takes 15 s a time, a lease 30 s, a vendor whose report is lost 5 minutes, and so does a second failed
 * try. What 10,000 calls leave behind takes a busy machine longer still.
 */
const REST_MAX_MS = 30 * 60 * 1_000;
/** Where fewer of the calls came to anything, nothing was shown. */
const KNOWN_SHARE_MIN = 0.5;
const PAGE = 100;
const ADMIN = fileURLToPath(new URL("../../api/commands/admin.js", import.meta.url));

const Page = v.object({
  total: v.number(),
  items: v.array(v.object({ _id: v.string(), status: v.string() })),
});
const Jobs = v.array(v.object({ id: v.string() }));

export interface WebhookKillOptions {
  /** One server on SQLite that is started again, or two servers of one PostgreSQL database that are killed in turns. */
  readonly database: "sqlite" | "postgresql";
  readonly calls: number;
  /** Callers at the same time. */
  readonly callers: number;
  readonly kills: number;
  readonly seed: number;
  readonly conducts?: readonly Conduct[];
}

export interface WebhookKillResult {
  readonly faults: readonly string[];
  readonly records: number;
  readonly refused: number;
  /** Calls whose server was killed before it had answered. */
  readonly unanswered: number;
  /** Telephone callers who were told to call again later, and those of them whose refusals have an event. */
  readonly toldBusy: number;
  readonly toldBusyWithEvent: number;
  readonly events: number;
  readonly requests: ReadonlyMap<Conduct, number>;
  readonly calledForMs: number;
  readonly restAfterMs: number;
}

/** The public address of the servers: leads to one that lives. */
class Front {
  #ports: readonly number[] = [];
  #turn = 0;
  readonly #dead = new Set<number>();
  readonly #server: Server = createServer((near) => this.#lead(near));

  static async open(): Promise<Front> {
    const front = new Front();
    await new Promise<void>((resolve) => {
      front.#server.listen(0, "127.0.0.1", resolve);
    });
    return front;
  }

  get url(): string {
    const address = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${address.port}`;
  }

  leadTo(ports: readonly number[]): void {
    this.#ports = ports;
  }

  /** Whether calls are led to the server at that place. */
  set(place: number, isThere: boolean): void {
    if (isThere) this.#dead.delete(place);
    else this.#dead.add(place);
  }

  /** Resolves when a server is there. */
  async isOpen(): Promise<void> {
    while (this.#dead.size === this.#ports.length) await sleep(POLL_MS / 10);
  }

  close(): void {
    this.#server.close();
  }

  #lead(near: Socket): void {
    const living = this.#ports.filter((_port, place) => !this.#dead.has(place));
    this.#turn += 1;
    const port = living[this.#turn % living.length];
    near.on("error", () => near.destroy());
    if (port === undefined) return void near.destroy();
    const far = connect(port, "127.0.0.1");
    far.on("error", () => near.destroy());
    far.on("close", () => near.destroy());
    near.on("close", () => far.destroy());
    near.pipe(far).pipe(near);
  }
}

/**
 * Calls that come and end in every way while servers are killed, and what endpoints of every conduct get of them. What was promised
 * and is not so is in `faults`.
 */
export async function runWebhookKills(options: WebhookKillOptions): Promise<WebhookKillResult> {
  const { calls: count, callers, kills, seed, conducts = CONDUCTS } = options;
  const random = new SeededRandom(seed);
  const receivers = await WebhookReceivers.open(random);
  const vendor = await KilledVendor.open();
  const front = await Front.open();
  const stand = await startStand(options.database, front, vendor);
  try {
    const [first] = stand.servers;
    for (const conduct of conducts) {
      const body = { name: conduct, url: receivers.urlOf(conduct), eventTypes: EVENT_TYPES };
      const { status, text } = await first.ask("POST", "/api/dashboard/webhooks", { body });
      if (status !== 201) throw new Error(`the endpoint was refused: ${text}`);
    }
    const { apiKey, demo } = first;
    const calls = new WebhookCalls({ url: front.url, apiKey, agentId: demo.agentId ?? "" });
    const startedMs = performance.now();
    const killing = killAtRandom(stand, calls, { count, kills, random });
    const calling = Array.from({ length: callers }, async () => {
      while (calls.begun < count) {
        await front.isOpen();
        await calls.make();
      }
    });
    await Promise.all([killing, ...calling]);
    const calledForMs = performance.now() - startedMs;
    await atRest(first);
    const restAfterMs = performance.now() - startedMs - calledForMs;
    const records = await allRecords(first);
    const failed = await first.read(Jobs, "GET", "/api/dashboard/jobs?state=failed&limit=100");
    const { acknowledged, changed, requests } = receivers;
    const { placed, refusedAgents, refusedNumbers } = calls;
    const known = records.length + refusedAgents.size + refusedNumbers.size;
    const tooFew = known < count * KNOWN_SHARE_MIN ? [`only ${known} calls were made`] : [];
    const faults = [
      ...tooFew,
      ...webhookFaults({ records, placed, refusedAgents, refusedNumbers }, acknowledged, conducts),
      ...changed.map((key) => `${key} came with two bodies`),
      ...failed.map(({ id }) => `the job ${id} was given up`),
      ...stand.servers.flatMap(({ complaints }) => complaints),
    ];
    const refused = refusedAgents.size + refusedNumbers.size;
    const { unanswered, busyNumbers } = calls;
    const froms = new Set(acknowledged.filter((each) => each.isRefused).map(({ from }) => from));
    const toldBusyWithEvent = [...busyNumbers].filter((from) => froms.has(from)).length;
    const events = acknowledged.length;
    return {
      faults,
      records: records.length,
      refused,
      unanswered,
      toldBusy: busyNumbers.size,
      toldBusyWithEvent,
      events,
      requests,
      calledForMs,
      restAfterMs,
    };
  } finally {
    await stand.close();
    front.close();
    vendor.close();
    receivers.close();
  }
}

interface Stand {
  readonly servers: readonly [AttackedServer, ...AttackedServer[]];
  readonly front: Front;
  close(): Promise<void>;
}

async function startStand(
  database: WebhookKillOptions["database"],
  front: Front,
  vendor: KilledVendor,
): Promise<Stand> {
  const vendors = await startVendors();
  const cluster = database === "postgresql" ? await PostgresCluster.start() : undefined;
  const databaseUrl = await cluster?.makeDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), "parley-webhook-kills-"));
  const environment = {
    PUBLIC_BASE_URL: front.url,
    TRUSTED_PROXIES: "127.0.0.1",
    TWILIO_ACCOUNT_SID: TWILIO_ACCOUNT.accountSid,
    TWILIO_AUTH_TOKEN: TWILIO_ACCOUNT.authToken,
    TWILIO_BASE_URL: vendor.url,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
  const ports = await freePorts(cluster === undefined ? 1 : 2);
  front.leadTo(ports);
  const start = (place: number) => {
    const named = cluster === undefined ? {} : { NODE_NAME: `server-${place}` };
    const own = { ...environment, ...named, PORT: String(ports[place]) };
    return AttackedServer.start({ urls: vendors.urls, dataDir, environment: own });
  };
  const first = await start(0);
  const second = cluster === undefined ? [] : [await start(1)];
  const servers = [first, ...second] as const;
  const admin = (...words: readonly string[]) =>
    promisify(execFile)(process.execPath, [ADMIN, "number", ...words], {
      env: {
        PATH: process.env["PATH"],
        NODE_ENV: "development",
        DATA_DIR: dataDir,
        ...environment,
      },
    });
  await admin("allow", first.demo.email, OWN_NUMBER);
  await admin("reach", first.demo.email, TARGETS);
  return {
    servers,
    front,
    async close() {
      for (const server of servers) await server.close();
      await vendors.process.stop();
      await cluster?.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Kills a server after random numbers of started calls, between the first call and the last. */
async function killAtRandom(
  { servers, front }: Stand,
  calls: WebhookCalls,
  { count, kills, random }: { count: number; kills: number; random: SeededRandom },
): Promise<void> {
  const moments = Array.from({ length: kills }, () => random.whole(1, count - 1));
  for (const [index, moment] of moments.toSorted((one, other) => one - other).entries()) {
    while (calls.begun < moment) await sleep(POLL_MS / 10);
    const place = index % servers.length;
    const victim = servers[place] ?? servers[0];
    front.set(place, false);
    await victim.kill();
    await victim.start();
    front.set(place, true);
  }
}

async function atRest(server: AttackedServer): Promise<void> {
  const deadlineMs = performance.now() + REST_MAX_MS;
  const isAtRest = async () => {
    if ((await server.activeCount()) > 0) return false;
    for (const state of ["queued", "running"]) {
      const jobs = await server.read(Jobs, "GET", `/api/dashboard/jobs?state=${state}&limit=1`);
      if (jobs.length > 0) return false;
    }
    return true;
  };
  while (!(await isAtRest())) {
    if (performance.now() > deadlineMs) return;
    await sleep(POLL_MS);
  }
}

async function allRecords(server: AttackedServer) {
  const records: { readonly id: string; readonly status: string }[] = [];
  for (;;) {
    const path = `/api/dashboard/calls?limit=${PAGE}&skip=${records.length}`;
    const { items } = await server.read(Page, "GET", path);
    records.push(...items.map(({ _id: id, status }) => ({ id, status })));
    if (items.length < PAGE) return records;
  }
}
