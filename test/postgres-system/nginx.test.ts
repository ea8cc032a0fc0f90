import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startSeveralNginx } from "../../bench/kills/several-nginx.js";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { Caller } from "../../engine/sandbox/caller.js";
import { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { eventually } from "../system/eventually.js";
import { heard } from "../system/telephone-stand.js";
import { NodeStand } from "./node-stand.js";

const cluster = await PostgresCluster.start();
const LATE_CALLS = 6;
const CALLS = 12;
/** The least that each server has: nginx shares connections out by their number. */
const CALLS_OF_ONE_MIN = 4;

async function standBehindNginx(context: TestContext) {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const stand = await NodeStand.start(context, cluster, {
    PUBLIC_BASE_URL: url,
    TRUSTED_PROXIES: "127.0.0.1",
  });
  const servers = [await stand.serve("one"), await stand.serve("two")];
  context.after(await startSeveralNginx(port, servers));
  const customer = await stand.customerWithAgent("Hello there.");
  return { stand, servers, url, customer };
}

test("with nginx, the callers of a stopping server continue, and new ones go to the other", async (context) => {
  const { stand, servers, url, customer } = await standBehindNginx(context);
  const [stopping] = servers;
  assert.ok(stopping);
  const ring = () => PhoneCaller.call({ webhookUrl: stand.webhookOf({ url }, customer) });
  const callers = [await ring(), await ring(), await ring(), await ring()];
  await Promise.all(callers.map((caller) => heard(caller, "Hello there.")));
  stopping.server.signal("SIGTERM");
  await eventually("the server to say that it stops", async () => {
    const { status } = await fetch(`${stopping.url}/api/health`);
    return status === 503 || undefined;
  });
  // nginx prefers it, since it has fewer connections with each call that ends.
  const late: PhoneCaller[] = [];
  for (let call = 0; call < LATE_CALLS; call += 1) late.push(await ring());
  await Promise.all(late.map((caller) => heard(caller, "Hello there.")));
  const page = await Caller.connect({ url, apiKey: customer.apiKey });
  await Promise.all(callers.map((caller) => caller.say("say thank you")));
  await Promise.all(callers.map((caller) => heard(caller, "thank you")));
  await Promise.all([...callers, ...late, page].map((caller) => caller.hangUp()));
  await stopping.server.exited();
  const calls = await stand.atRest(customer);
  assert.equal(calls.length, callers.length + LATE_CALLS + 1);
  for (const { status } of calls) assert.equal(status, "completed");
});

test("with nginx, the callers of a killed server continue on the other", async (context) => {
  const { stand, servers, url, customer } = await standBehindNginx(context);
  const callers: PhoneCaller[] = [];
  for (let call = 0; call < CALLS; call += 1) {
    callers.push(await PhoneCaller.call({ webhookUrl: stand.webhookOf({ url }, customer) }));
  }
  await Promise.all(callers.map((caller) => heard(caller, "Hello there.")));
  await Promise.all(callers.map((caller) => caller.say("say thank you")));
  await Promise.all(callers.map((caller) => heard(caller, "thank you")));
  const nodes = await stand.database.nodes.list();
  const victim = nodes.find(({ name }) => name === "one")?.startId ?? "";
  const { length: brokenCount } = await stand.database.callSlots.callsOf(victim);
  assert.ok(brokenCount >= CALLS_OF_ONE_MIN, `${brokenCount} calls on one server`);
  assert.ok(CALLS - brokenCount >= CALLS_OF_ONE_MIN, `${brokenCount} calls on one server`);
  const killedAtMs = performance.now();
  servers[0]?.server.signal("SIGKILL");
  await servers[0]?.server.exited();
  const isClosed = (caller: PhoneCaller) => caller.events.some(({ type }) => type === "closed");
  const broken = await eventually("the streams of the server to break", () => {
    const closed = callers.filter(isClosed);
    return closed.length === brokenCount ? closed : undefined;
  });
  const again = await Promise.all(
    broken.map(async (caller) => {
      const next = await caller.continue();
      await heard(next, "Where were we?");
      return next;
    }),
  );
  const tookMs = Math.round(performance.now() - killedAtMs);
  context.diagnostic(
    `${broken.length} callers talked on ${tookMs} ms after the kill at the latest`,
  );
  const others = callers.filter((caller) => !isClosed(caller));
  await Promise.all(again.map((caller) => caller.say("what was that")));
  await Promise.all(again.map((caller) => heard(caller, "like to try")));
  await Promise.all(others.map((caller) => caller.say("say good bye")));
  await Promise.all(others.map((caller) => heard(caller, "good bye")));
  await Promise.all([...again, ...others].map((caller) => caller.hangUp()));
  const calls = await stand.atRest(customer);
  assert.equal(calls.length, CALLS + broken.length);
  const lost = calls.filter(({ status }) => status === "failed");
  assert.equal(lost.length, broken.length);
  for (const { metadata } of lost) {
    const next = calls.find(({ id }) => id === metadata["continuedBy"]);
    assert.equal(next?.status, "completed");
  }
});
