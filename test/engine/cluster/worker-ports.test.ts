import assert from "node:assert/strict";
import { test } from "node:test";
import type { Handlers } from "../../../engine/cluster/ipc-link.js";
import type { PrimaryLink, WorkerRequests } from "../../../engine/cluster/ipc-messages.js";
import { WorkerBreakers, WorkerEventBus } from "../../../engine/cluster/worker-ports.js";
import type { BreakerEvent } from "../../../engine/vendors/chain/breakers.js";
import { newCluster, settled } from "./cluster-in-one-process.js";

const OPEN: BreakerEvent = {
  id: "a",
  version: 1,
  category: "llm",
  vendor: "openai",
  phase: "open",
  changeCount: 1,
  pauseMs: 5_000,
  leftMs: 5_000,
  lastFault: undefined,
};
const BEGAN = {
  type: "began",
  callId: "a",
  agentId: "agent",
  channel: "web",
  startedAtMs: 1,
} as const;

/** A worker's own link has to be there before what it is told can be taken. */
function lateLink() {
  const joined: { link?: PrimaryLink } = {};
  const link: PrimaryLink = {
    request: (name, asks) =>
      joined.link?.request(name, asks) ?? Promise.reject(new Error("not joined")),
    notify: (name, asks) => joined.link?.notify(name, asks),
  };
  return { joined, link };
}

function joinWith<Exchange extends { readonly handlers: Partial<Handlers<WorkerRequests>> }>(
  { join }: ReturnType<typeof newCluster>,
  name: number,
  newExchange: (primary: PrimaryLink) => Exchange,
): Exchange {
  const { joined, link } = lateLink();
  const exchange = newExchange(link);
  joined.link = join(name, exchange.handlers);
  return exchange;
}

test("what one process finds out of a credential the others know, also one that begins later", async () => {
  const cluster = newCluster();
  const told: string[] = [];
  const breakersOf = (name: number) => {
    const breakers = joinWith(cluster, name, (primary) => new WorkerBreakers(primary));
    breakers.onEvent(({ id, phase }) => told.push(`${name}: ${id} ${phase}`));
    return breakers;
  };
  const one = breakersOf(1);
  breakersOf(2);
  await settled();
  one.publish(OPEN);
  await settled();
  breakersOf(3);
  await settled();
  assert.deepEqual(told, ["2: a open", "3: a open"]);
});

test("a process publishes call events while another one has subscribers", async () => {
  const cluster = newCluster();
  const told: string[] = [];
  const newsOf = (name: number) =>
    joinWith(cluster, name, (primary) => new WorkerEventBus(primary));
  const [one, other] = [newsOf(1), newsOf(2)];
  one.onSubscribed((topic) => told.push(`wanted: ${topic}`));
  other.onEvent(({ topic, event }) => told.push(`${topic}: ${event.callId}`));
  assert.equal(one.hasSubscribers("org"), false);
  other.subscribe({ topic: "org", isWanted: true });
  await settled();
  assert.deepEqual([one.hasSubscribers("org"), one.hasSubscribers("org/a")], [true, false]);
  one.publish({ topic: "org", event: BEGAN });
  await settled();
  other.subscribe({ topic: "org", isWanted: false });
  await settled();
  assert.equal(one.hasSubscribers("org"), false);
  assert.deepEqual(told, ["wanted: org", "org: a"]);
});
