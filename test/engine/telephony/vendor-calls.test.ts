import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { callControlApis } from "../../../engine/telephony/phone-vendors.js";
import { SystemClock } from "../../../engine/time/clock.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { httpService } from "../../doubles/http-service.js";

interface Asked {
  readonly request: IncomingMessage;
  readonly body: string;
}

/** Every vendor's API on one socket, with the answer that a test wants, and what was asked of it. */
async function vendorsThatAnswer(context: TestContext, status: number, answer: string) {
  const asked: Asked[] = [];
  const address = await httpService(context, (request, response) => {
    void text(request).then((body) => {
      asked.push({ request, body });
      response.writeHead(status).end(answer);
    });
  });
  // With a path, as a proxy in front of a vendor has it.
  const baseUrl = `${address}/through/`;
  const clock = new SystemClock();
  const connections = new Connections({ clock, allowPrivateAddresses: true });
  context.after(() => connections.close());
  const apis = callControlApis(
    {
      twilio: { accountSid: "AC1", authToken: "one", baseUrl },
      telnyx: { apiKey: "two", baseUrl },
      plivo: { authId: "MA/1", authToken: "three", baseUrl },
    },
    { clock, connections },
  );
  const lines = () =>
    asked.map(({ request: { method, url, headers }, body }) => [
      `${method} ${url}`,
      headers.authorization,
      body,
    ]);
  return { apis, lines };
}

const basic = (account: string) => `Basic ${Buffer.from(account).toString("base64")}`;

test("each vendor is asked in its own way to hang up, with its own account", async (t) => {
  const { apis, lines } = await vendorsThatAnswer(t, 200, "{}");
  for (const name of ["twilio", "telnyx", "plivo"]) await apis[name]?.hangUp("call/1");
  assert.deepEqual(lines(), [
    [
      "POST /through/2010-04-01/Accounts/AC1/Calls/call%2F1.json",
      basic("AC1:one"),
      "Status=completed",
    ],
    ["POST /through/v2/calls/call%2F1/actions/hangup", "Bearer two", "{}"],
    ["DELETE /through/v1/Account/MA%2F1/Call/call%2F1/", basic("MA/1:three"), ""],
  ]);
});

test("only Twilio hands calls on", async (t) => {
  const { apis, lines } = await vendorsThatAnswer(t, 200, "{}");
  await apis["twilio"]?.transfer?.("call", {
    to: "+15550101000",
    ringSec: 30,
    resultUrl: "https://voice.example.com/",
  });
  const [[line, , body] = []] = lines();
  assert.match(String(line), /Calls\/call\.json$/);
  assert.match(
    new URLSearchParams(String(body)).get("Twiml") ?? "",
    /<Dial [^>]*timeout="30">.*\+15550101000.*<\/Dial>/,
  );
  const handingOn = Object.entries(apis).filter(([, api]) => api && "transfer" in api);
  assert.deepEqual(
    handingOn.map(([name]) => name),
    ["twilio"],
  );
});

test("a call that is gone needs no hanging up, in each vendor's own words", async (t) => {
  const { apis } = await vendorsThatAnswer(t, 404, "");
  for (const name of ["twilio", "telnyx", "plivo"]) await apis[name]?.hangUp("call");
  const ended = await vendorsThatAnswer(t, 422, '{"errors":[{"code":"90018"}]}');
  await ended.apis["telnyx"]?.hangUp("call");
  for (const name of ["twilio", "plivo"]) {
    await assert.rejects(async () => ended.apis[name]?.hangUp("call"), { status: 422 });
  }
});

test("another refusal is told with the vendor's number for it, and nothing else", async (t) => {
  const other = await vendorsThatAnswer(t, 422, '{"errors":[{"code":"90015","detail":"+1555"}]}');
  await assert.rejects(async () => other.apis["telnyx"]?.hangUp("call"), {
    message: "telnyx answered 422: error 90015",
    vendorCode: "90015",
  });
  await assert.rejects(async () => other.apis["plivo"]?.hangUp("call"), {
    message: "plivo answered 422",
  });
  const none = await vendorsThatAnswer(t, 500, "<html>");
  for (const name of ["twilio", "telnyx", "plivo"]) {
    await assert.rejects(async () => none.apis[name]?.hangUp("call"), {
      message: `${name} answered 500`,
      retryable: true,
    });
  }
});

test("a vendor without an account has no API", () => {
  const clock = new SystemClock();
  const connections = new Connections({ clock, allowPrivateAddresses: true });
  const context = { clock, connections };
  const baseUrl = "http://127.0.0.1:9";
  const none = { accountSid: undefined, authToken: undefined, authId: undefined, baseUrl };
  const accounts = { twilio: none, telnyx: { apiKey: undefined, baseUrl }, plivo: none };
  const having = (settings: Parameters<typeof callControlApis>[0]) =>
    Object.entries(callControlApis(settings, context))
      .filter(([, api]) => api !== undefined)
      .map(([name]) => name);
  assert.deepEqual(having(accounts), []);
  for (const half of [{ accountSid: "AC1" }, { authToken: "one" }]) {
    assert.deepEqual(having({ ...accounts, twilio: { ...none, ...half } }), []);
  }
  for (const half of [{ authId: "MA1" }, { authToken: "three" }]) {
    assert.deepEqual(having({ ...accounts, plivo: { ...none, ...half } }), []);
  }
  assert.deepEqual(having({ ...accounts, telnyx: { apiKey: "two", baseUrl } }), ["telnyx"]);
});
