import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { adminCommand } from "../../api/commands/admin-command.js";
import { PlatformNode } from "../../api/contract/routes/operator-routes.js";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { Caller } from "../../engine/sandbox/caller.js";
import { ran } from "../api/commands/recording-terminal.js";
import { temporaryFile } from "../storage/temporary-file.js";
import { ended } from "../system/events.js";
import { eventually } from "../system/eventually.js";
import { userToken } from "../system/user-token.js";
import { NodeStand, type StandingNode } from "./node-stand.js";

const Nodes = v.array(PlatformNode);
const cluster = await PostgresCluster.start();

async function readiness({ url }: StandingNode): Promise<string> {
  const response = await fetch(`${url}/api/ready`);
  return `${response.status} ${await response.text()}`;
}

test("a drained server finishes its calls and takes no new ones, and webhooks lead elsewhere", async (context) => {
  const stand = await NodeStand.start(context, cluster);
  const address = (name: string) => ({ NODE_URL: `https://${name}.example.com` });
  const one = await stand.serve("one", address("one"));
  const other = await stand.serve("other", { ...address("other"), WORKERS: "2" });
  const admin = (...args: readonly string[]) =>
    ran(
      adminCommand(() => ({
        dataDir: temporaryFile(),
        databaseUrl: stand.databaseUrl,
        port: 0,
      })),
      "nodes",
      ...args,
    );
  const customer = await stand.customerWithAgent("");
  const caller = await Caller.connect({ url: one.url, apiKey: customer.apiKey });
  await eventually("both servers to take calls, and the call to be told of", async () => {
    const { output } = await admin();
    return /^one +takes calls +1 [^]*^other +takes calls +0 /m.test(output) ? output : undefined;
  });
  const streamOf = async (server: StandingNode) => {
    const response = await fetch(stand.webhookOf(server, customer), { method: "POST" });
    return /url="([^"]+)"/.exec(await response.text())?.[1];
  };
  const ledTo = (name: string) =>
    eventually(`callers to be led to ${name}`, async () =>
      (await streamOf(one)) === `wss://${name}.example.com/ws/telephony/stream` ? true : undefined,
    );
  await ledTo("other");
  const drained = await admin("drain", "other");
  assert.match(drained.output, /^other takes no new calls/);
  const draining = await eventually("the server to learn of it", async () => {
    const answer = await readiness(other);
    return answer.startsWith("503") ? answer : undefined;
  });
  assert.match(draining, /"status":"draining"/);
  assert.match(await readiness(one), /^200/);
  await assert.rejects(
    Caller.connect({ url: other.url, apiKey: customer.apiKey }),
    /takes no new calls/,
  );
  await ledTo("one");
  assert.equal(await streamOf(other), "wss://one.example.com/ws/telephony/stream");
  await admin("drain", "one");
  await eventually("the other server to learn of it", async () =>
    (await readiness(one)).startsWith("503") ? true : undefined,
  );
  await caller.say("say thank you");
  await caller.until(ended);
  await caller.hangUp();
  await stand.atRest(customer);
  assert.match((await admin("drain", "nowhere")).errors, /there is no node nowhere/);
  assert.equal((await admin("drain")).exitCode, 2);
});

test("an operator sees the servers from any of them, drains one, and the audit trail names the person", async (context) => {
  const stand = await NodeStand.start(context, cluster);
  const one = await stand.serve("one");
  // Its routes run in processes that have the database by way of another.
  const other = await stand.serve("other", { WORKERS: "2" });
  const { email } = await stand.customers.customer();
  const user = await stand.database.users.findByEmail(email);
  assert.ok(user);
  await stand.database.users.setOperator(user.id, true);
  const token = await userToken(stand.database, email);
  const ask = (server: StandingNode, path = "", method = "GET") =>
    fetch(`${server.url}/api/operator/nodes${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
    });
  const statesAt = async (server: StandingNode) =>
    v
      .parse(Nodes, await (await ask(server)).json())
      .map(({ name, state }) => `${name} ${state}`)
      .join(", ");
  for (const server of [one, other]) {
    await eventually("both servers to take calls", async () =>
      (await statesAt(server)) === "one taking, other taking" ? true : undefined,
    );
  }
  assert.equal((await ask(other, "/one/drain", "POST")).status, 200);
  assert.equal(await statesAt(one), "one draining, other taking");
  await eventually("the server to learn of it", async () =>
    (await readiness(one)).startsWith("503") ? true : undefined,
  );
  assert.equal((await ask(other, "/nowhere/drain", "POST")).status, 404);
  const [entry] = await stand.database.audit.listNewest(1);
  assert.deepEqual(
    [entry?.action, entry?.targetName, entry?.actor],
    ["node.drain", "one", { type: "administrator", id: user.id }],
  );
});
