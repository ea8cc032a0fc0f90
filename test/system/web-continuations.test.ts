import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { AgentCall } from "../../api/client/agent-call.js";
import type { CallEvents } from "../../api/client/call-events.js";
import { defaultClock } from "../../api/client/client-clock.js";
import { OwnSound } from "../../api/client/own-sound.js";
import { freePorts } from "../../bench/livestream/free-ports.js";
import type { Caller } from "../../engine/sandbox/caller.js";
import { type Sandbox, startSandbox } from "../../engine/sandbox/sandbox.js";
import { closeOf, ended, repliesOf } from "./events.js";
import { type Customer, newDataDir, TestServer } from "./test-server.js";

const GREETING = "Hello there.";
const INTERRUPTED = "I am sorry, the line was interrupted. Where were we?";
/** On a busy machine the client's server may need longer than 30 s to restart. */
const patientClock = { ...defaultClock, monotonicMs: () => defaultClock.monotonicMs() / 10 };

let sandbox: Sandbox;
let dataDir: string;
let port: number;
let server: TestServer;
const startServer = () =>
  TestServer.start({ sandbox, dataDir, environment: { PORT: String(port) } });

before(async () => {
  sandbox = await startSandbox();
  dataDir = await newDataDir();
  [port = 0] = await freePorts(1);
  server = await startServer();
});
after(async () => {
  await server.close();
  await sandbox.close();
  await rm(dataDir, { recursive: true });
});

async function customerWithAgent(): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: GREETING } });
  return customer;
}

/** Makes the server close the customer's only call in a way that allows the caller to return. */
async function brokenCall(customer: Customer): Promise<Caller> {
  const caller = await server.call(customer);
  await caller.until(ended);
  const { slots, liveCalls } = server.parley.calls;
  const [live = ""] = slots.callsOf(customer.tenant.organization.id);
  const message = "internal error";
  liveCalls.find(live)?.end({ reason: "internalError", status: "failed", message });
  assert.equal((await closeOf(caller)).code, 1011);
  return caller;
}

/** Returns the replies that a caller with this conversation's key hears, and whether the key was accepted. */
async function cameBack(
  customer: Customer,
  {
    isSpokenTo,
    ...options
  }: { readonly sessionId: string; readonly agentId?: string; readonly isSpokenTo?: boolean },
): Promise<{ readonly heard: readonly string[]; readonly isSame: boolean }> {
  const caller = await server.call(customer, options);
  if (isSpokenTo === true) await caller.until(ended);
  await caller.say("say thank you");
  await caller.until(
    (event) => event.type === "audioEnd" && repliesOf(caller).some((text) => /thank/i.test(text)),
  );
  await caller.hangUp();
  return { heard: repliesOf(caller), isSame: caller.historyKey === options.sessionId };
}

test("a page whose server restarts continues its call by itself, and both records name each other", async () => {
  const customer = await customerWithAgent();
  const sound = new OwnSound({ onAudio: () => {} });
  const { url } = server;
  const page = { server: url, apiKey: customer.apiKey, sound, WebSocket, clock: patientClock };
  const call = new AgentCall(page);
  const states: string[] = [];
  call.on("state", (state) => states.push(state));
  const next = <Name extends keyof CallEvents>(
    name: Name,
    isIt: (event: CallEvents[Name]) => boolean = () => true,
  ) =>
    new Promise<CallEvents[Name]>((resolve) => {
      const forget = call.on(name, (event) => {
        if (!isIt(event)) return;
        forget();
        resolve(event);
      });
    });
  const isHeard = (words: RegExp) =>
    next("words", ({ kind, text }) => kind === "heard" && words.test(text));
  const greeted = isHeard(/^Hello there\.$/);
  await call.start();
  await greeted;
  const answered = isHeard(/Ada/);
  assert.ok(call.write("My name is Ada."));
  await answered;

  const mended = next("mended", (code) => code === "connectionLost");
  const apologized = isHeard(/interrupted/);
  const again = next("connected", ({ isAgain }) => isAgain);
  await server.stop();
  server = await startServer();
  await Promise.all([again, mended]);
  assert.equal((await apologized).text, INTERRUPTED);
  assert.ok(states.includes("reconnecting"), "which the page shows");
  const known = isHeard(/^Your name is Ada/);
  assert.ok(call.write("What is my name?"));
  await known;
  const over = next("ended");
  call.hangUp();
  await over;

  const [first, second, ...others] = await server.endedCalls(customer, 1);
  assert.ok(first && second);
  assert.deepEqual(others, []);
  assert.equal(first.metadata["endReason"], "serverStopping");
  assert.equal(first.metadata["continuedBy"], second.id);
  assert.equal(second.metadata["continues"], first.id);
  assert.deepEqual(
    second.transcript.map(({ text }) => text).slice(0, 2),
    [INTERRUPTED, "What is my name?"],
    "no second greeting",
  );
});

test("only the same agent of the same organization continues a broken call", async () => {
  const customer = await customerWithAgent();
  const stranger = await customerWithAgent();
  const other = await server.agent(customer, { name: "Other", persona: { greeting: GREETING } });
  const caller = await brokenCall(customer);
  const sessionId = caller.historyKey ?? "";

  const strange = await cameBack(stranger, { sessionId, isSpokenTo: true });
  assert.deepEqual([strange.heard[0], strange.isSame], [GREETING, false]);
  const elsewhere = await cameBack(customer, { sessionId, agentId: other.id });
  assert.ok(elsewhere.isSame, "the organization can still continue the conversation");
  assert.deepEqual(elsewhere.heard, ["thank you"], "another agent does not apologize");
  await server.settled();
  const unlinked = [...(await server.calls(customer)), ...(await server.calls(stranger))];
  for (const { metadata } of unlinked) {
    assert.deepEqual([metadata["continues"], metadata["continuedBy"]], [undefined, undefined]);
  }
});

test("a caller who was disconnected and returns gets one apology, and none later", async () => {
  const customer = await customerWithAgent();
  const { historyKey: sessionId = "" } = await brokenCall(customer);
  const back = await cameBack(customer, { sessionId, isSpokenTo: true });
  assert.ok(back.isSame);
  assert.equal(back.heard[0], INTERRUPTED);
  await server.settled();
  const later = await cameBack(customer, { sessionId });
  assert.deepEqual(later.heard, ["thank you"]);
  await server.settled();
  const calls = await server.calls(customer);
  assert.deepEqual(
    calls.map(({ metadata }) => metadata["continues"]),
    [undefined, calls[0]?.id, calls[1]?.id],
  );
});

test("a page whose network has changed replaces its own call although its plan is full", async () => {
  const customer = await server.customer("starter");
  await server.agent(customer, { persona: { greeting: GREETING } });
  const { maxConcurrentCalls } = customer.tenant.plan.limits;
  const callers = await Promise.all(
    Array.from({ length: maxConcurrentCalls }, () => server.call(customer)),
  );
  const [page, ...others] = callers;
  assert.ok(page);
  await page.until(ended);
  await page.say("my name is Ada");
  await page.until(ended);
  const refused = await closeOf(server.dial(customer));
  assert.equal(refused.code, 4029);
  const sessionId = page.historyKey ?? "";
  const back = await server.call(customer, { sessionId });
  assert.equal(back.historyKey, sessionId);
  assert.equal(
    (await closeOf(page)).code,
    1000,
    "a page whose network has changed does not read it",
  );
  await back.say("what is my name");
  await back.until(ended);
  assert.match(repliesOf(back)[0] ?? "", /Ada/);
  assert.equal((await closeOf(server.dial(customer))).code, 4029, "the plan's limit holds");
  await Promise.all([back, ...others].map((caller) => caller.hangUp()));
  const calls = await server.endedCalls(customer, maxConcurrentCalls + 1);
  const next = calls.find(({ metadata }) => metadata["continues"] !== undefined);
  const left = calls.find(({ id }) => id === next?.metadata["continues"]);
  assert.deepEqual(
    [left?.metadata["endReason"], left?.metadata["endMessage"]],
    ["callerLeft", "the caller reconnected on another connection"],
  );
});
