import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { signatureHeader } from "../../engine/sandbox/telephone/phone-webhook.js";
import { CredentialCipher } from "../../engine/security/credential-cipher.js";
import type { Category, OnProviderFailure } from "../../storage/records.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { PhoneVendorApi } from "./phone-vendor-api.js";
import { VendorCall } from "./phone-vendor-call.js";
import { VENDOR_STREAMS } from "./phone-vendor-streams.js";
import { streamUrl, webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const BASE = "https://calls.example.com";
const ACCOUNT_SID = `AC${"1".repeat(32)}`;
const AUTH_TOKEN = "the-vendors-auth-token";
const TRANSFER_TO = "+15550003333";
const FIELDS = { CallSid: "CA1" };

const log = new RecordingLogger();
let api: PhoneVendorApi;
let server: TestServer;
before(async () => {
  api = await PhoneVendorApi.start();
  const environment = {
    PUBLIC_BASE_URL: BASE,
    TWILIO_ACCOUNT_SID: ACCOUNT_SID,
    TWILIO_AUTH_TOKEN: AUTH_TOKEN,
    TWILIO_BASE_URL: api.url,
  };
  server = await TestServer.start({ log, environment });
});
beforeEach(() => {
  api.requests.length = 0;
  log.lines.length = 0;
});
after(async () => {
  await server.close();
  api.close();
});

interface Talk {
  readonly customer: Customer;
  readonly call: VendorCall;
}

async function callWithTransfer(): Promise<Talk> {
  const talk = await talking(TRANSFER_TO);
  talk.call.say("transfer me");
  assert.equal(await talk.call.said(2), "One moment please, I will transfer you.");
  return talk;
}

/** Resolves when the greeting has been heard. */
async function talking(
  reaches: string,
  onProviderFailure: OnProviderFailure = "end",
): Promise<Talk> {
  const talk = await dialled(reaches, onProviderFailure);
  assert.equal(await talk.call.said(1), "Hello there.");
  talk.call.play();
  return talk;
}

/** The agent's provider of the `lost` category has credentials that cannot be decrypted. */
async function dialled(
  reaches: string,
  onProviderFailure: OnProviderFailure,
  lost?: Category,
): Promise<Talk> {
  const stream = VENDOR_STREAMS["Twilio in µ-law"];
  assert.ok(stream);
  const customer = await server.customer();
  const own = lost === undefined ? {} : await sealedElsewhere(customer, lost);
  await server.tenancy.dialTargets.allow(customer.email, reaches);
  const tools = [{ type: "transfer", to: TRANSFER_TO } as const];
  const persona = { greeting: "Hello there." };
  await server.agent(customer, { persona, tools, thresholds: { onProviderFailure }, ...own });
  const url = webhookUrl(server, customer);
  const headers = signatureHeader(url.replace(server.url, BASE), FIELDS, AUTH_TOKEN);
  const body = new URLSearchParams(FIELDS);
  const response = await fetch(url, { method: "POST", headers, body });
  const token = /value="([0-9a-f]+)"/.exec(await response.text())?.[1];
  assert.ok(token);
  const call = await VendorCall.connect(streamUrl(server), stream);
  call.send(stream.start(token));
  return { customer, call };
}

async function sealedElsewhere({ tenant }: Customer, category: Category) {
  const { id } = await server.tenancy.providers.create(tenant, {
    category,
    providerKey: category === "stt" ? "deepgram" : "openai",
    name: "Ours",
    credentials: { apiKey: "sk-ours" },
    models: [{ modelId: "house", label: "House" }],
    settings: {},
  });
  const sealedCredentials = new CredentialCipher("6b".repeat(32)).seal({ apiKey: "sk-ours" });
  await server.database.providers.update(id, tenant.organization.id, { sealedCredentials }, 1);
  const model = category === "stt" ? {} : { [`${category}ModelId`]: "house" };
  return { [`${category}ProviderId`]: id, ...model };
}

test("the vendor transfers a caller, and then the stream is closed", async () => {
  const { customer, call } = await callWithTransfer();
  assert.equal(api.requests.length, 0, "the agent's words are heard first");
  call.play();
  assert.equal(await call.closed, 1000);
  const [request] = api.requests;
  assert.equal(request?.line, `POST /2010-04-01/Accounts/${ACCOUNT_SID}/Calls/CA1.json`);
  assert.match(
    new URLSearchParams(request?.body).get("Twiml") ?? "",
    /<Dial action="https:\/\/calls\.example\.com\/api\/telephony\/continue\?token=[^"]+" method="POST" timeout="30" timeLimit="7200"><Number>\+15550003333<\/Number><\/Dial>/,
  );
  const { status, metadata } = await server.endedCall(customer);
  assert.deepEqual([status, metadata["endReason"]], ["completed", "transferred"]);
});

test("callers are transferred only to the targets that the operator allows the organization", async () => {
  const { customer, call } = await talking("+4930");
  call.say("transfer me");
  const answer = await call.said(2);
  assert.notEqual(answer, "One moment please, I will transfer you.");
  call.drop();
  const { metadata } = await server.endedCall(customer);
  assert.equal(metadata["endReason"], "callerLeft");
  assert.equal(api.requests.length, 0);
});

test("a caller whose transfer the vendor refuses gets told so, and continues the call", async () => {
  api.answers.push([400, JSON.stringify({ code: 21220, message: `no ${TRANSFER_TO}` })]);
  const { customer, call } = await callWithTransfer();
  call.play();
  assert.match(await call.said(3), /^I am sorry, I could not put you through\./);
  call.play();
  call.say("what is the weather");
  assert.notEqual(await call.said(4), "");
  assert.equal(api.requests.length, 1, "the telephone's call is not hung up");
  call.drop();
  const { metadata } = await server.endedCall(customer);
  assert.equal(metadata["endReason"], "callerLeft");
  assert.match(JSON.stringify(metadata), /"kind":"transferRefused"/);
  const { to, result, reason, isRefused } = Object(metadata["transfer"]);
  assert.deepEqual(
    [to, result, reason, isRefused],
    [TRANSFER_TO, "failed", "twilio answered 400: error 21220", true],
  );
  assert.deepEqual(
    log.ofLevel("error").map(({ message }) => message),
    ["failed to transfer a call"],
  );
  assert.doesNotMatch(JSON.stringify(log.lines), /\+1555|the-vendors/);
});

const LOST_MODELS = [
  ["transfer", 200, "is transferred"],
  ["transfer", 400, "ends when the transfer fails"],
  ["end", undefined, "ends"],
] as const;
for (const [onProviderFailure, status, what] of LOST_MODELS) {
  test(`a call whose LLM is unavailable says so and ${what}`, async (context) => {
    const { faults } = server.sandbox;
    const healthy = { openai: faults.openai, groq: faults.groq };
    context.after(() => Object.assign(faults, healthy));
    if (status !== undefined) api.answers.push([status, "{}"]);
    const { customer, call } = await talking(TRANSFER_TO, onProviderFailure);
    const refusing = { fault: "unauthorized" } as const;
    Object.assign(faults, { openai: refusing, groq: refusing });
    call.say("what is the weather");
    assert.match(await call.said(2), /^I am sorry/);
    assert.equal(api.requests.length, 0, "the agent's words are heard first");
    call.play();
    await call.closed;
    const record = await server.endedCall(customer);
    assert.equal(record.status, "failed");
    assert.equal(record.metadata["endReason"], "languageModelFailed");
    await server.settled();
    const sent = api.requests.map(({ body }) => new URLSearchParams(body));
    const dialled = sent.map((each) => each.get("Twiml")?.includes(TRANSFER_TO));
    assert.deepEqual(dialled, onProviderFailure === "transfer" ? [true] : []);
  });
}

test("a call without an available STT vendor says so and is transferred", async (context) => {
  const { faults } = server.sandbox;
  const healthy = { deepgram: faults.deepgram };
  context.after(() => Object.assign(faults, healthy));
  faults.deepgram = { fault: "unauthorized" };
  const { customer, call } = await dialled(TRANSFER_TO, "transfer");
  assert.match(await call.said(1), /^I am sorry/);
  assert.equal(api.requests.length, 0, "the agent's words are heard first");
  call.play();
  await call.closed;
  const record = await server.endedCall(customer);
  assert.deepEqual([record.status, record.metadata["endReason"]], ["failed", "sttFailed"]);
  await server.settled();
  const [request] = api.requests;
  assert.ok(new URLSearchParams(request?.body).get("Twiml")?.includes(TRANSFER_TO));
});

const MISCONFIGURED = [
  ["llm", "transfer", "languageModelFailed"],
  ["llm", "end", "languageModelFailed"],
  ["stt", "transfer", "sttFailed"],
  ["tts", "transfer", "speechFailed"],
] as const;
for (const [category, onProviderFailure, endReason] of MISCONFIGURED) {
  const how = onProviderFailure === "transfer" ? "handed on" : "ended";
  test(`a call whose ${category} is unavailable is not refused: the caller is told if TTS is available, and ${how}`, async () => {
    const { customer, call } = await dialled(TRANSFER_TO, onProviderFailure, category);
    if (category !== "tts") {
      assert.match(await call.said(1), /^I am sorry/);
      call.play();
    }
    await call.closed;
    const record = await server.endedCall(customer);
    assert.deepEqual([record.status, record.metadata["endReason"]], ["failed", endReason]);
    assert.equal(record.transcript.length, category === "tts" ? 0 : 1);
    await server.settled();
    const sent = api.requests.map(({ body }) => new URLSearchParams(body).get("Twiml") ?? "");
    assert.equal(
      sent.filter((twiml) => twiml.includes(TRANSFER_TO)).length,
      Number(how === "handed on"),
    );
  });
}

const CLOSED_STREAMS = [
  ["transfer if the vendor accepts it", 200, "transferred"],
  ["hang-up if the vendor no longer knows the call", 404, "callerLeft"],
] as const;
for (const [what, status, endReason] of CLOSED_STREAMS) {
  test(`a stream that closes during the transfer request counts as a ${what}`, async () => {
    api.answers.push([status, "{}"]);
    const { customer, call } = await callWithTransfer();
    const answer = api.hold();
    call.play();
    await api.asked(1);
    call.drop();
    answer();
    const { metadata } = await server.endedCall(customer);
    assert.equal(metadata["endReason"], endReason);
    await server.settled();
  });
}
