import assert from "node:assert/strict";
import { test } from "node:test";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { Caller } from "../../engine/sandbox/caller.js";
import { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { ended, repliesOf } from "../system/events.js";
import { eventually } from "../system/eventually.js";
import { RefusingVendor } from "../system/refusing-vendor.js";
import { heard } from "../system/telephone-stand.js";
import { EventReader } from "./event-reader.js";
import { NodeStand } from "./node-stand.js";

const GREETING = "Hello there.";
const INTERRUPTED = "I am sorry, the line was interrupted. Where were we?";
const ATTEMPTS = 500;
const LIMIT = 10;
const cluster = await PostgresCluster.start();

async function isTaken(caller: Caller): Promise<boolean> {
  const isTold = ({ type }: { readonly type: string }) => type === "connected" || type === "closed";
  const event = caller.events.find(isTold) ?? (await caller.until(isTold));
  return event.type === "connected";
}

test("a plan's calls are accepted to the last one and no further, on whichever server", async (context) => {
  const stand = await NodeStand.start(context, cluster);
  const servers = [await stand.serve("one"), await stand.serve("other", { WORKERS: "2" })];
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

test("a watcher at one server sees and hears the calls of the other, and ends them", async (context) => {
  const stand = await NodeStand.start(context, cluster);
  const [one, other] = [await stand.serve("one", { WORKERS: "2" }), await stand.serve("other")];
  const customer = await stand.customerWithAgent(GREETING, "starter");
  const { apiKey } = customer;
  const watching = (path: string) => EventReader.open(context, `${one.url}${path}`, apiKey);
  const all = await watching("/api/dashboard/calls/events");
  await all.until(({ name }) => name === "watching");
  // A call that begins before the other server has heard of the watch is not told.
  const caller = await eventually("a call that is told of", async () => {
    const next = await Caller.connect({ url: other.url, apiKey });
    if (all.events.some(({ name }) => name === "began")) return next;
    await next.hangUp();
    return undefined;
  });
  await caller.until(ended);
  const call = (await stand.calls(customer)).at(-1);
  assert.ok(call);
  const path = `/api/dashboard/calls/${call.id}`;
  const words = await watching(`${path}/events`);
  await eventually("words that are told", async () => {
    await caller.say("what was that");
    await caller.until(ended);
    return words.events.some(({ name }) => name === "words") || undefined;
  });
  await all.until(({ name, data }) => name === "turn" && data["callId"] === call.id);
  const response = await fetch(`${one.url}${path}/end`, {
    method: "POST",
    headers: { "x-api-key": apiKey },
  });
  assert.equal(response.status, 200, await response.text());
  await caller.until(({ type }) => type === "closed");
  const last = await all.until(({ name, data }) => name === "ended" && data["callId"] === call.id);
  assert.equal(last.data["endReason"], "organizationEnded");
  await stand.atRest(customer);
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
  const { apiKey } = customer;
  const silent = await Caller.connect({ url: one.url, apiKey });
  await silent.until(ended);
  await silent.say("my name is Ada");
  await silent.until(ended);
  const sessionId = silent.historyKey ?? "";
  const orgId = customer.tenant.organization.id;
  await eventually("the turn to be stored", () => stand.database.history.load(orgId, sessionId, 0));
  one.server.signal("SIGKILL");
  await caller.until(({ type }) => type === "closed");
  stand.front.leadTo(other.url);
  const again = await caller.continue();
  await heard(again, "Where were we?");
  await again.say("what was that");
  await heard(again, "like to try");
  await again.hangUp();
  const back = await Caller.connect({ url: other.url, apiKey, sessionId });
  assert.equal(back.historyKey, sessionId, "a web client too");
  await back.until(ended);
  assert.deepEqual(repliesOf(back), [INTERRUPTED]);
  await back.hangUp();
  const [first, second, third, fourth] = await stand.atRest(customer);
  assert.ok(first && second && third && fourth);
  assert.deepEqual(
    [first, second].map(({ status, metadata }) => [status, metadata["endReason"]]),
    Array.from({ length: 2 }, () => ["failed", "the server that had the call was lost"]),
  );
  assert.equal(first.metadata["continuedBy"], third.id);
  assert.equal(third.metadata["continues"], first.id);
  assert.equal(second.metadata["continuedBy"], fourth.id);
  assert.equal(fourth.metadata["continues"], second.id);
  const [day] = await stand.database.usage.list(orgId, "0000-01-01", "9999-12-31");
  assert.equal(day?.calls, 4);
  assert.deepEqual(
    (await stand.database.nodes.list()).map(({ name }) => name),
    ["other"],
  );
});

test("a muted agent stays muted, and keeps its notes, when its server is killed", async (context) => {
  const stand = await NodeStand.start(context, cluster);
  const [one, other] = [await stand.serve("one"), await stand.serve("other")];
  const customer = await stand.customerWithAgent(GREETING);
  const { apiKey } = customer;
  stand.front.leadTo(one.url);
  const caller = await PhoneCaller.call({ webhookUrl: stand.webhookOf(one, customer) });
  await heard(caller, GREETING);
  const [first] = await stand.calls(customer);
  assert.ok(first);
  const ask = async (url: string, callId: string, name: string, body?: object) => {
    const response = await fetch(`${url}/api/dashboard/calls/${callId}/${name}`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    assert.equal(response.status, 200, await response.text());
  };
  // Over the other server: it does not matter which one has the call.
  await ask(other.url, first.id, "context", { text: "The parcel waits in Berlin." });
  await ask(other.url, first.id, "mute");
  await eventually("both to be stored", async () => {
    const [call] = await stand.calls(customer);
    return call?.metadata["isMuted"] === true && call.metadata["contextNotes"] !== undefined
      ? call
      : undefined;
  });
  one.server.signal("SIGKILL");
  await caller.until(({ type }) => type === "closed");
  stand.front.leadTo(other.url);
  const again = await caller.continue();
  const second = await eventually("the call that continues", async () => {
    const calls = await stand.calls(customer);
    return calls.find(({ metadata }) => metadata["continues"] === first.id);
  });
  assert.equal(second.metadata["isMuted"], true);
  assert.deepEqual(second.metadata["contextNotes"], ["The parcel waits in Berlin."]);
  const words = await EventReader.open(
    context,
    `${other.url}/api/dashboard/calls/${second.id}/events`,
    apiKey,
  );
  const present = await words.until(({ name }) => name === "present");
  assert.equal(present.data["isMuted"], true);
  void again.say("where waits the parcel");
  await words.until(({ name, data }) => name === "words" && data["isFinal"] === true);
  assert.equal(again.playedText(), "");
  await ask(other.url, second.id, "unmute");
  await heard(again, "The parcel waits in Berlin.");
  await again.hangUp();
  const [, last] = await stand.atRest(customer);
  assert.equal(last?.metadata["isMuted"], undefined);
});

test("callers of a server that is stopped before they are done talk on with the other", async (context) => {
  const stand = await NodeStand.start(context, cluster, { DRAIN_TIMEOUT_SEC: "1" });
  const [one, other] = [await stand.serve("one"), await stand.serve("other")];
  const customer = await stand.customerWithAgent(GREETING);
  const { apiKey } = customer;
  stand.front.leadTo(one.url);
  const caller = await PhoneCaller.call({ webhookUrl: stand.webhookOf(one, customer) });
  await heard(caller, GREETING);
  const page = await Caller.connect({ url: one.url, apiKey });
  await page.until(ended);
  stand.front.leadTo(other.url);
  one.server.signal("SIGTERM");
  const isClosed = ({ type }: { readonly type: string }) => type === "closed";
  await Promise.all([caller.until(isClosed), page.until(isClosed)]);
  const again = await caller.continue();
  await heard(again, "Where were we?");
  const back = await Caller.connect({ url: other.url, apiKey, sessionId: page.historyKey ?? "" });
  await back.until(ended);
  assert.deepEqual(repliesOf(back), [INTERRUPTED]);
  await again.hangUp();
  await back.hangUp();
  assert.equal(await one.server.exited(), 0);
  const calls = await stand.atRest(customer);
  assert.deepEqual(
    calls.map(({ status, metadata }) => [status, metadata["endReason"]]),
    [
      ["completed", "serverStopping"],
      ["completed", "serverStopping"],
      ["completed", "callerLeft"],
      ["completed", "callerLeft"],
    ],
  );
  const continued = new Map(calls.map(({ id, metadata }) => [id, metadata["continues"]]));
  for (const { id, metadata } of calls.slice(0, 2)) {
    assert.equal(continued.get(String(metadata["continuedBy"])), id);
  }
});

test("a server that stood still ends its calls and stops, once others have taken it for dead", async (context) => {
  const stand = await NodeStand.start(context, cluster);
  const [one] = [await stand.serve("one"), await stand.serve("other")];
  const customer = await stand.customerWithAgent(GREETING);
  const caller = await Caller.connect({ url: one.url, apiKey: customer.apiKey });
  one.server.signal("SIGSTOP");
  const [call] = await stand.atRest(customer);
  assert.equal(call?.metadata["endReason"], "the server that had the call was lost");
  one.server.signal("SIGCONT");
  await caller.until(({ type }) => type === "closed");
  assert.equal(await one.server.exited(), 1);
  const again = await stand.serve("one");
  const next = await Caller.connect({ url: again.url, apiKey: customer.apiKey });
  await next.hangUp();
  assert.equal((await stand.atRest(customer)).length, 2);
});

test("a change at one server applies at the other as soon as that is notified", async (context) => {
  const stand = await NodeStand.start(context, cluster, { REQUESTS_PER_MINUTE: "20" });
  const [one, other] = [await stand.serve("one"), await stand.serve("other")];
  const customer = await stand.customerWithAgent(GREETING);
  const { apiKey, apiKeyId, tenant } = customer;
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  const [agent] = await stand.tenancy.agents.list(tenant);
  const changed = await fetch(`${one.url}/api/dashboard/agents/${agent?.id}`, {
    method: "PATCH",
    headers,
    body: JSON.stringify({ persona: { greeting: "Good evening." } }),
  });
  assert.equal(changed.status, 200, await changed.text());
  await eventually("the new greeting", async () => {
    const caller = await PhoneCaller.call({
      webhookUrl: stand.webhookOf(other, customer),
      streamUrl: `${other.url.replace("http", "ws")}/ws/telephony/stream`,
    });
    await heard(caller, ".");
    await caller.hangUp();
    return caller.playedText().trim() === "Good evening." || undefined;
  });
  const revoked = await fetch(`${one.url}/api/dashboard/api-keys/${apiKeyId}`, {
    method: "DELETE",
    headers,
  });
  assert.equal(revoked.status, 200, await revoked.text());
  await eventually("the key to open nothing", async () => {
    const refused = await fetch(`${other.url}/api/dashboard/agents`, { headers });
    await refused.text();
    return refused.status === 401 || undefined;
  });
  await stand.atRest(customer);

  // Somebody new each time, until each server knows of the other and takes its half.
  await eventually("half of the requests", async () => {
    const { apiKey: ofAnother } = await stand.customerWithAgent(GREETING);
    const ask = async () => {
      const response = await fetch(`${one.url}/api/dashboard/agents`, {
        headers: { "x-api-key": ofAnother },
      });
      await response.text();
      return response.status;
    };
    const statuses = await Promise.all(Array.from({ length: 30 }, ask));
    return statuses.filter((status) => status === 200).length === 10 || undefined;
  });
});

test("a vendor that has failed at one server is passed over at the other, also at one that starts later", async (context) => {
  const stand = await NodeStand.start(context, cluster, { ALLOW_PRIVATE_PROVIDERS: "true" });
  const one = await stand.serve("one");
  const earlier = await RefusingVendor.of(stand, context);
  assert.equal(await earlier.reply(one.url), "yes");
  const other = await stand.serve("other", { WORKERS: "2" });
  await earlier.isKnownAt(other.url);
  const later = await RefusingVendor.of(stand, context);
  assert.equal(await later.reply(other.url), "yes");
  for (const { url } of [one, other]) await later.isKnownAt(url);
  for (const vendor of [earlier, later]) {
    for (const { url } of [one, other]) assert.equal(await vendor.reply(url), "yes");
    assert.equal(vendor.requestCount, 1);
  }
  const pages = [one, other].map(async ({ url }) => (await fetch(`${url}/metrics`)).text());
  for (const page of await Promise.all(pages)) {
    assert.match(page, /^parley_vendor_breakers_open\{category="llm",vendor="openai"\} 2$/m);
  }
});
