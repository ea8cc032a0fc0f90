import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, describe, test } from "node:test";
import * as v from "valibot";
import { ACCOUNT_NUMBERS } from "../../engine/sandbox/telephone/phone-account-apis.js";
import { PhoneApiSimulator } from "../../engine/sandbox/telephone/phone-api-simulator.js";
import { signatureHeader } from "../../engine/sandbox/telephone/phone-webhook.js";
import { TwilioSimulator } from "../../engine/sandbox/telephone/twilio-simulator.js";
import { AccessTokens } from "../../engine/security/access-token.js";
import { passwordMark } from "../../engine/security/password.js";
import { phoneVendor } from "../../engine/telephony/phone-vendors.js";
import { PHONE_VENDOR_NAMES } from "../../engine/telephony/telephony-settings.js";
import { SystemClock } from "../../engine/time/clock.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { eventually } from "./eventually.js";
import { VendorCall } from "./phone-vendor-call.js";
import { VENDOR_STREAMS } from "./phone-vendor-streams.js";
import { PublicEntrance, SimulatedVendor } from "./public-entrance.js";
import { streamUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2_048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const JWT_SECRET = "j".repeat(32);
const ACCOUNT_SID = `AC${"1f".repeat(16)}`;
const AUTH_TOKEN = "the-organizations-own-token";
const [NUMBER = "", SECOND_NUMBER = ""] = ACCOUNT_NUMBERS;

const simulators = {
  twilio: new TwilioSimulator(),
  signalwire: new PhoneApiSimulator("signalwire"),
  telnyx: new PhoneApiSimulator("telnyx"),
  plivo: new PhoneApiSimulator("plivo"),
  vonage: new PhoneApiSimulator("vonage"),
  jambonz: new PhoneApiSimulator("jambonz"),
  asterisk: new PhoneApiSimulator("asterisk"),
};
type Vendor = keyof typeof simulators;
const VENDORS: readonly Vendor[] = [
  "twilio",
  "signalwire",
  "telnyx",
  "plivo",
  "vonage",
  "jambonz",
  "asterisk",
];
const IMPORTING = VENDORS.filter((vendor) => vendor !== "jambonz" && vendor !== "asterisk");

test("these are all of the vendors whose numbers are imported", () => {
  const importing = PHONE_VENDOR_NAMES.filter(
    (name) => phoneVendor(name)?.capabilities.importNumbers === "rest",
  );
  assert.deepEqual([...IMPORTING].sort(), [...importing].sort());
});

const apis = new Map<Vendor, SimulatedVendor>();
const urlOf = (vendor: Vendor) => apis.get(vendor)?.url ?? "";
let entrance: PublicEntrance;
const log = new RecordingLogger();
let server: TestServer;
let publicUrl = "";

before(async () => {
  for (const vendor of VENDORS) {
    apis.set(vendor, await SimulatedVendor.start(simulators[vendor]));
  }
  entrance = await PublicEntrance.open();
  publicUrl = entrance.url;
  const environment = {
    PUBLIC_BASE_URL: publicUrl,
    JWT_SECRET,
    ALLOW_PRIVATE_PROVIDERS: "true",
    // These two are the installation's account, not an organization's.
    TWILIO_ACCOUNT_SID: `AC${"9e".repeat(16)}`,
    TWILIO_AUTH_TOKEN: "the-installations-token",
    TWILIO_BASE_URL: urlOf("twilio"),
    SIGNALWIRE_BASE_URL: urlOf("signalwire"),
    TELNYX_BASE_URL: urlOf("telnyx"),
    PLIVO_BASE_URL: urlOf("plivo"),
    VONAGE_BASE_URL: urlOf("vonage"),
    VENDOR_REQUESTS_PER_MINUTE: "10000",
  };
  server = await TestServer.start({ environment, log });
  await entrance.leadTo(server.parley.port);
});
after(async () => {
  await server.settled();
  await server.stop();
  entrance.close();
  for (const api of apis.values()) api.close();
});

/** The form fields of a user; `secret` is the credential that the vendor checks. */
function accountAt(vendor: Vendor, secret = "key") {
  const baseUrl = urlOf(vendor);
  const accounts: Readonly<Record<Vendor, object>> = {
    twilio: { settings: { accountSid: ACCOUNT_SID }, credentials: { authToken: AUTH_TOKEN } },
    signalwire: {
      settings: { projectId: "project", baseUrl },
      credentials: { apiToken: secret, signingKey: "signing" },
    },
    telnyx: {
      settings: { texmlAppId: "17" },
      credentials: { apiKey: secret, publicKey: `${"A".repeat(43)}=` },
    },
    plivo: { settings: { authId: "MA1" }, credentials: { authToken: secret } },
    vonage: {
      settings: { applicationId: "application", apiKey: "abc" },
      credentials: { privateKey, apiSecret: secret, signatureSecret: "signature" },
    },
    jambonz: { settings: { accountSid: "account", baseUrl }, credentials: { apiKey: secret } },
    asterisk: {
      settings: { user: "ari", baseUrl: `${baseUrl}/ari` },
      credentials: { password: secret },
    },
  };
  const account = accounts[vendor];
  const wrong = secret === "key" ? {} : { credentials: { authToken: secret } };
  return { vendor, name: `Our ${vendor}`, ...account, ...(vendor === "twilio" ? wrong : {}) };
}

const Account = v.object({ id: v.string(), webhookPath: v.string() });
const Numbers = v.array(
  v.object({ number: v.string(), isImported: v.boolean(), webhookUrl: v.nullable(v.string()) }),
);
const ACCOUNTS = "/api/dashboard/telephony-accounts";

/** Only admins may change accounts, which an API key cannot do. */
async function tokenOf({ email, tenant }: Customer): Promise<string> {
  const owner = await server.database.users.findByEmail(email);
  assert.ok(owner);
  const tokens = new AccessTokens({
    secret: JWT_SECRET,
    expiresIn: "1h",
    clock: new SystemClock(),
  });
  const ids = { userId: owner.id, orgId: tenant.organization.id, email };
  return tokens.issue({ ...ids, passwordMark: passwordMark(owner.passwordHash) });
}

async function ask(customer: Customer, method: string, path: string, body?: unknown) {
  const token = await tokenOf(customer);
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  return { status: response.status, answer, text: JSON.stringify(answer) };
}

async function withAccount(vendor: Vendor, secret?: string) {
  const customer = await server.customer();
  const { status, answer, text } = await ask(customer, "POST", ACCOUNTS, accountAt(vendor, secret));
  assert.equal(status, 201, text);
  return { customer, ...v.parse(Account, answer), text };
}

/** Imports the number, which belongs to the organization until `release`. */
async function imported(vendor: Vendor, number: string, more: object = {}) {
  const account = await withAccount(vendor);
  const { customer, id } = account;
  const path = `${ACCOUNTS}/${id}/numbers`;
  const { status, text } = await ask(customer, "POST", path, { number, ...more });
  assert.equal(status, 201, text);
  const release = async () => {
    const released = await ask(
      customer,
      "DELETE",
      `/api/dashboard/phone-numbers/${encodeURIComponent(number)}`,
    );
    assert.equal(released.status, 200, released.text);
  };
  return { ...account, release };
}

for (const vendor of VENDORS) {
  describe(vendor, () => {
    test("an account is tested with its own credentials, which are never shown", async () => {
      const { customer, id, text } = await withAccount(vendor);
      assert.doesNotMatch(text, /"key"|PRIVATE KEY|organizations-own-token/);
      const tried = await ask(customer, "POST", `${ACCOUNTS}/${id}/test`);
      assert.match(tried.text, /"ok":true/);
      const other = await withAccount(vendor, "wrong");
      const { text: refused } = await ask(other.customer, "POST", `${ACCOUNTS}/${other.id}/test`);
      if (vendor === "vonage")
        assert.match(refused, /"ok":true/, "its token has no secret of ours");
      else assert.match(refused, /"ok":false.*rejects the credentials/);
    });
  });
}

/** How each vendor says no, which may come with the status of a success. */
const ERRORS: Readonly<Record<Vendor, object>> = {
  twilio: { code: 20_404, message: "not found", more_info: "https://www.twilio.com", status: 404 },
  signalwire: { code: 20_404, message: "not found", status: 404 },
  telnyx: { errors: [{ code: "10015", title: "Bad Request" }] },
  plivo: { api_id: "api", error: "app_id is not valid" },
  vonage: { "error-code": "420", "error-code-label": "method failed" },
  jambonz: { msg: "no" },
  asterisk: { message: "no" },
};

for (const vendor of IMPORTING) {
  describe(`${vendor}'s numbers`, () => {
    test("an imported number's webhook at the vendor points to this server", async () => {
      const { customer, id, webhookPath, release } = await imported(vendor, NUMBER);
      assert.equal(simulators[vendor].account.webhookOf(NUMBER), `${publicUrl}${webhookPath}`);
      const listed = await ask(customer, "GET", `${ACCOUNTS}/${id}/numbers`);
      const numbers = v.parse(Numbers, listed.answer);
      assert.deepEqual(
        numbers.map(({ number, isImported }) => [number, isImported]),
        [
          [NUMBER, true],
          [SECOND_NUMBER, false],
        ],
      );
      const again = await ask(customer, "POST", `${ACCOUNTS}/${id}/numbers`, { number: NUMBER });
      assert.equal(again.status, 201, "importing it again succeeds");
      const other = await ask(customer, "POST", `${ACCOUNTS}/${id}/numbers`, {
        number: "+15550109876",
      });
      assert.equal(other.status, 404, "it is not in the account");
      await release();
    });

    test("a success with an error inside is a failure, and the vendor's webhook stays as it was", async () => {
      const { customer, id } = await withAccount(vendor);
      const { account } = simulators[vendor];
      const before = account.webhookOf(SECOND_NUMBER);
      account.nextChange = [200, ERRORS[vendor]];
      const path = `${ACCOUNTS}/${id}/numbers`;
      const failed = await ask(customer, "POST", path, { number: SECOND_NUMBER });
      assert.equal(failed.status, 503, failed.text);
      assert.equal(account.webhookOf(SECOND_NUMBER), before);
      const number = encodeURIComponent(SECOND_NUMBER);
      await ask(customer, "DELETE", `/api/dashboard/phone-numbers/${number}`);
    });

    test("a number of one organization cannot be imported by another, and wrong credentials list nothing", async () => {
      const { release } = await imported(vendor, NUMBER, { setWebhook: false });
      const second = await withAccount(vendor);
      const path = `${ACCOUNTS}/${second.id}/numbers`;
      const taken = await ask(second.customer, "POST", path, { number: NUMBER });
      assert.equal(taken.status, 409, taken.text);
      const wrong = await withAccount(vendor, "wrong");
      const refused = await ask(wrong.customer, "GET", `${ACCOUNTS}/${wrong.id}/numbers`);
      assert.equal(refused.status, 503);
      assert.match(refused.text, /rejects the credentials/);
      await release();
    });
  });
}

for (const [vendor, credential] of [
  ["signalwire", "signingKey"],
  ["telnyx", "publicKey"],
  ["vonage", "signatureSecret"],
] as const) {
  test(`${vendor}: a webhook whose requests could not be verified is not set at the vendor`, async () => {
    const { customer, id } = await withAccount(vendor);
    const credentials = { [credential]: null };
    const { status } = await ask(customer, "PATCH", `${ACCOUNTS}/${id}`, { credentials });
    assert.equal(status, 200);
    const before = simulators[vendor].account.webhookOf(SECOND_NUMBER);
    const path = `${ACCOUNTS}/${id}/numbers`;
    const refused = await ask(customer, "POST", path, { number: SECOND_NUMBER });
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, new RegExp(`credentials\\.${credential}: expected it before`));
    assert.equal(simulators[vendor].account.webhookOf(SECOND_NUMBER), before);
    const left = await server.tenancy.phoneNumbers.recordsOf(customer.tenant.organization.id);
    assert.deepEqual(left, []);
  });
}

for (const vendor of ["jambonz", "asterisk"] as const) {
  test(`${vendor}: the organization's own server is no proof of a number's ownership`, async () => {
    const { customer, id } = await withAccount(vendor);
    const { status, text } = await ask(customer, "GET", `${ACCOUNTS}/${id}/numbers`);
    assert.equal(status, 400);
    assert.match(text, /cannot be imported/);
  });
}

const FIELDS = {
  CallSid: "CA1",
  From: "+15550001111",
  To: NUMBER,
  CallStatus: "ringing",
  Direction: "inbound",
};

async function ring(path: string, authToken: string, fields: Record<string, string> = FIELDS) {
  const headers = signatureHeader(`${publicUrl}${path}`, fields, authToken);
  const body = new URLSearchParams(fields);
  const response = await fetch(`${server.url}${path}`, { method: "POST", headers, body });
  return { status: response.status, document: await response.text() };
}

test("a webhook of the account is signed with the account's token, and its call belongs to the organization", async () => {
  const { customer, webhookPath, release } = await imported("twilio", NUMBER);
  await server.agent(customer, { persona: { greeting: "Our own line." } });
  assert.equal((await ring(webhookPath, "the-installations-token")).status, 403);
  assert.equal((await ring(webhookPath, "")).status, 403);
  const unknown = webhookPath.replace(/account=.*/, `account=${customer.tenant.organization.id}`);
  assert.equal((await ring(unknown, AUTH_TOKEN)).status, 400);
  const { status, document } = await ring(webhookPath, AUTH_TOKEN);
  assert.equal(status, 200, document);
  const token = /value="([0-9a-f]+)"/.exec(document)?.[1];
  const stream = VENDOR_STREAMS["Twilio in µ-law"];
  assert.ok(token && stream);
  const call = await VendorCall.connect(streamUrl(server), stream);
  call.send(stream.start(token));
  assert.equal(await call.said(1), "Our own line.");
  call.drop();
  // The request after the stream is signed by the same account.
  const next = /action="[^"]*(\/api\/telephony\/continue\?token=[^"]+)"/.exec(document)?.[1] ?? "";
  assert.equal((await ring(next, "the-installations-token")).status, 403);
  const over = await ring(next, AUTH_TOKEN, { ...FIELDS, CallStatus: "completed" });
  assert.match(over.document, /<Hangup\/>/);
  await server.settled();
  await release();
  const released = await ring(webhookPath, AUTH_TOKEN, { ...FIELDS, CallSid: "CA3" });
  assert.match(released.document, /not in service/, "a released number is not answered");
});

test("the installation's account cannot sign for an organization's numbers, nor an organization's account for another's", async () => {
  const { customer, release } = await imported("twilio", NUMBER, { setWebhook: false });
  await server.agent(customer, { persona: { greeting: "Our own line." } });
  const { document } = await ring("/api/telephony/voice", "the-installations-token");
  assert.match(document, /not in service/);
  const other = await withAccount("twilio");
  await server.agent(other.customer, { persona: { greeting: "Another organization." } });
  const { document: refused } = await ring(other.webhookPath, AUTH_TOKEN);
  assert.match(refused, /not in service/);
  const theirs = "+15550106666";
  await server.tenancy.phoneNumbers.allow(other.customer.email, theirs, "twilio");
  const fields = { ...FIELDS, To: theirs };
  const { document: answered } = await ring(other.webhookPath, AUTH_TOKEN, fields);
  const token = /value="([0-9a-f]+)"/.exec(answered)?.[1];
  const stream = VENDOR_STREAMS["Twilio in µ-law"];
  assert.ok(token && stream);
  const call = await VendorCall.connect(streamUrl(server), stream);
  call.send(stream.start(token));
  assert.equal(await call.said(1), "Another organization.", "the account's own organization");
  call.drop();
  await server.settled();
  await server.tenancy.phoneNumbers.revoke(theirs);
  await release();
});

test("a call from an imported number is placed, and hung up, with the organization's account", async () => {
  const { customer, id, release } = await imported("telnyx", NUMBER, { setWebhook: false });
  // The simulated vendor does not sign requests.
  await ask(customer, "PATCH", `${ACCOUNTS}/${id}`, { credentials: { publicKey: null } });
  await server.tenancy.dialTargets.allow(customer.email, "+1555");
  const { id: agentId } = await server.agent(customer);
  const order = { agentId, to: "+15550100005", from: NUMBER, detectMachine: false };
  const wrong = await ask(customer, "POST", "/api/dashboard/calls", { ...order, vendor: "plivo" });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /vendor: expected telnyx/);
  const { status, text } = await ask(customer, "POST", "/api/dashboard/calls", order);
  assert.equal(status, 201, text);
  const call = await eventually("the call", () => simulators.telnyx.calls.at(-1));
  assert.equal(call.from, NUMBER);
  await eventually("the report", () => call.reports.includes("ringing 204") || undefined);
  await call.end();
  await server.endedCall(customer);
  await server.settled();
  await release();
});

test("an organization's account without numbers is not used for calls, and the installation's is", async () => {
  const { customer } = await withAccount("telnyx");
  const { id: agentId } = await server.agent(customer);
  const order = { agentId, to: "+15550101000", from: "+15550108888", vendor: "telnyx" };
  const { status, text } = await ask(customer, "POST", "/api/dashboard/calls", order);
  assert.equal(status, 503, text);
  assert.match(text, /before the platform sets TELNYX_API_KEY/);
});

test("every field of an account is validated", async () => {
  const customer = await server.customer();
  const post = (body: unknown) => ask(customer, "POST", ACCOUNTS, body);
  const faults: readonly (readonly [body: object, words: RegExp])[] = [
    [{ vendor: "audiosocket", name: "x" }, /vendor: expected one of twilio, telnyx/],
    [{ vendor: "twilio", name: "x" }, /settings.accountSid: expected.*credentials.authToken/],
    [
      { vendor: "twilio", name: "x", settings: { accountSid: "AC1", authToken: "t" } },
      /settings.authToken: expected one of the fields accountSid/,
    ],
    [
      { ...accountAt("plivo"), credentials: { authToken: "with blank" } },
      /credentials.authToken: expected 1 to 512 printable/,
    ],
    [
      { ...accountAt("vonage"), credentials: { privateKey: "none" } },
      /credentials.privateKey: expected a private key in PEM form/,
    ],
    [
      { ...accountAt("jambonz"), settings: { accountSid: "a", baseUrl: "ftp://x" } },
      /settings.baseUrl: expected the API's address/,
    ],
  ];
  for (const [body, words] of faults) {
    const { status, text } = await post(body);
    assert.equal(status, 400, text);
    assert.match(text, words);
  }
  const { status: created, answer } = await post(accountAt("jambonz"));
  assert.equal(created, 201);
  const { id } = v.parse(Account, answer);
  assert.equal((await post(accountAt("jambonz"))).status, 409, "one for each vendor");
  const moved = { settings: { baseUrl: "https://elsewhere.example.com" } };
  const patched = await ask(customer, "PATCH", `${ACCOUNTS}/${id}`, moved);
  assert.match(patched.text, /credentials.apiKey: expected it again, since the address leads/);
  const whole = { ...moved, credentials: { apiKey: "other" }, name: "Moved" };
  assert.match((await ask(customer, "PATCH", `${ACCOUNTS}/${id}`, whole)).text, /"Moved"/);
  const log = await ask(customer, "GET", "/api/dashboard/audit?limit=100");
  assert.match(log.text, /telephonyAccount\.create/);
  assert.match(log.text, /"changes":\["name","settings","credentials"\]/);
});

test("deleting an account removes its imported numbers, and keeps those that the operator assigned", async () => {
  const { customer, id } = await imported("plivo", NUMBER);
  const own = "+15550107777";
  await server.tenancy.phoneNumbers.allow(customer.email, own, "plivo");
  const path = `/api/dashboard/phone-numbers/${encodeURIComponent(own)}`;
  const linked = await ask(customer, "PATCH", path, { agentId: null, accountId: id });
  assert.equal(linked.status, 200, linked.text);
  const kept = await ask(customer, "DELETE", path);
  assert.equal(kept.status, 409, "the operator has assigned it");
  const unlinked = await ask(
    customer,
    "PATCH",
    `/api/dashboard/phone-numbers/${encodeURIComponent(NUMBER)}`,
    { agentId: null, accountId: null },
  );
  assert.match(unlinked.text, /accountId: expected the account that the number came from/);
  assert.equal((await ask(customer, "DELETE", `${ACCOUNTS}/${id}`)).status, 200);
  const left = await server.tenancy.phoneNumbers.recordsOf(customer.tenant.organization.id);
  assert.deepEqual(
    left.map(({ number, accountId }) => [number, accountId]),
    [[own, null]],
  );
  await server.tenancy.phoneNumbers.revoke(own);
});

test("the log contains no number and no secret of an account", () => {
  assert.doesNotMatch(JSON.stringify(log.lines), /\+1555\d|organizations-own|PRIVATE KEY/);
});
