import assert from "node:assert/strict";
import { test } from "node:test";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { TwilioStand } from "../system/twilio-stand.js";
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
