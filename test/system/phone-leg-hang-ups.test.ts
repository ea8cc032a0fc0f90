import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, test } from "node:test";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { PhoneVendorApi } from "./phone-vendor-api.js";
import { VendorCall } from "./phone-vendor-call.js";
import { VENDOR_STREAMS, type VendorStream } from "./phone-vendor-streams.js";
import { streamUrl, webhookUrl } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const TOKEN = /\btoken(?:="|" value="|=)([0-9a-f]{64,})/;
const KEY = "KEY-of-the-account";
const ENDED = JSON.stringify({ errors: [{ code: "90018", title: "Call has already ended" }] });
const BASIC = `Basic ${Buffer.from(`MA1:${KEY}`).toString("base64")}`;

interface Case {
  readonly stream: VendorStream | undefined;
  readonly call: Readonly<Record<string, string>>;
  readonly request: PhoneVendorApi["requests"][number];
  /** The vendor's response about a call that is over. */
  readonly ended: readonly [status: number, body: string];
}

const CASES: Readonly<Record<string, Case>> = {
  Telnyx: {
    stream: VENDOR_STREAMS["Telnyx in A-law"],
    call: { CallSid: "v3:ex" },
    request: {
      line: "POST /v2/calls/v3%3Aex/actions/hangup",
      authorization: `Bearer ${KEY}`,
      body: "{}",
    },
    ended: [422, ENDED],
  },
  Plivo: {
    stream: VENDOR_STREAMS["Plivo in µ-law"],
    call: { CallUUID: "c1" },
    request: { line: "DELETE /v1/Account/MA1/Call/c1/", authorization: BASIC, body: "" },
    ended: [404, '{"error": "not found"}'],
  },
};

const log = new RecordingLogger();
let api: PhoneVendorApi;
let server: TestServer;
before(async () => {
  api = await PhoneVendorApi.start();
  server = await startServer();
});
beforeEach(() => {
  api.requests.length = 0;
  log.lines.length = 0;
});
after(async () => {
  await server.close();
  api.close();
});

function startServer(): Promise<TestServer> {
  const environment = {
    TELNYX_API_KEY: KEY,
    TELNYX_BASE_URL: api.url,
    PLIVO_AUTH_ID: "MA1",
    PLIVO_AUTH_TOKEN: KEY,
    PLIVO_BASE_URL: api.url,
  };
  return TestServer.start({ log, environment });
}

async function callOf(
  on: TestServer,
  { stream, call: fields }: Case,
): Promise<{ readonly customer: Customer; readonly call: VendorCall }> {
  assert.ok(stream);
  const customer = await on.customer();
  const tools = [{ type: "hangup" } as const];
  await on.agent(customer, { persona: { greeting: "Hello there." }, tools });
  const url = webhookUrl(on, customer, { vendor: stream.vendor });
  const body = new URLSearchParams(fields);
  const headers = stream.vendor === "plivo" ? plivoSignature(url, fields) : {};
  const response = await fetch(url, { method: "POST", body, headers });
  const token = TOKEN.exec(await response.text())?.[1];
  assert.ok(token);
  const call = await VendorCall.connect(streamUrl(on, stream.vendor), stream);
  call.send(stream.start(token));
  assert.equal(await call.said(1), "Hello there.");
  call.play();
  return { customer, call };
}

/** With the account's token the server requires the vendor's signatures; this server has no other public address. */
function plivoSignature(url: string, fields: Readonly<Record<string, string>>) {
  const query = [...new URL(url).searchParams].map((pair) => pair.join("=")).sort();
  const address = url.split("?", 1).join();
  const form = Object.entries(fields).flat().join("");
  const nonce = randomUUID();
  const signed = `${address}?${query.join("&")}${form === "" ? "" : "."}${form}.${nonce}`;
  return {
    "x-plivo-signature-v3": createHmac("sha256", KEY).update(signed).digest("base64"),
    "x-plivo-signature-v3-nonce": nonce,
  };
}

async function hangUpByAgent(on: TestServer, which: Case): Promise<void> {
  const { customer, call } = await callOf(on, which);
  call.say("hang up please");
  await call.said(2);
  call.play();
  await call.closed;
  assert.equal((await on.endedCall(customer)).metadata["endReason"], "agentHungUp");
}

const errors = () => log.ofLevel("error").map(({ message }) => message);

for (const [name, which] of Object.entries(CASES)) {
  describe(`${name}, whose calls do not end with their streams`, () => {
    test("gets a hang-up request when the agent hangs up", async () => {
      await hangUpByAgent(server, which);
      await api.asked(1);
      assert.deepEqual(api.requests, [which.request]);
      assert.deepEqual(errors(), []);
    });

    test("gets none when the caller hung up", async () => {
      const { customer, call } = await callOf(server, which);
      await call.end();
      await server.endedCall(customer);
      assert.deepEqual(api.requests, []);
    });

    test("may respond that the call is already over", async () => {
      api.answers.push(which.ended);
      await hangUpByAgent(server, which);
      await api.asked(1);
      await server.settled();
      assert.deepEqual(errors(), []);
    });

    test("gets another request when the first fails", async () => {
      api.answers.push([503, "busy"]);
      await hangUpByAgent(server, which);
      await api.asked(2);
      assert.deepEqual(api.requests, [which.request, which.request]);
      assert.deepEqual(errors(), []);
    });

    test("gets none for a call that only the stream has identified", async () => {
      const { customer, call } = await callOf(server, { ...which, call: {} });
      call.say("hang up please");
      await call.said(2);
      call.play();
      await call.closed;
      await server.endedCall(customer);
      assert.deepEqual(api.requests, []);
    });
  });
}

test("a vendor's refusal is logged, without its words or the key", async () => {
  const { Telnyx: which } = CASES;
  assert.ok(which);
  const body = JSON.stringify({ errors: [{ code: "10009", detail: "no such key for +15550100" }] });
  api.answers.push([401, body]);
  await hangUpByAgent(server, which);
  await api.asked(1);
  await server.changes.until("the line in the log", () => errors().length > 0);
  assert.deepEqual(errors(), ["failed to hang up a call at its vendor"]);
  const { error } = log.ofLevel("error")[0]?.fields ?? {};
  assert.match(String(error), /telnyx answered 401: error 10009$/);
  assert.doesNotMatch(JSON.stringify(log.lines), /KEY-of|\+1555/);
});

test("a stopping server has hung up finished calls, and leaves the others to the vendor, which requests their next step", async () => {
  const stopping = await startServer();
  const { Plivo: which } = CASES;
  assert.ok(which);
  await callOf(stopping, which);
  const release = api.hold();
  await hangUpByAgent(stopping, which);
  await api.asked(1);
  let hasStopped = false;
  const stopped = stopping.stop().then(() => {
    hasStopped = true;
  });
  await stopping.settled();
  assert.equal(hasStopped, false);
  release();
  await stopped;
  assert.deepEqual(api.requests, [which.request]);
});

test("without an account only the end of the stream can end a call, and the log says so once", async () => {
  const bare = await TestServer.start({ log });
  try {
    for (const which of Object.values(CASES)) {
      await hangUpByAgent(bare, which);
      await hangUpByAgent(bare, which);
    }
    const lines = log.lines.filter(({ message }) => message.includes("closing their streams"));
    assert.deepEqual(
      lines.map(({ fields }) => fields["vendor"]),
      ["telnyx", "plivo"],
    );
    assert.deepEqual(api.requests, []);
  } finally {
    await bare.stop();
  }
});
