import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { eventually } from "../system/eventually.js";
import { SimulatedVendor } from "../system/public-entrance.js";
import { ACCOUNT_SID, AUTH_TOKEN, TwilioStand } from "../system/twilio-stand.js";
import { NodeStand } from "./node-stand.js";

const GREETING = "Hello there.";
const FROM = "+15550400001";

test("a call that one server has placed is answered, carried and reported on at another", async (context) => {
  const cluster = await PostgresCluster.start();
  const twilio = await TwilioStand.start();
  context.after(() => twilio.close());
  const stand = await NodeStand.start(context, cluster, twilio.environment);
  const placing = await stand.serve("placing");
  const answering = await stand.serve("answering", { WORKERS: "2" });
  await twilio.leadTo(Number(new URL(answering.url).port));
  const customer = await stand.customers.customer();
  const agent = await stand.customers.agent(customer, { persona: { greeting: GREETING } });
  await stand.tenancy.phoneNumbers.allow(customer.email, FROM);
  await stand.tenancy.dialTargets.allow(customer.email, "+1555");
  const numbers = ["+15550101001", "+15550101002", "+15550101003"];
  for (const to of numbers) {
    const response = await fetch(`${placing.url}/api/dashboard/calls`, {
      method: "POST",
      headers: { "x-api-key": customer.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ agentId: agent.id, to, from: FROM }),
    });
    assert.equal(response.status, 201, await response.text());
  }
  for (const to of numbers) {
    const caller = await twilio.of(to, "the answer", (call) => call.caller);
    while (!caller.said().includes(GREETING)) await caller.until(() => true);
    await caller.hangUp();
    await twilio.of(to, "the last report", ({ reports }) =>
      reports.includes("completed 204") ? true : undefined,
    );
  }
  const calls = await stand.atRest(customer);
  const outcomes = calls.map(({ status, metadata }) => [status, metadata["answeredBy"]].join(" "));
  assert.deepEqual(outcomes, ["completed human", "completed human", "completed human"]);
});

test("an order that is sent again to another server, after a kill -9 of the one that had it, calls nobody twice", async (context) => {
  const cluster = await PostgresCluster.start();
  const orders: string[] = [];
  let noteOrder: () => void = () => undefined;
  const ordered = new Promise<void>((resolve) => {
    noteOrder = resolve;
  });
  // The vendor takes the order and is about to answer when the server dies.
  const api = await SimulatedVendor.start({
    handleRequest: async (exchange) => {
      if (!exchange.url.pathname.endsWith("/Calls.json")) return;
      orders.push(exchange.url.pathname);
      noteOrder();
    },
  });
  context.after(() => api.close());
  const stand = await NodeStand.start(context, cluster, {
    TWILIO_ACCOUNT_SID: ACCOUNT_SID,
    TWILIO_AUTH_TOKEN: AUTH_TOKEN,
    TWILIO_BASE_URL: api.url,
  });
  const killed = await stand.serve("killed");
  const other = await stand.serve("other");
  const customer = await stand.customers.customer();
  const agent = await stand.customers.agent(customer, { persona: { greeting: GREETING } });
  await stand.tenancy.phoneNumbers.allow(customer.email, FROM);
  await stand.tenancy.dialTargets.allow(customer.email, "+1555");
  const order = (url: string) =>
    fetch(`${url}/api/dashboard/calls`, {
      method: "POST",
      headers: {
        "x-api-key": customer.apiKey,
        "content-type": "application/json",
        "idempotency-key": "order-1",
      },
      body: JSON.stringify({ agentId: agent.id, to: "+15550101001", from: FROM }),
    });
  const first = order(killed.url);
  first.catch(() => undefined);
  await ordered;
  const early = await order(other.url);
  assert.equal(early.status, 409, await early.text());
  assert.equal(early.headers.get("retry-after"), "1");
  killed.server.signal("SIGKILL");
  await assert.rejects(first);
  const late = await order(other.url);
  assert.equal(late.status, 409, "the vendor may still refuse it");
  // As after the 15 s in which a vendor answers.
  const key = createHash("sha256").update("order-1").digest("hex");
  const orgId = customer.tenant.organization.id;
  await stand.database.idempotencyKeys.settle({ orgId, key });
  const answer = await order(other.url);
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.get("idempotent-replayed"), "true");
  const { id } = Object(await answer.json());
  const call = await eventually("the record of the call", () =>
    stand.database.calls.findById(orgId, String(id)),
  );
  assert.equal(call.status, "failed");
  assert.equal(orders.length, 1);
});
