import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { signatureHeader } from "../../engine/sandbox/telephone/phone-webhook.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { VendorCall } from "./phone-vendor-call.js";
import { VENDOR_DOCUMENTS } from "./phone-vendor-documents.js";
import { VENDOR_STREAMS } from "./phone-vendor-streams.js";
import { heard } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";
import { AUTH_TOKEN, TwilioStand } from "./twilio-stand.js";

const FROM_NOBODYS = "+15550109999";
const TRANSFER_TO = "sip:desk&a@b.example";

let stand: TwilioStand;
let server: TestServer;
const log = new RecordingLogger();

before(async () => {
  stand = await TwilioStand.start();
  server = await TestServer.start({ environment: stand.environment, log });
  await stand.leadTo(server.parley.port);
});
after(async () => {
  await server.settled();
  await server.stop();
  stand.close();
});

const Queued = v.object({ id: v.string(), status: v.literal("queued"), agentId: v.string() });

async function post(on: TestServer, { apiKey }: Customer, body: unknown) {
  const response = await fetch(`${on.url}/api/dashboard/calls`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  return { status: response.status, answer };
}

let lastNumber = 15_550_400_000;

/** Assigns a number from which only this customer may call. */
async function newNumber(on: TestServer, { email }: Customer): Promise<string> {
  lastNumber += 1;
  await on.tenancy.phoneNumbers.allow(email, `+${lastNumber}`);
  await on.tenancy.dialTargets.allow(email, "+1555");
  await on.tenancy.dialTargets.allow(email, TRANSFER_TO);
  return `+${lastNumber}`;
}

async function place(customer: Customer, agentId: string, to: string) {
  const from = await newNumber(server, customer);
  const { status, answer } = await post(server, customer, { agentId, to, from });
  assert.equal(status, 201, JSON.stringify(answer));
  return v.parse(Queued, answer);
}

test("a placed call is answered, talks, and is recorded under the id from the response", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer, { persona: { greeting: "hello there" } });
  const { id, agentId } = await place(customer, agent.id, "+15550101000");
  assert.equal(agentId, agent.id);
  const caller = await stand.of("+15550101000", "the answer", (call) => call.caller);
  while (!/hello there/i.test(caller.said())) await caller.until(() => true);
  await caller.hangUp();
  const call = await server.endedCall(customer);
  assert.deepEqual(
    [call.id, call.sessionId, call.channel, call.status, call.metadata["endReason"]],
    [id, id, "phone", "completed", "callerLeft"],
  );
  assert.equal(
    call.metadata["apiKeyId"],
    customer.apiKeyId,
    "its usage counts at the key that placed it",
  );
  const reports = await stand.of("+15550101000", "the last report", ({ reports: all }) =>
    all.includes("completed 204") ? all : undefined,
  );
  assert.deepEqual(reports, ["ringing 204", "in-progress 204", "human 204", "completed 204"]);
  await answeredBy(customer, "human");
});

for (const [to, format] of [
  ["+15550160005", "G722"],
  ["+15550170005", "OPUS"],
  ["+15550180005", "AMR-WB"],
] as const) {
  test(`a placed call with ${format} audio ends immediately, and its record, the log and the callee get the reason`, async () => {
    log.lines.length = 0;
    const customer = await server.customer();
    const agent = await server.agent(customer);
    const { id } = await place(customer, agent.id, to);
    const form = await stand.of(to, "the call", (call) => call.form);
    const callSid = `CA${"0".repeat(32)}`;
    const answerUrl = form.get("Url") ?? "";
    const document = await (
      await tell(answerUrl, { CallSid: callSid, CallStatus: "in-progress" })
    ).text();
    const step = VENDOR_DOCUMENTS["twilio"]?.read(document);
    assert.ok(step?.url !== undefined && step.next !== undefined, document);
    const stream = VENDOR_STREAMS["Twilio in µ-law"];
    assert.ok(stream);
    const phone = await VendorCall.connect(step.url, stream);
    const mediaFormat = { encoding: `audio/${format}`, sampleRate: 8_000, channels: 1 };
    const start = { streamSid: "MZ1", callSid, mediaFormat, customParameters: step.parameters };
    phone.send(JSON.stringify({ event: "start", streamSid: "MZ1", start }));
    assert.equal(await phone.closed, 1003);
    const call = await server.endedCall(customer);
    assert.deepEqual(
      [call.id, call.status, call.metadata["endReason"], call.metadata["direction"]],
      [id, "failed", "unsupportedAudio", "outbound"],
    );
    assert.ok(String(call.metadata["endMessage"]).includes(format));
    const [line] = log.ofLevel("warn");
    assert.match(line?.message ?? "", /audio format is not supported/);
    assert.ok(JSON.stringify(line).includes(format), JSON.stringify(line));
    const ended = { CallSid: callSid, CallStatus: "in-progress" };
    const last = await (await tell(step.next, ended)).text();
    assert.match(last, /<Say>[^<]*format is not supported[^<]*<\/Say><Hangup\/>/);
    assert.equal((await server.calls(customer)).length, 1);
  });
}

test("calls are placed only to the targets that the operator allows the organization", async () => {
  const customer = await server.customer();
  const { id: agentId } = await server.agent(customer);
  const from = await newNumber(server, customer);
  for (const to of ["+4930901820", "+15540101000"]) {
    const { status, answer } = await post(server, customer, { agentId, to, from });
    assert.equal(status, 403, JSON.stringify(answer));
    assert.match(JSON.stringify(answer), /to: expected a number that .* allowed/);
  }
});

for (const [to, reason] of [
  ["+15550100001", "busy"],
  ["+15550100002", "noAnswer"],
  ["+15550100003", "vendorFailed"],
  ["+15550100004", "machine"],
] as const) {
  test(`a call that ends as ${reason} is recorded as failed, once`, async () => {
    const customer = await server.customer();
    const agent = await server.agent(customer);
    const { id } = await place(customer, agent.id, to);
    const call = await server.endedCall(customer);
    assert.deepEqual(
      [call.id, call.channel, call.status, call.metadata["endReason"]],
      [id, "phone", "failed", reason],
    );
    assert.equal(call.metadata["apiKeyId"], customer.apiKeyId);
    if (reason === "machine") await answeredBy(customer, "machine_start");
    const url = await stand.of(
      to,
      "the call",
      ({ form }) => form.get("StatusCallback") ?? undefined,
    );
    assert.equal((await report(url, "busy")).status, 204, "a report may come twice");
    assert.equal((await server.calls(customer)).length, 1);
  });
}

test("the answering party is recorded for a call that never reached its agent, too", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer);
  const to = "+15550140005";
  await place(customer, agent.id, to);
  const url = await stand.of(to, "the call", ({ form }) => form.get("StatusCallback") ?? undefined);
  for (const words of ["human", "<script>"]) {
    assert.equal((await tell(url, { CallSid: "CA1", AnsweredBy: words })).status, 204);
  }
  assert.equal((await report(url, "completed")).status, 204);
  await answeredBy(customer, "human");
  const { status, metadata } = await server.endedCall(customer);
  assert.deepEqual([status, metadata["endReason"]], ["failed", "notConnected"]);
});

test("an agent's transfer redirects the call at the vendor before the stream is closed", async () => {
  const customer = await server.customer();
  const tools = [{ type: "transfer", to: TRANSFER_TO } as const];
  const agent = await server.agent(customer, { tools });
  await place(customer, agent.id, "+15550102000");
  const caller = await stand.of("+15550102000", "the answer", (call) => call.caller);
  await caller.say("transfer me please");
  const [update] = await stand.of("+15550102000", "the update", ({ updates }) =>
    updates.length > 0 ? updates : undefined,
  );
  assert.match(
    update?.get("Twiml") ?? "",
    /<Dial [^>]+><Sip>sip:desk&amp;a@b\.example<\/Sip><\/Dial>/,
  );
  const call = await server.endedCall(customer);
  assert.equal(call.metadata["endReason"], "transferred");
});

test("a placed call whose transfer is busy returns to its agent, and one whose stream breaks continues", async () => {
  const customer = await server.customer();
  const tools = [{ type: "transfer", to: "+15550100001" } as const];
  const agent = await server.agent(customer, { tools });
  await place(customer, agent.id, "+15550102002");
  const caller = await stand.of("+15550102002", "the answer", (call) => call.caller);
  await caller.say("transfer me please");
  const again = await stand.of("+15550102002", "the next stream", (call) =>
    call.caller === caller ? undefined : call.caller,
  );
  await heard(again, "the line is busy");
  again.drop();
  const third = await again.continue();
  await heard(third, "the line was interrupted");
  await third.hangUp();
  const [first, second, last] = await server.endedCalls(customer, 3);
  const { result, reason } = Object(first?.metadata["transfer"]);
  assert.deepEqual([result, reason], ["busy", "busy"]);
  assert.equal(first?.metadata["endReason"], "transferFailed");
  assert.equal(second?.metadata["continues"], first?.id);
  assert.equal(last?.metadata["continues"], second?.id);
  assert.equal(last?.metadata["apiKeyId"], customer.apiKeyId);
});

test("an answering machine that is reported after one answered turn does not end the call", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer);
  await place(customer, agent.id, "+15550102003");
  const { caller, form } = await stand.of("+15550102003", "the answer", (call) =>
    call.caller === undefined ? undefined : { caller: call.caller, form: call.form },
  );
  for (const word of ["one", "two", "three"]) {
    await caller.say(`say ${word}`);
    await heard(caller, word);
    if (word !== "one") continue;
    const verdict = { CallSid: "CA1", AnsweredBy: "machine_start" };
    assert.equal((await tell(form.get("StatusCallback") ?? "", verdict)).status, 204);
  }
  await caller.hangUp();
  const { status, metadata } = await server.endedCall(customer);
  assert.deepEqual([status, metadata["endReason"]], ["completed", "callerLeft"]);
  assert.deepEqual([metadata["outcome"], metadata["voicemail"]], ["answered", undefined]);
});

test("a caller whose transfer the vendor refuses stays with the agent, who says so", async () => {
  const customer = await server.customer();
  const tools = [{ type: "transfer", to: TRANSFER_TO } as const];
  const agent = await server.agent(customer, { tools });
  await place(customer, agent.id, "+15550102001");
  const caller = await stand.of("+15550102001", "the answer", (call) => call.caller);
  stand.faults.twilio = { fault: "serverError", times: 1 };
  await caller.say("transfer me please");
  await heard(caller, "I could not put you through.");
  const { length } = caller.playedText();
  await caller.say("say hello");
  while (caller.playedText().length === length) await caller.until(() => true);
  await caller.hangUp();
  const { status, metadata } = await server.endedCall(customer);
  assert.deepEqual([status, metadata["endReason"]], ["completed", "callerLeft"]);
});

test("a ringing call occupies a slot of the plan, and is hung up when the server stops", async () => {
  const other = await TestServer.start({ environment: stand.environment });
  try {
    const customer = await other.customer("free");
    const agent = await other.agent(customer, {}, { llm: "groq", tts: "edge" });
    await stand.leadTo(other.parley.port);
    const from = await newNumber(other, customer);
    const body = { agentId: agent.id, to: "+15550110005", from };
    const { maxConcurrentCalls } = customer.tenant.plan.limits;
    for (let n = 0; n < maxConcurrentCalls; n += 1) {
      assert.equal((await post(other, customer, body)).status, 201);
    }
    assert.equal((await post(other, customer, body)).status, 429);
    other.parley.calls.endAll();
    const calls = await other.endedCalls(customer, maxConcurrentCalls);
    assert.ok(calls.every(({ metadata }) => metadata["endReason"] === "serverStopping"));
    const update = await stand.of(body.to, "the hang-up", ({ updates }) => updates[0]);
    assert.equal(update.get("Status"), "completed");
  } finally {
    await stand.leadTo(server.parley.port);
    await other.stop();
  }
});

test("an invalid number, another organization's agent, and a number that the vendor rejects are refused", async () => {
  const [customer, stranger] = [await server.customer(), await server.customer()];
  const agent = await server.agent(customer);
  const from = await newNumber(server, customer);
  const good = { agentId: agent.id, to: "+15550101000", from };
  for (const wrong of [{ to: "15550101000" }, { from: "+0123456789" }, { to: "sip:a@b.example" }]) {
    assert.equal((await post(server, customer, { ...good, ...wrong })).status, 400);
  }
  assert.equal((await post(server, stranger, good)).status, 404);
  const refused = await post(server, customer, { ...good, to: "+15550100009" });
  assert.equal(refused.status, 400);
  assert.match(JSON.stringify(refused.answer), /error 21211/);
  assert.deepEqual(await server.calls(stranger), []);
});

test("no call is placed from a number that is unknown, another organization's, or revoked", async () => {
  const [customer, stranger] = [await server.customer(), await server.customer()];
  const agent = await server.agent(customer);
  const theirs = await newNumber(server, stranger);
  const revoked = await newNumber(server, customer);
  await server.tenancy.phoneNumbers.revoke(revoked);
  const placedBefore = stand.simulator.calls.length;
  for (const from of [FROM_NOBODYS, theirs, revoked]) {
    const body = { agentId: agent.id, to: "+15550101000", from };
    const { status, answer } = await post(server, customer, body);
    assert.equal(status, 403);
    assert.match(JSON.stringify(answer), /"error":"from: expected a number that/);
  }
  assert.equal(stand.simulator.calls.length, placedBefore);
  assert.deepEqual(await server.calls(customer), []);
});

test("with simulated vendors, agents may call from any number", async () => {
  const environment = { ...stand.environment, NODE_ENV: "development", SANDBOX: "on" };
  const other = await TestServer.start({ environment });
  try {
    const customer = await other.customer();
    const agent = await other.agent(customer);
    const body = { agentId: agent.id, to: "+15550130005", from: FROM_NOBODYS };
    assert.equal((await post(other, customer, body)).status, 201);
    other.parley.calls.endAll();
    await other.endedCall(customer);
  } finally {
    await other.stop();
  }
});

test("a server without the required settings says which ones are missing", async () => {
  const bare = await TestServer.start({ environment: { TWILIO_AUTH_TOKEN: AUTH_TOKEN } });
  try {
    const customer = await bare.customer();
    const agent = await bare.agent(customer);
    const { status, answer } = await post(bare, customer, {
      agentId: agent.id,
      to: "+15550101000",
      from: FROM_NOBODYS,
    });
    assert.equal(status, 503);
    assert.match(JSON.stringify(answer), /TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN, PUBLIC_BASE_URL/);
  } finally {
    await bare.stop();
  }
});

test("reports with a wrong signature or without a token are refused", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer);
  await place(customer, agent.id, "+15550120002");
  const url = await stand.of("+15550120002", "the call", ({ form }) => form.get("StatusCallback"));
  assert.ok(url);
  const unsigned = await fetch(url, {
    method: "POST",
    body: new URLSearchParams({ CallSid: "1" }),
  });
  assert.equal(unsigned.status, 403);
  assert.equal((await report(`${url}x`, "busy")).status, 401);
  await server.endedCall(customer);
});

test("numbers and tokens are never logged", () => {
  const lines = JSON.stringify(log.lines);
  assert.doesNotMatch(lines, /\+1555/);
  assert.ok(!lines.includes(AUTH_TOKEN));
});

/** Resolves when the call's record has this answering party. */
function answeredBy(customer: Customer, expected: string): Promise<true> {
  return server.changes.until(`an answer by ${expected}`, async () => {
    const [call] = await server.calls(customer);
    return call?.metadata["answeredBy"] === expected ? true : undefined;
  });
}

function report(url: string, status: string): Promise<Response> {
  return tell(url, { CallSid: `CA${"0".repeat(32)}`, CallStatus: status });
}

function tell(url: string, fields: Readonly<Record<string, string>>): Promise<Response> {
  const headers = signatureHeader(url, fields, AUTH_TOKEN);
  return fetch(url, { method: "POST", headers, body: new URLSearchParams(fields) });
}
