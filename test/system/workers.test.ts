import assert from "node:assert/strict";
import { getPriority } from "node:os";
import { after, before, describe, test } from "node:test";
import { workerCount } from "../../api/cluster/worker-process-count.js";
import { Caller } from "../../engine/sandbox/caller.js";
import { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { requestWebhook } from "../../engine/sandbox/telephone/phone-webhook.js";
import { StorageUnwritableError } from "../../storage/statements/storage-error.js";
import { frontUnderTest } from "../doubles/front-under-test.js";
import { SilentLogger } from "../doubles/silent-logger.js";
import { openStream } from "./bare-stream.js";
import { CallListener } from "./call-listener.js";
import { CallWatcher } from "./call-watcher.js";
import { repliesOf } from "./events.js";
import { eventually } from "./eventually.js";
import { heard } from "./telephone-stand.js";
import type { Customer } from "./test-customers.js";
import { TwilioStand } from "./twilio-stand.js";
import { WorkersStand } from "./workers-stand.js";

const GREETING = "Hello there.";
const CALLS = 20;
const ATTEMPTS = 500;
const LIMIT = 10;
const asked = { workers: 2, httpBackend: frontUnderTest.choice };

// Other platforms have one process for all calls, which every other test covers.
const processCount = await workerCount(asked, new SilentLogger());
if (processCount > 1) describe("a server with two processes", boxTests);
else test("this platform runs only one process", () => assert.equal(processCount, 1));

function boxTests(): void {
  let stand: WorkersStand;
  before(async () => {
    stand = await WorkersStand.start({ REQUESTS_PER_MINUTE: "300" });
  });
  // The last test stops the server itself; a second stop then has nothing to do.
  after(() => stand.stop());

  async function customerWithAgent(planSlug?: string): Promise<Customer> {
    const customer = await stand.customers.customer(planSlug);
    await stand.customers.agent(customer, { persona: { greeting: GREETING } });
    return customer;
  }

  const dial = ({ apiKey }: Customer) => Caller.dial({ url: stand.url, apiKey });
  const webhook = ({ apiKey }: Customer) => `${stand.url}/api/telephony/voice?api_key=${apiKey}`;

  async function isTaken(caller: Caller): Promise<boolean> {
    const isTold = ({ type }: { readonly type: string }) =>
      type === "connected" || type === "closed";
    const event = caller.events.find(isTold) ?? (await caller.until(isTold));
    return event.type === "connected";
  }

  test("a plan's calls are accepted up to the limit, in whichever process they arrive", async () => {
    const customer = await customerWithAgent("starter");
    const callers = Array.from({ length: ATTEMPTS }, () => dial(customer));
    const taken = await Promise.all(callers.map(isTaken));
    assert.equal(taken.filter(Boolean).length, LIMIT);
    const hungUp = callers.find((_, index) => taken[index]);
    await hungUp?.hangUp();
    const next = await eventually("the free slot", async () => {
      const caller = dial(customer);
      return (await isTaken(caller)) ? caller : undefined;
    });
    await Promise.all([...callers, next].map((caller) => caller.hangUp()));
    const calls = await stand.endedCalls(customer, LIMIT + 1);
    assert.equal(calls.length, LIMIT + 1);
    assert.equal(await stand.metric("parley_calls_active"), 0);
  });

  test("telephone calls are answered even if webhook and stream reach different processes", async () => {
    const customer = await customerWithAgent();
    const call = () => PhoneCaller.call({ webhookUrl: webhook(customer) });
    const callers = await Promise.all(Array.from({ length: CALLS }, call));
    await Promise.all(callers.map((caller) => heard(caller, GREETING)));
    await Promise.all(callers.map((caller) => caller.hangUp()));
    const calls = await stand.endedCalls(customer, CALLS);
    assert.deepEqual([...new Set(calls.map(({ status }) => status))], ["completed"]);
  });

  test("a webhook's token opens one stream, whichever processes the streams reach", async () => {
    const customer = await customerWithAgent();
    const response = await fetch(webhook(customer), { method: "POST" });
    const [, token] = /name="token" value="([0-9a-f]+)"/i.exec(await response.text()) ?? [];
    assert.ok(token);
    const streams = Array.from({ length: 12 }, () => openStream(stand.url, token));
    const outcomes = await Promise.all(streams);
    assert.equal(outcomes.filter((outcome) => outcome === "media").length, 1, outcomes.join());
    await stand.endedCalls(customer, 1);
  });

  test("placed calls reach their agents, whichever processes get their answers, streams and reports", async (context) => {
    const twilio = await TwilioStand.start();
    context.after(() => twilio.close());
    const placing = await WorkersStand.start(twilio.environment);
    context.after(() => placing.stop());
    await twilio.leadTo(placing.server.port);
    const customer = await placing.customers.customer();
    const agent = await placing.customers.agent(customer, { persona: { greeting: GREETING } });
    await placing.tenancy.phoneNumbers.allow(customer.email, "+15550400001");
    await placing.tenancy.dialTargets.allow(customer.email, "+1555");
    const numbers = Array.from({ length: 10 }, (_, index) => `+1555010${1_000 + index}`);
    const statuses = await Promise.all(
      numbers.map(async (to) => {
        const response = await fetch(`${placing.url}/api/dashboard/calls`, {
          method: "POST",
          headers: { "x-api-key": customer.apiKey, "content-type": "application/json" },
          body: JSON.stringify({ agentId: agent.id, to, from: "+15550400001" }),
        });
        await response.text();
        return response.status;
      }),
    );
    assert.deepEqual([...new Set(statuses)], [201]);
    for (const to of numbers) {
      const caller = await twilio.of(to, "the answer", (call) => call.caller);
      while (!caller.said().includes(GREETING)) await caller.until(() => true);
      await caller.hangUp();
      await twilio.of(to, "the last report", ({ reports }) =>
        reports.includes("completed 204") ? true : undefined,
      );
    }
    // The answering party is stored separately, after the call's end if the vendor reports it late.
    const outcomes = await placing.changes.until("the party that answered each call", async () => {
      const calls = await placing.endedCalls(customer, numbers.length);
      const isTold = calls.every(({ metadata }) => metadata["answeredBy"] !== undefined);
      const told = calls.map(({ status, metadata }) => [status, metadata["answeredBy"]].join(" "));
      return isTold ? told : undefined;
    });
    assert.deepEqual([...new Set(outcomes)], ["completed human"]);
    assert.equal(await placing.metric("parley_calls_active"), 0);
  });

  test("calls of a list are placed by the processes, each of its people once", async (context) => {
    const twilio = await TwilioStand.start();
    context.after(() => twilio.close());
    const placing = await WorkersStand.start(twilio.environment);
    context.after(() => placing.stop());
    await twilio.leadTo(placing.server.port);
    const customer = await placing.customers.customer();
    const agent = await placing.customers.agent(customer, { persona: { greeting: GREETING } });
    await placing.tenancy.phoneNumbers.allow(customer.email, "+15550400001");
    await placing.tenancy.dialTargets.allow(customer.email, "+49");
    const request = async (path: string, body?: object) => {
      const response = await fetch(`${placing.url}/api/dashboard/call-lists${path}`, {
        method: "POST",
        headers: { "x-api-key": customer.apiKey, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
      const answer: unknown = await response.json();
      assert.ok(response.ok, JSON.stringify(answer));
      return Object(answer);
    };
    const numbers = Array.from({ length: 5 }, (_, index) => `+493010${1_000 + index}`);
    const { id } = await request("", {
      name: "Reminders",
      agentId: agent.id,
      from: "+15550400001",
      callsMax: 5,
      windows: [
        { days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], from: "00:00", to: "24:00" },
      ],
      rows: numbers.map((to) => ({ to })),
    });
    await request(`/${id}/start`);
    for (const to of numbers) {
      const caller = await twilio.of(to, "the answer", (call) => call.caller);
      while (!caller.said().includes(GREETING)) await caller.until(() => true);
      await caller.hangUp();
    }
    const { callLists } = placing.server.database;
    const counts = await eventually("the end of the list", async () => {
      const list = await callLists.find(customer.tenant.organization.id, id);
      return list?.state === "completed" ? list.counts : undefined;
    });
    assert.equal(counts.completed, numbers.length);
    assert.equal(twilio.simulator.calls.length, numbers.length);
  });

  test("calls can be watched and ended, whichever processes have the calls, the watchers and the requests", async () => {
    const customer = await customerWithAgent();
    const { url } = stand;
    const { apiKey } = customer;
    const watchers = await Promise.all(
      Array.from({ length: 6 }, () => CallWatcher.open({ url, apiKey })),
    );
    const callers = Array.from({ length: 6 }, () => dial(customer));
    assert.deepEqual([...new Set(await Promise.all(callers.map(isTaken)))], [true]);
    const { items } = await stand.server.database.calls.list(customer.tenant.organization.id, {
      skip: 0,
      limit: 10,
    });
    const ids = items.map(({ id }) => id).sort();
    const one = await CallWatcher.open({ url, apiKey, callId: ids[0] ?? "" });
    const say = async (id: string) => {
      const path = `${url}/api/dashboard/calls/${id}/say`;
      const headers = {
        "x-api-key": apiKey,
        connection: "close",
        "content-type": "application/json",
      };
      const body = JSON.stringify({ text: "We close soon.", interrupt: true });
      return (await fetch(path, { method: "POST", headers, body })).status;
    };
    const headers = { "x-api-key": apiKey };
    const listeners = await Promise.all(
      ids.map((callId) => CallListener.open({ url, callId, headers })),
    );
    for (const listener of listeners) {
      await listener.changes.until("the sound of each call", () => listener.rateHz || undefined);
    }
    assert.deepEqual(
      await Promise.all(ids.map(say)),
      ids.map(() => 200),
    );
    await one.until("words", ({ text }) => String(text).includes("We close soon."));
    for (const listener of listeners) {
      await listener.changes.until(
        "the words in each call",
        () => /close soon/.test(listener.rightWords) || undefined,
      );
    }
    const end = async (id: string) => {
      const headers = { "x-api-key": apiKey, connection: "close" };
      const path = `${url}/api/dashboard/calls/${id}/end`;
      return (await fetch(path, { method: "POST", headers })).status;
    };
    assert.deepEqual(
      await Promise.all(ids.map(end)),
      ids.map(() => 200),
    );
    const isFarewell = ({ text }: Readonly<Record<string, unknown>>) =>
      String(text).includes("I have to end the call");
    await one.until("words", isFarewell);
    for (const watcher of watchers) {
      for (const id of ids) {
        await watcher.until("began", ({ callId }) => callId === id);
        await watcher.until("ended", ({ callId }) => callId === id);
      }
    }
    for (const watcher of [...watchers, one]) watcher.close();
    for (const listener of listeners) {
      await listener.changes.until("the end of each call", () => listener.closed);
    }
    await stand.endedCalls(customer, ids.length);
  });

  test("rate limits count requests across the server's processes", async () => {
    const customer = await customerWithAgent();
    const ask = async () => {
      const headers = { "x-api-key": customer.apiKey, connection: "close" };
      const response = await fetch(`${stand.url}/api/dashboard/calls`, { headers });
      await response.text();
      return response.status;
    };
    const statuses = await Promise.all(Array.from({ length: 350 }, ask));
    assert.equal(statuses.filter((status) => status === 200).length, 300);
    assert.equal(statuses.filter((status) => status === 429).length, 50);
  });

  test("a killed process loses only its own calls, and another process replaces it", async (context) => {
    const customer = await customerWithAgent();
    const callers = await Promise.all(
      Array.from({ length: CALLS }, async () => {
        const caller = dial(customer);
        assert.ok(await isTaken(caller));
        return caller;
      }),
    );
    const [victim] = stand.server.pids();
    assert.ok(victim);
    const brokenOff = (caller: Caller) => caller.events.some(({ type }) => type === "closed");
    const refuse = () => Promise.reject(new StorageUnwritableError("SQLITE_FULL", "no room"));
    context.mock.method(stand.server.database.calls, "closeRun", refuse, { times: 1 });
    process.kill(victim, "SIGKILL");
    const lost = await stand.changes.until("the records of the lost calls", async () => {
      const orgId = customer.tenant.organization.id;
      const { items } = await stand.server.database.calls.list(orgId, { skip: 0, limit: CALLS });
      const failed = items.filter(({ status }) => status === "failed");
      return failed.length > 0 ? failed : undefined;
    });
    assert.ok(lost.length < CALLS, `${lost.length} of ${CALLS} calls were in one process`);
    for (const { metadata } of lost) {
      assert.equal(metadata["endReason"], "a process of the server ended during the call");
    }
    const broken = await eventually("the callers to be disconnected", () => {
      const found = callers.filter(brokenOff);
      return found.length === lost.length ? found : undefined;
    });
    const living = callers.find((caller) => !broken.includes(caller));
    assert.ok(living);
    await living.say("are you there");
    await living.until(({ type }) => type === "transcript");
    await eventually("a process that replaces the lost one", () => {
      const pids = stand.server.pids();
      return pids.length === 2 && !pids.includes(victim) ? pids : undefined;
    });
    const priorities = (await stand.listening()).map((pid) => getPriority(pid));
    assert.deepEqual(priorities, [getPriority(), getPriority()]);
    const [cutOff] = broken;
    const { historyKey: sessionId = "" } = cutOff ?? {};
    const back = await Caller.connect({ url: stand.url, apiKey: customer.apiKey, sessionId });
    await back.until(({ type }) => type === "audioEnd");
    assert.match(repliesOf(back)[0] ?? "", /the line was interrupted/);
    await back.hangUp();
    const isActive = async () =>
      (await stand.metric("parley_calls_active")) === CALLS - lost.length;
    await eventually("the metrics of both", async () => (await isActive()) || undefined);
    await Promise.all(callers.map((caller) => caller.hangUp()));
    const calls = await stand.endedCalls(customer, CALLS + 1);
    const completed = calls.filter(({ status }) => status === "completed");
    assert.equal(completed.length, CALLS - lost.length + 1);
    const goesOn = completed.find(({ metadata }) => metadata["continues"] !== undefined);
    assert.ok(lost.some(({ id }) => id === goesOn?.metadata["continues"]));
  });

  test("a process that dies before it answers a stream loses no call", async () => {
    const customer = await customerWithAgent();
    const [victim] = await stand.listening();
    assert.ok(victim);
    const account = { accountSid: "AC1", from: "+15550001111", to: "+15550002222" };
    const ring = async (callSid: string) => {
      const call = { ...account, callSid, authToken: undefined };
      return { callSid, told: await requestWebhook(webhook(customer), call) };
    };
    const rung = await Promise.all(Array.from({ length: CALLS }, (_, n) => ring(`CA${n}`)));
    process.kill(victim, "SIGSTOP");
    const gone = () => !stand.server.pids().includes(victim) || undefined;
    let lostCount = 0;
    const calling = rung.map(async ({ callSid, told }) => {
      const { url: streamUrl, parameters, action = "" } = told;
      try {
        return await PhoneCaller.call({ callSid, streamUrl, parameters });
      } catch {
        lostCount += 1;
        await eventually("the end of the process", gone);
        return PhoneCaller.call({ callSid, webhookUrl: action });
      }
    });
    await Promise.any(calling);
    process.kill(victim, "SIGKILL");
    const callers = await Promise.all(calling);
    assert.ok(lostCount > 0, "streams came to the process that died");
    await Promise.all(callers.map((caller) => heard(caller, GREETING)));
    await Promise.all(callers.map((caller) => caller.hangUp()));
    const calls = await stand.endedCalls(customer, CALLS);
    assert.deepEqual([...new Set(calls.map(({ status }) => status))], ["completed"]);
    assert.equal(calls.length, CALLS);
  });

  test("a process that hangs is killed, its calls are closed as failed, and another process replaces it", async () => {
    const customer = await customerWithAgent();
    await stand.listening();
    const callers = await Promise.all(
      Array.from({ length: CALLS }, async () => {
        const caller = dial(customer);
        assert.ok(await isTaken(caller));
        return caller;
      }),
    );
    const [victim] = stand.server.pids();
    assert.ok(victim);
    process.kill(victim, "SIGSTOP");
    await eventually(
      "the end of the process",
      () => !stand.server.pids().includes(victim) || undefined,
    );
    assert.throws(() => process.kill(victim, 0), { code: "ESRCH" });
    const hung = stand.log.lines.filter(({ message }) => message.includes("killed a worker"));
    assert.deepEqual(
      hung.map(({ fields }) => fields["pid"]),
      [victim],
    );
    await stand.listening();
    await Promise.all(callers.map((caller) => caller.hangUp()));
    const calls = await stand.endedCalls(customer, CALLS);
    const failed = calls.filter(({ status }) => status === "failed");
    assert.ok(failed.length > 0 && failed.length < CALLS, `${failed.length} calls failed`);
    for (const { metadata } of failed) {
      assert.equal(metadata["endReason"], "a process of the server ended during the call");
    }
  });

  test("processes that are killed repeatedly are soon replaced, and callers get a message meanwhile", async () => {
    const customer = await customerWithAgent();
    await stand.listening();
    const told: string[] = [];
    const statuses = new Set<number>();
    const told1012 = async () => {
      const caller = dial(customer);
      const event = await caller.until(({ type }) => type === "connected" || type === "closed");
      if (event.type === "closed") told.push(`${event.code} ${event.reason}`);
      else await caller.hangUp();
    };
    for (let kills = 0; kills < 9; kills += 1) {
      const victims = await eventually("a process to kill", () => {
        const pids = stand.server.pids();
        return pids.length > 0 ? pids : undefined;
      });
      for (const pid of victims) process.kill(pid, "SIGKILL");
      await eventually("their end", () => {
        const pids = stand.server.pids();
        return pids.every((pid) => !victims.includes(pid)) || undefined;
      });
      await told1012().catch(() => undefined);
      const ready = await fetch(`${stand.url}/api/ready`, {
        headers: { connection: "close" },
      }).catch(() => undefined);
      await ready?.text();
      if (ready !== undefined) statuses.add(ready.status);
    }
    await stand.listening();
    assert.ok(
      told.some((each) => each.startsWith("1012 the server is restarting")),
      told.join("\n"),
    );
    assert.ok(statuses.has(503), [...statuses].join());
    const waits = stand.log.lines
      .filter(({ message }) => message === "restarting a worker")
      .map(({ fields }) => Number(fields["waitMs"]));
    assert.ok(waits.length >= 9, waits.join());
    assert.ok(Math.max(...waits) <= 5_000, waits.join());
    const caller = await Caller.connect({ url: stand.url, apiKey: customer.apiKey });
    await caller.hangUp();
  });

  test("a stopping server lets calls in progress finish, and leaves no process behind", async () => {
    await stand.listening();
    const customer = await customerWithAgent();
    const pids = stand.server.pids();
    const caller = await Caller.connect({ url: stand.url, apiKey: customer.apiKey });
    const stopped = stand.server.stop(60_000);
    await eventually("the port to be closed", async () => {
      const { port } = stand.server;
      const answer = await fetch(`http://127.0.0.1:${port}/api/ready`).catch(() => undefined);
      await answer?.text();
      return answer?.status === 200 ? undefined : true;
    });
    await caller.say("one more thing");
    await caller.until(({ type }) => type === "transcript");
    await caller.hangUp();
    await stopped;
    for (const pid of pids) assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  });
}
