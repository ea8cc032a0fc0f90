import assert from "node:assert/strict";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { BODIES_PER_OWNER_BYTES_MAX } from "../../api/http/request/request-body.js";
import type { Caller, CallerOptions } from "../../engine/sandbox/caller.js";
import type { AgentToolInput } from "../../engine/tenancy/agents/agent-tools.js";
import type { ProviderInput } from "../../engine/tenancy/providers/provider-input.js";
import type { CallRecord, Category } from "../../storage/records.js";
import { PatientClock } from "../doubles/patient-clock.js";
import { ended, repliesOf, textOf } from "./events.js";
import { eventually } from "./eventually.js";
import { OWN_VENDORS_ALLOWED } from "./own-vendors.js";
import { SilentService } from "./silent-service.js";
import { type Customer, MODELS, TestServer, VENDOR_KEY } from "./test-server.js";

const ORIGINS_MAX = 64;
const TOOLS_RUNNING_MAX = 256;
const REQUESTS_MAX = 600;
const SOCKETS_MAX = 1_600;
/** The most tools that a model may call at once. */
const TOOLS = "abcdefgh";
/**
 * Calls whose tools use up one organization's origins, calls that request further origins, and calls to origins already
 * in use.
 */
const HOLDING_CALLS = ORIGINS_MAX / TOOLS.length;
const FURTHER_CALLS = 12;
const FULL_CALLS = TOOLS_RUNNING_MAX / TOOLS.length - HOLDING_CALLS;
const BODY_BYTES = 1024 * 1024;
const NAMES = 300;
const TALKING_CALLS = 8;
/** More than are needed to measure a model's response time, and to open a circuit breaker. */
const QUICK_CHATS = 25;
const FAILED_CHATS = 5;
/** A model without measurements is waited for longer than this on any machine; one that is known to be quick is not. */
const UNLEARNED_MIN_MS = 1_000;
/** The duration of the other organization's long prompts: far longer than any reply of the greedy organization. */
const LONG_PROMPT_MS = 1_300;
const NOT_THE_PLANS = "1000000";

let server: TestServer;
let silent: SilentService;
let greedy: Customer;
let other: Customer;
const held: AbortController[] = [];
const calls: Caller[] = [];
const sockets: Socket[] = [];

before(async () => {
  server = await TestServer.start({
    clock: new PatientClock(UNLEARNED_MIN_MS),
    environment: {
      ...OWN_VENDORS_ALLOWED,
      REQUESTS_PER_MINUTE: NOT_THE_PLANS,
      VENDOR_REQUESTS_PER_MINUTE: NOT_THE_PLANS,
    },
  });
  silent = await SilentService.start();
  greedy = await server.customer();
  other = await server.customer();
});

after(async () => {
  for (const request of held) request.abort();
  for (const socket of sockets) socket.destroy();
  silent.close();
  await Promise.all(calls.map((call) => call.hangUp()));
  await server.close();
});

function toolsAt(urls: readonly string[]): readonly AgentToolInput[] {
  return urls.map((url, index) => ({
    type: "http",
    name: TOOLS[index] ?? "",
    description: "Asks a service.",
    parameters: { type: "object", properties: {} },
    url,
    method: "POST",
    timeoutMs: 10_000,
    speak: true,
  }));
}

/** Opens a call of the greedy organization that calls all tools at once. */
async function callWithTools(agentId: string): Promise<Caller> {
  const caller = await server.call(greedy, { agentId });
  calls.push(caller);
  void caller.say(TOOLS.split("").join(" ")).catch(() => undefined);
  return caller;
}

async function agentWith(urls: readonly string[]): Promise<string> {
  const { id } = await server.agent(greedy, { tools: toolsAt(urls) }, { llm: "groq" });
  return id;
}

const originsFrom = (first: number) =>
  Array.from(TOOLS, (_, index) => silent.origin(first * TOOLS.length + index));

/** Sends a request to this test's server, with the customer's key. */
async function ask({ apiKey }: Customer, path: string, body?: unknown): Promise<unknown> {
  const request = new AbortController();
  held.push(request);
  const response = await fetch(`${server.url}/api/dashboard${path}`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify(body ?? {}),
    signal: request.signal,
  });
  const text = await response.text();
  assert.ok(response.ok, `${path}: ${response.status} ${text}`);
  return response.headers.get("content-type")?.includes("json") === true ? JSON.parse(text) : text;
}

async function ownProvider(
  customer: Customer,
  category: Category,
  providerKey: "openai" | "deepgram",
  baseUrl: string,
): Promise<string> {
  const stt = category === "stt";
  const modelId = stt ? "nova-3" : category === "llm" ? MODELS.llm.openai : MODELS.tts.openai;
  const input: ProviderInput = {
    category,
    providerKey,
    name: `${baseUrl}-${category}`,
    models: [{ modelId, label: modelId }],
    settings: { baseUrl },
    credentials: { apiKey: VENDOR_KEY },
  };
  return (await server.tenancy.providers.create(customer.tenant, input)).id;
}

const Tested = v.object({ ok: v.boolean(), error: v.optional(v.string()) });

async function tried(customer: Customer, providerId: string) {
  return v.parse(Tested, await ask(customer, `/providers/${providerId}/test`));
}

/** Starts a test of the provider without waiting for it: the service never responds. */
function holdTests(providerId: string, count: number): void {
  for (let n = 0; n < count; n += 1) tried(greedy, providerId).catch(() => undefined);
}

async function chat(customer: Customer, agentId: string): Promise<string> {
  const messages = [{ role: "user", content: "say yes" }];
  return String(await ask(customer, `/agents/${agentId}/chat`, { messages }));
}

async function holdBodies(): Promise<void> {
  const url = new URL(server.url);
  const head = [
    "POST /api/dashboard/agents HTTP/1.1",
    "host: a",
    `x-api-key: ${greedy.apiKey}`,
    `content-length: ${BODY_BYTES}`,
  ].join("\r\n");
  let refused = "";
  for (let n = 0; n <= BODIES_PER_OWNER_BYTES_MAX / BODY_BYTES; n += 1) {
    const socket = connect(Number(url.port), url.hostname);
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.on("data", (part) => {
      refused += part.toString();
    });
    socket.write(`${head}\r\n\r\n`);
    socket.write(Buffer.alloc(BODY_BYTES - 1));
  }
  await eventually("the refusal of a body", () => (refused === "" ? undefined : true));
  assert.match(refused, /^HTTP\/1\.1 429 .*of this organization/s);
}

test("an organization that has used up all of its shares does not delay another one", async (context) => {
  if (process.platform !== "linux") {
    context.skip("only Linux has all of 127.0.0.0/8");
    return;
  }
  await fillTools();
  await fillConnections();
  await askForNames();
  await talkMuch();
  await learnAndBreak();
  await holdBodies();
  await otherGoesOn();
});

async function fillTools(): Promise<void> {
  const holding = Array.from({ length: HOLDING_CALLS }, (_, n) => agentWith(originsFrom(n)));
  const agents = await Promise.all(holding);
  await Promise.all(agents.map(callWithTools));
  await silent.waiting(ORIGINS_MAX);
  const further = Array.from({ length: FURTHER_CALLS }, async (_, n) => {
    const caller = await callWithTools(await agentWith(originsFrom(HOLDING_CALLS + n)));
    await caller.until((event) => textOf(event).includes("too many services"));
  });
  await Promise.all(further);
  assert.equal(silent.originCount, ORIGINS_MAX);
  for (let n = 0; n < FULL_CALLS; n += 1) await callWithTools(agents[n % agents.length] ?? "");
  await silent.waiting(TOOLS_RUNNING_MAX);
  await callWithTools(agents[0] ?? "");
}

async function fillConnections(): Promise<void> {
  const llm = await ownProvider(greedy, "llm", "openai", silent.origin(0));
  holdTests(llm, REQUESTS_MAX - TOOLS_RUNNING_MAX);
  await silent.waiting(REQUESTS_MAX);
  assert.match((await tried(greedy, llm)).error ?? "", /./);
  const stt = await ownProvider(greedy, "stt", "deepgram", silent.origin(0).replace("http", "ws"));
  holdTests(stt, SOCKETS_MAX - REQUESTS_MAX);
  await silent.waiting(SOCKETS_MAX);
  assert.equal((await tried(greedy, stt)).ok, false);
  assert.equal(silent.waitingCount, SOCKETS_MAX);
}

/** Host names that are being resolved, or wait for it, each for a request of its own. */
async function askForNames(): Promise<void> {
  const { port } = new URL(silent.origin(0));
  const provider = await ownProvider(greedy, "tts", "openai", `http://n.localhost:${port}`);
  holdTests(provider, NAMES);
}

/** Streamed voices, which are converted on the thread that handles all calls. */
async function talkMuch(): Promise<void> {
  const { id: agentId } = await server.agent(greedy, {}, { llm: "groq" });
  const talking = Array.from({ length: TALKING_CALLS }, async () => {
    const caller = await server.call(greedy, { agentId, stream: "mulaw" });
    calls.push(caller);
    await caller.say("count to 500");
    await caller.until(({ type }) => type === "audio");
  });
  await Promise.all(talking);
}

/**
 * First quick replies of a model that the other organization uses too, and then failures that only this organization
 * has.
 */
async function learnAndBreak(): Promise<void> {
  const { id: agentId } = await server.agent(greedy);
  for (let n = 0; n < QUICK_CHATS; n += 1) await chat(greedy, agentId);
  server.sandbox.faults.openai = { fault: "serverError" };
  for (let n = 0; n < FAILED_CHATS; n += 1) await chat(greedy, agentId);
  server.sandbox.faults.openai = { firstTokenMs: LONG_PROMPT_MS };
  const global = await server.providerId("llm", "openai");
  const headers = { "x-api-key": greedy.apiKey };
  const listed: unknown = await (
    await fetch(`${server.url}/api/dashboard/providers`, { headers })
  ).json();
  assert.ok(Array.isArray(listed));
  assert.equal(listed.find(({ _id }) => _id === global)?.breaker, "open");
}

async function otherGoesOn(): Promise<void> {
  const service = createServer((_, response) => void response.end("It is done."));
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const { port } = service.address() as AddressInfo;
  try {
    const groq = { providerId: await server.providerId("llm", "groq"), modelId: MODELS.llm.groq };
    const edge = { providerId: await server.providerId("tts", "edge"), modelId: MODELS.tts.edge };
    const nova = { providerId: await server.providerId("stt", "deepgram"), modelId: "nova-2" };
    const { id: agentId } = await server.agent(other, {
      tools: toolsAt([`http://localhost:${port}/`]),
      fallbacks: { llm: [groq], tts: [edge], stt: [nova] },
    });
    assert.match(await chat(other, agentId), /yes/);
    const turns = ["say yes", "say no", "a", "say good"];
    const talk = async (options: Partial<CallerOptions>) => {
      const caller = await server.call(other, options);
      for (const words of turns) {
        await caller.say(words);
        await caller.until(ended);
      }
      assert.deepEqual(repliesOf(caller), ["yes", "no", "It is done.", "good"]);
      await caller.hangUp();
    };
    await Promise.all([talk({}), talk({ stream: "mulaw" })]);
    const records = await server.endedCalls(other, 2);
    for (const record of records) assertUndisturbed(record, turns.length);
    const { openai, deepgram } = server.sandbox.urls;
    const providers = await Promise.all([
      ownProvider(other, "llm", "openai", openai),
      ownProvider(other, "tts", "openai", openai),
      ownProvider(other, "stt", "deepgram", deepgram),
      server.providerId("llm", "openai"),
      server.providerId("tts", "openai"),
      server.providerId("stt", "deepgram"),
    ]);
    for (const id of providers) assert.deepEqual(await tried(other, id), { ok: true });
  } finally {
    service.close();
    service.closeAllConnections();
  }
}

const Turn = v.object({
  llm: v.optional(v.unknown()),
  tts: v.optional(v.unknown()),
  stt: v.optional(v.unknown()),
  tools: v.optional(v.array(v.object({ output: v.string() }))),
});

/** Every turn must be served by the first vendor of each chain, at the first attempt. */
function assertUndisturbed({ status, metadata }: CallRecord, turnCount: number): void {
  assert.equal(status, "completed");
  const turns = v.parse(v.array(Turn), metadata["turns"]);
  assert.equal(turns.length, turnCount);
  for (const { llm, tts, stt } of turns) {
    assert.deepEqual(llm, { vendor: "openai", model: MODELS.llm.openai });
    if (tts !== undefined) assert.deepEqual(tts, { vendor: "openai", model: MODELS.tts.openai });
    assert.deepEqual(stt, { vendor: "deepgram", model: "nova-3" });
  }
  const outputs = turns.flatMap(({ tools = [] }) => tools.map(({ output }) => output));
  assert.deepEqual(outputs, [JSON.stringify({ ok: true, status: 200, body: "It is done." })]);
}
