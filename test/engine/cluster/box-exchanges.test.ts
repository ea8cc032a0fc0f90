import assert from "node:assert/strict";
import { test } from "node:test";
import type { Handlers } from "../../../engine/cluster/ipc-link.js";
import type { PrimaryLink, WorkerRequests } from "../../../engine/cluster/ipc-messages.js";
import { WorkerBreakers, WorkerEventBus } from "../../../engine/cluster/worker-ports.js";
import type { BreakerEvent } from "../../../engine/vendors/chain/breakers.js";
import { newBox, settled } from "./box-in-one-process.js";

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

/** A session process's own link has to be there before what it is told can be taken. */
function lateLink() {
  const joined: { link?: PrimaryLink } = {};
  const link: PrimaryLink = {
    ask: (name, asks) => joined.link?.ask(name, asks) ?? Promise.reject(new Error("not joined")),
    tell: (name, asks) => joined.link?.tell(name, asks),
  };
  return { joined, link };
}

function joinWith<Exchange extends { readonly handlers: Partial<Handlers<WorkerRequests>> }>(
  { join }: ReturnType<typeof newBox>,
  name: number,
  newExchange: (owner: PrimaryLink) => Exchange,
): Exchange {
  const { joined, link } = lateLink();
  const exchange = newExchange(link);
  joined.link = join(name, exchange.handlers);
  return exchange;
}

test("what one process finds out of a credential the others know, also one that begins later", async () => {
  const box = newBox();
  const told: string[] = [];
  const breakersOf = (name: number) => {
    const breakers = joinWith(box, name, (owner) => new WorkerBreakers(owner));
    breakers.onEvent(({ id, phase }) => told.push(`${name}: ${id} ${phase}`));
    return breakers;
  };
  const one = breakersOf(1);
  breakersOf(2);
  await settled();
  one.tell(OPEN);
  await settled();
  breakersOf(3);
  await settled();
  assert.deepEqual(told, ["2: a open", "3: a open"]);
});

test("a process tells its calls' news while somebody at another wants them", async () => {
  const box = newBox();
  const told: string[] = [];
  const newsOf = (name: number) => joinWith(box, name, (owner) => new WorkerEventBus(owner));
  const [one, other] = [newsOf(1), newsOf(2)];
  one.onWanted((topic) => told.push(`wanted: ${topic}`));
  other.onEvent((topic, { callId }) => told.push(`${topic}: ${callId}`));
  assert.equal(one.isWanted("org"), false);
  other.want("org", true);
  await settled();
  assert.deepEqual([one.isWanted("org"), one.isWanted("org/a")], [true, false]);
  one.send("org", BEGAN);
  await settled();
  other.want("org", false);
  await settled();
  assert.equal(one.isWanted("org"), false);
  assert.deepEqual(told, ["wanted: org", "org: a"]);
});
