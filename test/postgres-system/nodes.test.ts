import assert from "node:assert/strict";
import { test } from "node:test";
import { Caller } from "../../engine/sandbox/caller.js";
import { PhoneCaller } from "../../engine/sandbox/phone-caller.js";
import { eventually } from "../system/eventually.js";
import { heard } from "../system/telephone-stand.js";
import { Cluster } from "./cluster.js";
import { NodeStand } from "./node-stand.js";

const GREETING = "Hello there.";
const ATTEMPTS = 500;
const LIMIT = 10;
const cluster = await Cluster.start();

async function isTaken(caller: Caller): Promise<boolean> {
  const isTold = ({ type }: { readonly type: string }) => type === "connected" || type === "closed";
  const event = caller.events.find(isTold) ?? (await caller.until(isTold));
  return event.type === "connected";
}

test("a plan's calls are taken to the last one and no further, whichever server is asked", async (context) => {
  const stand = await NodeStand.start(context, cluster);
  const servers = [await stand.serve("one"), await stand.serve("other")];
  const customer = await stand.customerWithAgent(GREETING, "starter");
  const dial = (index: number) =>
    Caller.dial({ url: servers[index % 2]?.url ?? "", apiKey: customer.apiKey });
  const callers = Array.from({ length: ATTEMPTS }, (_, index) => dial(index));
  const taken = await Promise.all(callers.map(isTaken));
  assert.equal(taken.filter(Boolean).length, LIMIT);
  await callers.find((_, index) => taken[index])?.hangUp();
  const next = await eventually("the free slot", async () => {
    const caller = dial(1);
    return (await isTaken(caller)) ? caller : undefined;
  });
  await Promise.all([...callers, next].map((caller) => caller.hangUp()));
  assert.equal((await stand.atRest(customer)).length, LIMIT + 1);
});

test("a server that is killed loses its calls to another, which closes their records once", async (context) => {
  const stand = await NodeStand.start(context, cluster);
  const [one, other] = [await stand.serve("one"), await stand.serve("other")];
  const customer = await stand.customerWithAgent(GREETING, "starter");
  stand.front.leadTo(one.url);
  const caller = await PhoneCaller.call({ webhookUrl: stand.webhookOf(one, customer) });
  await heard(caller, GREETING);
  await caller.say("say thank you");
  await heard(caller, "thank you");
  const silent = await Caller.connect({ url: one.url, apiKey: customer.apiKey });
  one.server.signal("SIGKILL");
  await caller.until(({ type }) => type === "closed");
  stand.front.leadTo(other.url);
  const again = await caller.goOn();
  await heard(again, "Where were we?");
  await again.say("what was that");
  await heard(again, "like to try");
  await again.hangUp();
  const [first, second, third] = await stand.atRest(customer);
  assert.ok(first && second && third);
  assert.deepEqual(
    [first, second].map(({ status, metadata }) => [status, metadata["endReason"]]),
    Array.from({ length: 2 }, () => ["failed", "the server that had the call was lost"]),
  );
  assert.equal(first.metadata["continuedBy"], third.id);
  assert.equal(third.metadata["continues"], first.id);
  assert.equal(silent.events.at(-1)?.type, "closed");
  const [day] = await stand.database.usage.list(
    customer.tenant.organization.id,
    "0000-01-01",
    "9999-12-31",
  );
  assert.equal(day?.calls, 3);
  assert.deepEqual(
    (await stand.database.nodes.list()).map(({ name }) => name),
    ["other"],
  );
});
