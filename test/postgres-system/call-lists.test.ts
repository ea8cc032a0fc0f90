import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import type { Exchange } from "../../engine/sandbox/exchange.js";
import { TwilioSimulator } from "../../engine/sandbox/telephone/twilio-simulator.js";
import { eventually } from "../system/eventually.js";
import { SimulatedVendor } from "../system/public-entrance.js";
import { ACCOUNT_SID, AUTH_TOKEN } from "../system/twilio-stand.js";
import { NodeStand, type StandingNode } from "./node-stand.js";

const FROM = "+15550400001";
const PEOPLE = 200;
/** One person in five answers; the lines of the others are busy. */
const ANSWERING_EVERY = 5;
const CALLS_OF_PLAN = 6;
/** More than the plan has, so that admission sets the pace. */
const CALLS_OF_LIST = 10;
/** The server that asks for this call is killed before it hears what the vendor says. */
const KILLED_AT_ORDER = 80;
/** The other server waits for the end of the lease, and then for the calls of the killed one. */
const LIST_MAX_MS = 240_000;

const NUMBERS = Array.from({ length: PEOPLE }, (_, index) => {
  const isAnswering = index % ANSWERING_EVERY === 0;
  return `+49301${String(index).padStart(3, "0")}${isAnswering ? "3000" : "0001"}`;
});

/** The telephone company, with an address for each server, so that it is known which one has asked for a call. */
class CountingVendor {
  readonly simulator = new TwilioSimulator({
    talk: async (caller) => {
      // The stream of a call of the killed server breaks.
      await caller.until(({ type }) => type === "audio").catch(() => undefined);
      await caller.hangUp().catch(() => undefined);
    },
  });
  readonly orders: string[] = [];
  callsAtOnceMax = 0;
  onOrder: (server: string, count: number) => void = () => undefined;
  readonly #context: TestContext;

  constructor(context: TestContext) {
    this.#context = context;
    context.after(() => this.simulator.close());
  }

  async addressFor(server: string): Promise<string> {
    const api = await SimulatedVendor.start({
      handleRequest: (exchange) => this.#take(server, exchange),
    });
    this.#context.after(() => api.close());
    return api.url;
  }

  async #take(server: string, exchange: Exchange): Promise<void> {
    const isOrder = exchange.url.pathname.endsWith("/Calls.json");
    await this.simulator.handleRequest(exchange);
    if (!isOrder) return;
    this.orders.push(server);
    const live = this.simulator.calls.filter(({ isOver }) => !isOver).length;
    this.callsAtOnceMax = Math.max(this.callsAtOnceMax, live);
    this.onOrder(server, this.orders.length);
  }
}

test("two servers work through one list over a kill -9 of the one that calls, and nobody is called twice or forgotten", async (context) => {
  const cluster = await PostgresCluster.start();
  const vendor = new CountingVendor(context);
  const account = {
    TWILIO_ACCOUNT_SID: ACCOUNT_SID,
    TWILIO_AUTH_TOKEN: AUTH_TOKEN,
    VENDOR_REQUESTS_PER_MINUTE: "10000",
  };
  const stand = await NodeStand.start(context, cluster, account);
  const servers = new Map<string, StandingNode>();
  for (const name of ["one", "two"]) {
    const server = await stand.serve(name, { TWILIO_BASE_URL: await vendor.addressFor(name) });
    servers.set(name, server);
  }
  stand.front.leadTo(...[...servers.values()].map(({ url }) => url));
  const customer = await stand.customers.customer();
  const agent = await stand.customers.agent(customer, { persona: { greeting: "Hello there." } });
  const { callLists, organizations } = { ...stand.tenancy, callLists: stand.database.callLists };
  await organizations.setOwnPlanOf(customer.email, {
    limits: { maxConcurrentCalls: CALLS_OF_PLAN },
  });
  await stand.tenancy.phoneNumbers.allow(customer.email, FROM);
  await stand.tenancy.dialTargets.allow(customer.email, "+49301");
  const request = async (path: string, body?: object) => {
    const response = await fetch(`${stand.front.url}/api/dashboard/call-lists${path}`, {
      method: "POST",
      headers: { "x-api-key": customer.apiKey, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, text);
    return text;
  };
  let killed: string | undefined;
  vendor.onOrder = (name, count) => {
    if (count !== KILLED_AT_ORDER) return;
    killed = name;
    servers.get(name)?.server.signal("SIGKILL");
    servers.delete(name);
    stand.front.leadTo(...[...servers.values()].map(({ url }) => url));
  };
  await request("", {
    name: "Reminders",
    agentId: agent.id,
    from: FROM,
    callsMax: CALLS_OF_LIST,
    detectMachine: false,
    windows: [
      { days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], from: "00:00", to: "24:00" },
    ],
    csv: `to\n${NUMBERS.join("\n")}\n`,
  });
  const orgId = customer.tenant.organization.id;
  const [list] = await callLists.list(orgId);
  assert.ok(list !== undefined);
  await request(`/${list.id}/start`);
  await eventually(
    "the list to be completed",
    async () => {
      const found = await callLists.findUncounted(orgId, list.id);
      assert.notEqual(found?.state, "paused", found?.holdReason ?? "");
      return found?.state === "completed" ? true : undefined;
    },
    LIST_MAX_MS,
  );

  assert.ok(killed !== undefined, "a server was killed in the middle");
  const survivor = killed === "one" ? "two" : "one";
  assert.ok(vendor.orders.slice(KILLED_AT_ORDER).every((name) => name === survivor));
  const called = vendor.simulator.calls.map(({ to }) => to);
  assert.equal(new Set(called).size, called.length, "nobody is called twice");
  const rows = await callLists.rows(orgId, list.id, { after: 0, limit: PEOPLE });
  // The other server, or the job of the call, may be the first to find it.
  const isOfKill = (reason: string | null) =>
    /^the server (?:stopped|that had the call was lost)/.test(reason ?? "");
  const lost = rows.filter(({ reason }) => isOfKill(reason));
  assert.ok(lost.length <= CALLS_OF_PLAN, `${lost.length} calls rang at the killed server`);
  const others = rows.filter(({ reason }) => !isOfKill(reason));
  assert.deepEqual(
    others.filter(({ state, attempts, number }) => {
      const isAnswering = number.endsWith("3000");
      return state !== (isAnswering ? "completed" : "failed") || attempts !== 1;
    }),
    [],
  );
  const isCalled = new Set(called);
  assert.deepEqual(
    others.filter(({ number }) => !isCalled.has(number)),
    [],
    "nobody is forgotten",
  );
  assert.ok(
    vendor.callsAtOnceMax <= CALLS_OF_PLAN,
    `${vendor.callsAtOnceMax} calls at the same time in a plan of ${CALLS_OF_PLAN}`,
  );
});
