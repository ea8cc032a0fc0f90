import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { Caller } from "../../engine/sandbox/caller.js";
import { type Sandbox, startSandbox } from "../../engine/sandbox/sandbox.js";
import { PhoneCaller, type PhoneCallerEvent } from "../../engine/sandbox/telephone/phone-caller.js";
import { readDemo } from "../../engine/tenancy/seeding/demo-file.js";
import { openDatabase } from "../../storage/database.js";
import type { CallRecord, UsageRecord } from "../../storage/records.js";
import { closeOf, ended, repliesOf, spoke, understood } from "./events.js";
import { eventually } from "./eventually.js";
import { HeldService } from "./held-service.js";
import { ServerProcess } from "./server-process.js";
import { environmentOf } from "./test-server.js";

const GREETING = "Hello! How can I help you today?";

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());

/** The server in a process of its own; the demo organization and the simulated vendors are in this process. */
class Installation {
  readonly #environment: Readonly<Record<string, string>>;
  readonly #started: ServerProcess[] = [];
  readonly dataDir: string;

  static async for(
    context: TestContext,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Installation> {
    const dataDir = await mkdtemp(join(tmpdir(), "parley-stops-"));
    const installation = new Installation(dataDir, environment);
    context.after(() => installation.#remove());
    return installation;
  }

  private constructor(dataDir: string, environment: Readonly<Record<string, string>>) {
    this.dataDir = dataDir;
    const development = { NODE_ENV: "development", SANDBOX: "off" };
    this.#environment = { ...environmentOf(sandbox, dataDir), ...development, ...environment };
  }

  async start(): Promise<ServerProcess> {
    const server = await ServerProcess.start(this.#environment);
    this.#started.push(server);
    return server;
  }

  async call(server: ServerProcess, sessionId?: string): Promise<Caller> {
    const demo = await readDemo(this.dataDir);
    const { url } = server;
    return Caller.connect({ url, apiKey: demo?.apiKey ?? "", ...(sessionId && { sessionId }) });
  }

  /** Returns the demo organization's calls in progress, or does something to one of them. */
  async dashboard({ url }: ServerProcess, path: string, body?: object): Promise<unknown> {
    const demo = await readDemo(this.dataDir);
    const response = await fetch(`${url}/api/dashboard/calls${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "x-api-key": demo?.apiKey ?? "", "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    assert.equal(response.status, 200, JSON.stringify(answer));
    return answer;
  }

  async webhook({ url }: ServerProcess): Promise<string> {
    const demo = await readDemo(this.dataDir);
    return `${url}/api/telephony/voice?api_key=${demo?.apiKey}`;
  }

  /** Reads the database of a server that is not running. */
  async stored(): Promise<{ calls: CallRecord[]; usage: UsageRecord[] }> {
    const database = await openDatabase({ filePath: join(this.dataDir, "parley.db") });
    const [first] = await database.organizations.list();
    const orgId = first?.organization.id ?? "";
    const { items } = await database.calls.list(orgId, { skip: 0, limit: 10 });
    const calls: CallRecord[] = [];
    for (const { id } of items) {
      const call = await database.calls.findById(orgId, id);
      if (call !== undefined) calls.push(call);
    }
    const usage = await database.usage.list(orgId, "0000-00-00", "9999-99-99");
    await database.close();
    return { calls, usage: [...usage] };
  }

  /** The actions in the audit trail of a server that is not running. */
  async audited(): Promise<readonly string[]> {
    const database = await openDatabase({ filePath: join(this.dataDir, "parley.db") });
    const entries = await database.audit.listNewest(100);
    await database.close();
    return entries.map(({ action }) => action);
  }

  /** Removes the folder, even if a test failed halfway. */
  async #remove(): Promise<void> {
    for (const server of this.#started) {
      server.signal("SIGKILL");
      await server.exited();
    }
    await rm(this.dataDir, { recursive: true });
  }
}

describe("a server process", { concurrency: true }, () => {
  test("that was killed during a call closes the call as failed at its next start, with its transcript; a second stop signal does not wait", async (context) => {
    const installation = await Installation.for(context);
    const server = await installation.start();
    const caller = await installation.call(server);
    await caller.until(ended);
    await caller.say("say ok");
    await caller.until(ended);
    await caller.say("count to 30");
    await caller.until(spoke);
    const killedAtMs = Date.now();
    server.signal("SIGKILL");
    assert.equal((await closeOf(caller)).code, 1006);
    assert.equal(await server.exited(), null);

    const before = await installation.stored();
    assert.equal(before.calls[0]?.status, "active");
    const next = await installation.start();
    const again = await installation.call(next, caller.historyKey);
    await again.until(ended);
    assert.match(repliesOf(again)[0] ?? "", /the line was interrupted/);
    next.signal("SIGTERM");
    await healthWhileDraining(next.url);
    next.signal("SIGTERM");
    assert.equal((await closeOf(again)).code, 1012);
    assert.equal(await next.exited(), 0);

    const { calls, usage } = await installation.stored();
    const killed = calls.at(-1);
    assert.equal(killed?.status, "failed");
    assert.equal(killed.metadata["continuedBy"], calls[0]?.id);
    assert.match(String(killed.metadata["endReason"]), /server stopped during the call/);
    assert.deepEqual(
      killed.transcript.map(({ text }) => withoutWait(text)),
      [GREETING, "say ok", "ok"],
    );
    assert.ok(killed.endedAtMs !== null && killed.durationSec !== null);
    assert.ok(killed.endedAtMs <= killedAtMs, "a call does not outlive its server");
    assert.ok(killed.endedAtMs >= (killed.transcript.at(-1)?.timestamp ?? 0));
    assert.equal(killed.metrics.turnCount, 1);
    assert.equal(usage[0]?.calls, 2);
  });

  test("that was killed while an agent was muted leaves it muted, with its notes, in the call that continues", async (context) => {
    const installation = await Installation.for(context);
    const server = await installation.start();
    const caller = await installation.call(server);
    await caller.until(ended);
    const liveCall = async (at: ServerProcess) => {
      const { items } = Object(await installation.dashboard(at, "?status=active"));
      return Object(items[0]);
    };
    const { _id: callId } = await liveCall(server);
    const text = "The parcel waits in Berlin.";
    await installation.dashboard(server, `/${callId}/context`, { text });
    await installation.dashboard(server, `/${callId}/mute`, {});
    const question = "where waits the parcel";
    const isHeard = caller.until(understood);
    await caller.say(question);
    await isHeard;
    await eventually("all of it to be stored", async () => {
      const call = Object(await installation.dashboard(server, `/${callId}`));
      const { isMuted, contextNotes } = call.metadata;
      const isSaid = call.transcript.at(-1)?.text === question;
      return isMuted === true && contextNotes?.length === 1 && isSaid ? true : undefined;
    });
    server.signal("SIGKILL");
    assert.equal(await server.exited(), null);

    const next = await installation.start();
    const again = await installation.call(next, caller.historyKey);
    const { _id: nextId, metadata } = await liveCall(next);
    assert.deepEqual([metadata.isMuted, metadata.contextNotes], [true, [text]]);
    assert.deepEqual(repliesOf(again), []);
    const reply = again.until(ended);
    await installation.dashboard(next, `/${nextId}/unmute`, {});
    await reply;
    assert.deepEqual(repliesOf(again), [text]);
    await again.hangUp();
  });

  test("that was killed before the agent had said what people ordered leaves it to the call that continues, once", async (context) => {
    const installation = await Installation.for(context);
    const server = await installation.start();
    const caller = await installation.call(server);
    await caller.until(ended);
    const liveCall = async (at: ServerProcess) => {
      const { items } = Object(await installation.dashboard(at, "?status=active"));
      return Object(items[0]);
    };
    const { _id: callId } = await liveCall(server);
    const long = "This is a long text, of which the caller hears only the beginning.";
    const spoken = caller.until(spoke);
    await installation.dashboard(server, `/${callId}/say`, { text: long, interrupt: true });
    await spoken;
    await installation.dashboard(server, `/${callId}/say`, { text: "We close soon." });
    const ordered = [long, "We close soon."];
    await eventually("both to be stored", async () => {
      const { metadata } = Object(await installation.dashboard(server, `/${callId}`));
      return metadata.unspokenTexts?.length === 2 ? true : undefined;
    });
    server.signal("SIGKILL");
    assert.equal(await server.exited(), null);

    const next = await installation.start();
    const again = await installation.call(next, caller.historyKey);
    while (again.events.filter(ended).length < 3) await again.until(ended);
    const { _id: nextId } = await liveCall(next);
    await eventually("the last turn to be stored", async () => {
      const { metadata } = Object(await installation.dashboard(next, `/${nextId}`));
      return metadata.unspokenTexts === undefined ? true : undefined;
    });
    await again.hangUp();
    next.signal("SIGTERM");
    assert.equal(await next.exited(), 0);
    const { calls } = await installation.stored();
    const [apology, ...said] = (calls[0]?.transcript ?? []).map(({ text }) => text);
    assert.match(apology ?? "", /the line was interrupted/);
    assert.deepEqual(said, ordered);
    assert.deepEqual(
      calls.map(({ metadata }) => metadata["unspokenTexts"]),
      [undefined, undefined],
    );
    assert.deepEqual(
      (await installation.audited()).filter((action) => action === "call.say").length,
      2,
    );
  });

  test("that was killed while a tool ran has the call that continues ask for the same with the same key", async (context) => {
    const service = await HeldService.for(context);
    const installation = await Installation.for(context, { ALLOW_PRIVATE_PROVIDERS: "true" });
    const server = await installation.start();
    const demo = await readDemo(installation.dataDir);
    const tool = { type: "http", name: "book_table", description: "Books a table." };
    const changed = await fetch(`${server.url}/api/dashboard/agents/${demo?.agentId}`, {
      method: "PATCH",
      headers: { "x-api-key": demo?.apiKey ?? "", "content-type": "application/json" },
      body: JSON.stringify({
        tools: [{ ...tool, url: service.url, method: "POST", parameters: { type: "object" } }],
      }),
    });
    assert.equal(changed.status, 200, await changed.text());
    const caller = await installation.call(server);
    await caller.until(ended);
    await caller.say("please book table");
    const [firstKey] = await service.keys(1);
    server.signal("SIGKILL");
    assert.equal(await server.exited(), null);

    const next = await installation.start();
    const again = await installation.call(next, caller.historyKey);
    await again.say("please book table");
    const [, secondKey] = await service.keys(2);
    assert.equal(secondKey, firstKey);
    service.release();
    await again.until((event) => ended(event) && /booked/.test(repliesOf(again).join(" ")));
    await again.hangUp();
  });

  test("that is stopped lets the call in progress finish, and accepts no other", async (context) => {
    const installation = await Installation.for(context);
    const server = await installation.start();
    const caller = await installation.call(server);
    server.signal("SIGTERM");
    const health = await healthWhileDraining(server.url);
    assert.equal(health.status, 503);
    await assert.rejects(installation.call(server), /1012/);
    await caller.until(ended);
    await caller.say("say ok");
    await caller.until(ended);
    assert.deepEqual(repliesOf(caller).map(withoutWait), [GREETING, "ok"]);
    await caller.hangUp();
    assert.equal(await server.exited(), 0);
    const { calls } = await installation.stored();
    assert.deepEqual(
      calls.map(({ status, metadata }) => `${status} ${String(metadata["endReason"])}`),
      ["completed callerLeft"],
    );
    const again = await installation.start();
    await eventually("the summary, by the next start at the latest", async () => {
      const [call] = (await installation.stored()).calls;
      return call?.summary ?? undefined;
    });
    again.signal("SIGTERM");
    assert.equal(await again.exited(), 0);
  });

  test("that is stopped ends the calls that do not finish in time, with the reason", async (context) => {
    const installation = await Installation.for(context, { DRAIN_TIMEOUT_SEC: "1" });
    const server = await installation.start();
    const caller = await installation.call(server);
    server.signal("SIGTERM");
    const reason = "the server is restarting";
    assert.deepEqual(await closeOf(caller), { code: 1012, reason, error: reason });
    assert.equal(await server.exited(), 0);
    const { calls } = await installation.stored();
    assert.equal(calls[0]?.status, "completed");
    assert.equal(calls[0]?.metadata["endReason"], "serverStopping");
  });
});

test("a single-process server that stops keeps telephone callers on hold until it is back", async (context) => {
  const [port = 0] = await freePorts(1);
  const authToken = "the account's own token";
  const signed = { PORT: String(port), TWILIO_AUTH_TOKEN: authToken, DRAIN_TIMEOUT_SEC: "600" };
  const installation = await Installation.for(context, signed);
  const server = await installation.start();
  const held: (() => void)[] = [];
  const pause = () => new Promise<void>((resolve) => held.push(resolve));
  const ring = async () =>
    PhoneCaller.call({ webhookUrl: await installation.webhook(server), authToken, pause });
  const caller = await ring();
  await isSpokenTo(caller);
  const last = await installation.call(server);
  server.signal("SIGTERM");
  await healthWhileDraining(server.url);
  caller.drop();
  const again = caller.continue();
  const another = ring();
  await eventually("both vendors to wait", () => held[1]);
  await last.hangUp();
  assert.equal(await server.exited(), 0);

  const next = await installation.start();
  for (const goOn of held) goOn();
  await isSpokenTo(await again);
  await isSpokenTo(await another);
  await Promise.all([(await again).hangUp(), (await another).hangUp()]);
  next.signal("SIGTERM");
  assert.equal(await next.exited(), 0);
  const { calls } = await installation.stored();
  const [broken, goesOn] = [calls.at(-1), calls.find(({ metadata }) => metadata["continues"])];
  assert.equal(goesOn?.metadata["continues"], broken?.id);
  assert.equal(calls.length, 4, "a caller who was held twice has only one record");
});

async function isSpokenTo(caller: PhoneCaller): Promise<void> {
  const isAudio = ({ type }: PhoneCallerEvent) => type === "audio";
  if (!caller.events.some(isAudio)) await caller.until(isAudio);
}

/** The agent plays fillers while callers wait, as they do on a busy machine. */
function withoutWait(text: string): string {
  return text.replace(/^(?:(?:One moment|I am still working on it)\. )+/, "");
}

/** The signal takes a moment: polls until the server has received it. */
async function healthWhileDraining(url: string): Promise<Response> {
  for (;;) {
    const answer = await fetch(`${url}/api/health`);
    if (answer.status !== 200) return answer;
  }
}
