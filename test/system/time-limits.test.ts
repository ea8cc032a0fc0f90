import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { VOICE_QUIET_MAX_MS } from "../../engine/conversation/synthesis.js";
import type { SandboxFaults, SandboxVendor } from "../../engine/sandbox/faults.js";
import type { AgentInput } from "../../engine/tenancy/agents/agent-input.js";
import { VirtualClock } from "../doubles/virtual-clock.js";
import { closeOf, ended, repliesOf, spoke, understood } from "./events.js";
import { eventually } from "./eventually.js";
import { RawClient } from "./raw-client.js";
import { type Customer, TestServer } from "./test-server.js";

const APOLOGY = "I am sorry, I could not answer that just now.";
/** A silence that a caller would take for a lost connection. */
const STALL_MS = 7_000;

/** A server whose time advances only when the test says so, while sockets and simulated vendors are real. */
class TimedServer {
  readonly clock: VirtualClock;
  readonly server: TestServer;

  static async for(
    context: TestContext,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<TimedServer> {
    const clock = new VirtualClock();
    const timed = new TimedServer(clock, await TestServer.start({ clock, environment }));
    context.after(() => timed.passes("the server to stop", timed.server.stop()));
    return timed;
  }

  private constructor(clock: VirtualClock, server: TestServer) {
    this.clock = clock;
    this.server = server;
  }

  async customer(changes: Partial<AgentInput> = {}): Promise<Customer> {
    const customer = await this.server.customer();
    await this.server.agent(customer, changes);
    return customer;
  }

  spoil(faults: Partial<SandboxFaults>): void {
    Object.assign(this.server.sandbox.faults, faults);
  }

  /** Advances time until the work is done: its deadlines would not be reached otherwise. */
  async passes(what: string, work: Promise<unknown>): Promise<void> {
    const done = new AbortController();
    const working = work.finally(() => done.abort());
    await eventually(what, () => {
      this.clock.advance(1_000);
      return done.signal.aborted ? true : undefined;
    });
    await working;
  }

  /** Resolves when the vendor has received this many requests. */
  async asked(vendor: SandboxVendor, count: number): Promise<void> {
    await this.server.changes.until(`${count} requests to ${vendor}`, () => {
      const requests = this.server.sandbox.journal.filter(
        (entry) => entry.vendor === vendor && entry.kind === "request",
      );
      return requests.length >= count ? true : undefined;
    });
  }
}

describe("time limits", { concurrency: true }, () => {
  test("a client that connects and sends nothing gets an error after a minute", async (context) => {
    const timed = await TimedServer.for(context);
    const customer = await timed.customer();
    const client = new RawClient(timed.server, customer);
    await client.text(/connected/);
    timed.clock.advance(50_000);
    assert.equal(client.texts.length, 1, "not yet");
    timed.clock.advance(10_000);
    const reason = "no audio was received for 60 seconds";
    assert.deepEqual(await client.closed, { code: 1000, reason });
    assert.match(client.texts.at(-1) ?? "", /"error".*no audio was received/);
    const call = await timed.server.endedCall(customer);
    assert.equal(call.status, "completed");
    assert.equal(call.metadata["endReason"], "callerIdle");
  });

  test("a frame, however quiet, restarts the minute", async (context) => {
    const timed = await TimedServer.for(context);
    const customer = await timed.customer();
    const caller = await timed.server.call(customer);
    for (let minute = 0; minute < 3; minute += 1) {
      timed.clock.advance(50_000);
      await caller.play("a moment", Buffer.alloc(1_280));
      await caller.play("another", Buffer.alloc(1_280));
    }
    assert.equal(timed.server.parley.calls.liveCalls.count, 1);
    await caller.hangUp();
  });

  test("a call ends when it has lasted as long as its agent allows", async (context) => {
    const timed = await TimedServer.for(context);
    const customer = await timed.customer({ thresholds: { maxCallDurationSec: 10 } });
    const caller = await timed.server.call(customer);
    timed.clock.advance(10_000);
    const reason = "the call reached its limit of 10 seconds";
    assert.deepEqual(await closeOf(caller), { code: 1000, reason, error: reason });
    const call = await timed.server.endedCall(customer);
    assert.equal(call.status, "completed");
    assert.equal(call.durationSec, 10);
  });

  test("connections are limited per minute", async (context) => {
    const timed = await TimedServer.for(context, { VOICE_CONNECTIONS_PER_MINUTE: "1" });
    const customer = await timed.customer();
    await (await timed.server.call(customer)).hangUp();
    assert.equal((await closeOf(timed.server.dial(customer))).code, 4029);
    timed.clock.advance(60_000);
    await (await timed.server.call(customer)).hangUp();
  });

  test("calls in progress when the server stops may continue until the deadline", async (context) => {
    const timed = await TimedServer.for(context);
    const caller = await timed.server.call(await timed.customer());
    const stopped = timed.server.parley.stop(30_000);
    timed.clock.advance(29_999);
    assert.equal(timed.server.parley.calls.liveCalls.count, 1);
    timed.clock.advance(1);
    assert.equal((await closeOf(caller)).code, 1012);
    await timed.passes("the stop", stopped);
  });

  test("a stopping server leaves clients whose calls it ended two seconds to read the reason", async (context) => {
    const timed = await TimedServer.for(context);
    const caller = await timed.server.call(await timed.customer());
    const waits = context.mock.method(timed.clock, "after");
    const stopped = timed.server.parley.stop(1);
    timed.clock.advance(1);
    assert.equal((await closeOf(caller)).code, 1012);
    const isWaiting = () => waits.mock.calls.some(({ arguments: [delayMs] }) => delayMs === 2_000);
    await eventually("the time to read the reason", () => isWaiting() || undefined);
    const { url } = timed.server;
    assert.equal((await fetch(`${url}/api/health`)).status, 503, "vendors can still ask");
    timed.clock.advance(2_000);
    await stopped;
  });
});

describe("a vendor that stalls", { concurrency: true }, () => {
  test("an LLM that sends nothing for seven seconds is retried once", async (context) => {
    const timed = await TimedServer.for(context);
    timed.spoil({ openai: { fault: "stallBeforeFirstByte", times: 1 } });
    const caller = await timed.server.call(await timed.customer());
    await caller.say("say ok");
    await caller.until(understood);
    await timed.asked("openai", 1);
    timed.clock.advance(STALL_MS);
    await caller.until(spoke);
    timed.clock.advance(1_000);
    await caller.until(ended);
    assert.deepEqual(repliesOf(caller), ["ok"]);
    await caller.hangUp();
  });

  test("an LLM that stalls again causes an apology, and the call continues", async (context) => {
    const timed = await TimedServer.for(context);
    timed.spoil({ openai: { fault: "stallMidStream" } });
    const caller = await timed.server.call(await timed.customer());
    await caller.say("say ok");
    await caller.until(understood);
    await timed.asked("openai", 1);
    timed.clock.advance(STALL_MS);
    await timed.asked("openai", 2);
    timed.clock.advance(STALL_MS);
    await caller.until(spoke);
    timed.clock.advance(5_000);
    await caller.until(ended);
    assert.deepEqual(repliesOf(caller), [APOLOGY]);
    assert.equal(timed.server.parley.calls.liveCalls.count, 1);
    await caller.hangUp();
  });

  test("a TTS vendor that stalls twice is reported as an error if no apology is cached", async (context) => {
    const timed = await TimedServer.for(context);
    timed.spoil({ openaiSpeech: { fault: "stallBeforeFirstByte" } });
    const caller = await timed.server.call(await timed.customer());
    await caller.say("say ok");
    await caller.until(understood);
    for (const requests of [1, 2]) {
      await timed.asked("openaiSpeech", requests);
      timed.clock.advance(VOICE_QUIET_MAX_MS);
    }
    let isTold = false;
    const told = caller.until(({ type }) => type === "error").then(() => (isTold = true));
    await eventually("the error", () => {
      timed.clock.advance(100);
      return isTold ? true : undefined;
    });
    await told;
    assert.deepEqual(repliesOf(caller), []);
    await caller.hangUp();
  });

  test("fillers bridge an LLM that hangs, and then the agent apologizes", async (context) => {
    const timed = await TimedServer.for(context);
    timed.spoil({ openai: { fault: "stallBeforeFirstByte" } });
    const customer = await timed.customer({ thresholds: { fillerAfterMs: 1_500 } });
    const caller = await timed.server.call(customer);
    timed.clock.advance(1_000);
    // Synthesizes five phrases, one after the other, before they are needed.
    await timed.asked("openaiSpeech", 5);
    await caller.say("say ok");
    await caller.until(understood);
    await timed.asked("openai", 1);
    timed.clock.advance(1_500);
    await caller.until(spoke);
    timed.clock.advance(STALL_MS);
    await timed.asked("openai", 2);
    timed.clock.advance(STALL_MS);
    await eventually("the apology", () => {
      timed.clock.advance(100);
      return repliesOf(caller).includes(APOLOGY) ? true : undefined;
    });
    await caller.hangUp();
    const call = await timed.server.endedCall(customer);
    const said = call.transcript.map(({ text }) => text);
    assert.match(said[1] ?? "", /^One moment\./);
    assert.equal(said.at(-1), APOLOGY);
  });

  test("an STT vendor that does not respond in time ends the call as failed", async (context) => {
    const timed = await TimedServer.for(context);
    timed.spoil({ deepgram: { fault: "stallHandshake" } });
    const customer = await timed.customer();
    const caller = timed.server.dial(customer);
    const { sandbox } = timed.server;
    const { changes } = timed.server;
    await changes.until("the handshake", () => sandbox.openConnections > 0);
    await changes.until("the call", async () => (await timed.server.calls(customer))[0]);
    timed.clock.advance(5_000);
    await caller.until(spoke);
    timed.clock.advance(10_000);
    const reason = "speech recognition failed";
    assert.deepEqual(await closeOf(caller), { code: 1011, reason, error: reason });
    assert.equal((await timed.server.endedCall(customer)).status, "failed");
  });
});
