import assert from "node:assert/strict";
import { test } from "node:test";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { Caller } from "../../engine/sandbox/caller.js";
import { closeOf, ended } from "../system/events.js";
import { NodeStand } from "./node-stand.js";

test("a page that comes back at another server has its place in a full plan, and the limit holds", async (context) => {
  const cluster = await PostgresCluster.start();
  const stand = await NodeStand.start(context, cluster);
  const [one, other] = [await stand.serve("one"), await stand.serve("other")];
  const customer = await stand.customerWithAgent("Hello there.", "starter");
  const { apiKey } = customer;
  const { maxConcurrentCalls } = customer.tenant.plan.limits;
  const page = await Caller.connect({ url: one.url, apiKey });
  await page.until(ended);
  await page.say("my name is Ada");
  await page.until(ended);
  const others = await Promise.all(
    Array.from({ length: maxConcurrentCalls - 1 }, () => Caller.connect({ url: one.url, apiKey })),
  );
  const refused = () => closeOf(Caller.dial({ url: other.url, apiKey }));
  assert.equal((await refused()).code, 4029);
  const sessionId = page.historyKey ?? "";
  const back = await Caller.connect({ url: other.url, apiKey, sessionId });
  assert.equal(back.historyKey, sessionId);
  assert.equal((await closeOf(page)).code, 1000);
  assert.equal((await refused()).code, 4029);
  await Promise.all([back, ...others].map((caller) => caller.hangUp()));
  const calls = await stand.atRest(customer);
  const next = calls.find(({ metadata }) => metadata["continues"] !== undefined);
  const left = calls.find(({ id }) => id === next?.metadata["continues"]);
  assert.equal(left?.metadata["endMessage"], "the caller reconnected on another connection");
  assert.equal(calls.length, maxConcurrentCalls + 1);
});
