import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { callControlApis, phoneVendor } from "../../../engine/telephony/phone-vendors.js";
import {
  type CallControlSettings,
  PHONE_VENDOR_NAMES,
} from "../../../engine/telephony/telephony-settings.js";
import { SystemClock } from "../../../engine/time/clock.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { DOCUMENTED_ORIGINATE } from "../../deploy/asterisk-documentation.js";
import { httpService } from "../../doubles/http-service.js";

interface Asked {
  readonly request: IncomingMessage;
  readonly body: string;
}

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2_048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

function accountsAt(baseUrl: string): CallControlSettings {
  return {
    twilio: { accountSid: "AC1", authToken: "one", baseUrl },
    signalwire: { projectId: "P1", apiToken: "six", baseUrl },
    telnyx: { apiKey: "two", texmlAppId: "7/1", baseUrl },
    plivo: { authId: "MA/1", authToken: "three", baseUrl },
    vonage: { applicationId: "V1", privateKey, baseUrl },
    jambonz: { accountSid: "J1", apiKey: "five", baseUrl },
    asterisk: { user: "ari", password: "four", baseUrl: `${baseUrl}ari` },
  };
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
  const apis = callControlApis(accountsAt(baseUrl), { clock, connections });
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

test("the newer APIs are asked to hang up in their own ways, and in every way where it may ring", async (t) => {
  const { apis, lines } = await vendorsThatAnswer(t, 200, "{}");
  const names = ["signalwire", "vonage", "jambonz", "asterisk", "plivo"];
  for (const name of names) await apis[name]?.hangUp("call/1");
  for (const name of names) await apis[name]?.hangUp("call/1", "ringingOrAnswered");
  const asked = lines().map(([line, authorization = "", body]) => [
    line,
    String(authorization).split(".")[0],
    body,
  ]);
  const [signalwire, jambonz] = [
    "POST /through/api/laml/2010-04-01/Accounts/P1/Calls/call%2F1.json",
    "PUT /through/v1/Accounts/J1/Calls/call%2F1",
  ];
  const token = `Bearer ${Buffer.from('{"alg":"RS256","typ":"JWT"}').toString("base64url")}`;
  const vonage = ["PUT /through/v1/calls/call%2F1", token, '{"action":"hangup"}'];
  const asterisk = ["DELETE /through/ari/channels/call%2F1", basic("ari:four"), ""];
  assert.deepEqual(asked, [
    [signalwire, basic("P1:six"), "Status=completed"],
    vonage,
    [jambonz, "Bearer five", '{"call_status":"completed"}'],
    asterisk,
    ["DELETE /through/v1/Account/MA%2F1/Call/call%2F1/", basic("MA/1:three"), ""],
    [signalwire, basic("P1:six"), "Status=completed"],
    vonage,
    [jambonz, "Bearer five", '{"call_status":"no-answer"}'],
    [jambonz, "Bearer five", '{"call_status":"completed"}'],
    asterisk,
    ["DELETE /through/v1/Account/MA%2F1/Request/call%2F1/", basic("MA/1:three"), ""],
    ["DELETE /through/v1/Account/MA%2F1/Call/call%2F1/", basic("MA/1:three"), ""],
  ]);
});

const CALL = {
  to: "+15550101000",
  from: "+15550109999",
  answerUrl: "https://voice.example.com/answer",
  statusUrl: "https://voice.example.com/status",
  detectMachine: true,
  ringTimeoutSec: 60,
};

test("an answer without the call's id, such as an error in a 200, places no call", async (t) => {
  const inside = "an error in the answer of a success";
  for (const [name, answer, words] of [
    ["twilio", '{"code":20429,"message":"Too many requests"}', `${inside}: error 20429`],
    ["signalwire", '{"errors":[{"code":"x"}]}', inside],
    ["telnyx", '{"errors":[{"code":"10015"}]}', `${inside}: error 10015`],
    ["plivo", '{"error":"to is not valid"}', inside],
    ["vonage", '{"title":"Bad Request"}', inside],
    ["jambonz", '{"msg":"no"}', "unreadable answer"],
    ["asterisk", '{"message":"Allocation failed"}', "unreadable answer"],
    ["plivo", "<html>", "unreadable answer"],
  ] as const) {
    const message = `${name}: ${words}`;
    const { apis } = await vendorsThatAnswer(t, 200, answer);
    await assert.rejects(async () => apis[name]?.place?.(CALL), { fault: "badAnswer", message });
  }
});

for (const [name, answer] of [
  ["twilio", '{"code":20404,"message":"not found","status":404}'],
  ["signalwire", '{"code":20404,"message":"not found","status":404}'],
  ["telnyx", '{"errors":[{"code":"10015","title":"Bad Request"}]}'],
  ["plivo", '{"api_id":"api","error":"not found"}'],
  ["vonage", '{"type":"about:blank","title":"Bad Request","detail":"no"}'],
  ["vonage", '{"error-code":"420","error-code-label":"method failed"}'],
  ["jambonz", '{"error":"no"}'],
] as const) {
  test(`${name} does nothing if a success has an error inside: ${answer}`, async (t) => {
    const { apis } = await vendorsThatAnswer(t, 200, answer);
    const api = apis[name];
    assert.ok(api);
    const dial = { to: CALL.to, ringSec: 30, talkMaxSec: 600, resultUrl: CALL.answerUrl };
    const next = { document: "[]", url: CALL.answerUrl };
    const asked = {
      hangUp: () => api.hangUp("call"),
      redirect: () => api.redirect?.("call", next),
      transfer: () => api.transfer?.("call", dial),
      verify: () => api.verify(),
      list: () => api.numbers?.list(),
    };
    for (const [what, ask] of Object.entries(asked)) {
      const isAbsent =
        (what === "transfer" && api.transfer === undefined) ||
        (what === "list" && api.numbers === undefined);
      if (!isAbsent) await assert.rejects(async () => ask(), { fault: "badAnswer" }, what);
    }
  });
}

test("Asterisk waits longer for the local channel than its dialplan rings, which then reports", async (t) => {
  const { apis, lines } = await vendorsThatAnswer(t, 200, '{"id":"1.1"}');
  await apis["asterisk"]?.place?.(CALL);
  const [[line, , body] = []] = lines();
  assert.equal(line, "POST /through/ari/channels");
  const order = JSON.parse(String(body));
  for (const key of Object.keys(order)) {
    assert.ok(DOCUMENTED_ORIGINATE.split(" ").includes(key), `${key} is none of ARI's`);
  }
  assert.equal(order.variables.PARLEY_RING_SEC, String(CALL.ringTimeoutSec));
  assert.ok(order.timeout >= CALL.ringTimeoutSec + 5);
  assert.equal(order.formats, "ulaw");
});

test("the end of a machine's greeting is asked for in each vendor's own words, and only if it is wanted", async (t) => {
  const answer = '{"sid":"CA1","call_sid":"1","request_uuid":"1","uuid":"1","id":"1"}';
  const { apis, lines } = await vendorsThatAnswer(t, 200, answer);
  const asked: Record<string, readonly string[]> = {};
  const detection =
    /(?:MachineDetection|advanced_machine_detection|machine_detection|amd)"?[=:]("?\w+"?|\{[^}]*\})/;
  for (const name of PHONE_VENDOR_NAMES) {
    if (apis[name]?.place === undefined) continue;
    for (const detectMessageEnd of [false, true]) {
      await apis[name].place({ ...CALL, detectMessageEnd });
    }
    const bodies = lines().slice(-2);
    asked[name] = bodies.map(([, , body]) => detection.exec(String(body))?.[1] ?? "none");
  }
  const twiml = ["Enable", "DetectMessageEnd"];
  const hook = '{"actionHook":"https://voice.example.com/status"}';
  assert.deepEqual(asked, {
    twilio: twiml,
    signalwire: twiml,
    telnyx: ['"Enable"', '"DetectMessageEnd"'],
    plivo: ['"true"', '"true"'],
    vonage: ['"continue"', '{"behavior":"continue","mode":"default"}'],
    jambonz: [hook, hook],
    asterisk: ["none", "none"],
  });
});

for (const [vendor, body, answeredBy] of [
  ["twilio", "CallStatus=in-progress&AnsweredBy=machine_end_silence", "machine_end_silence"],
  ["telnyx", "AnsweredBy=machine_end_beep", "machine_end_beep"],
  ["plivo", "Machine=true", "machine"],
  ["plivo", "Machine=false", "human"],
  ["vonage", '{"status":"machine"}', "machine"],
  ["vonage", '{"status":"machine","sub_state":"beep_start"}', "machine_end_beep"],
  ["vonage", '{"status":"human","sub_state":"beep_start"}', "human"],
  ["vonage", '{"status":"completed","sub_state":"beep_start"}', ""],
  ["jambonz", '{"type":"amd_machine_detected"}', "machine"],
  ["jambonz", '{"type":"amd_machine_stopped_speaking"}', "machine"],
  ["jambonz", '{"type":"amd_tone_detected"}', "machine_end_beep"],
  ["jambonz", '{"type":"amd_no_speech_detected"}', "unknown"],
  ["jambonz", '{"type":"amd_stopped"}', ""],
] as const) {
  test(`${vendor}'s report ${body} says that ${answeredBy || "nobody in particular"} has answered`, () => {
    assert.equal(phoneVendor(vendor)?.placedReport?.(body).answeredBy, answeredBy);
  });
}

test("a private key that is none is refused without a word of it", async (t) => {
  const clock = new SystemClock();
  const own = new Connections({ clock, allowPrivateAddresses: true });
  t.after(() => own.close());
  const accounts = accountsAt("http://127.0.0.1:9/");
  const vonage = { ...accounts.vonage, privateKey: "secret words" };
  const apis = callControlApis({ ...accounts, vonage }, { clock, connections: own });
  await assert.rejects(async () => apis["vonage"]?.place?.(CALL), {
    fault: "unauthorized",
    message: "vonage: the private key is not PKCS #8 in PEM form",
  });
});

test("a vendor's abilities are those of its API and its documents", async (t) => {
  const { apis } = await vendorsThatAnswer(t, 200, "{}");
  for (const name of PHONE_VENDOR_NAMES) {
    const vendor = phoneVendor(name);
    const api = apis[name];
    assert.ok(vendor);
    const { capabilities, documents } = vendor;
    assert.equal(capabilities.place === "rest", api?.place !== undefined, `${name} places`);
    assert.equal(capabilities.place === "rest", vendor.placedReport !== undefined, name);
    const transfers =
      api?.transfer !== undefined ? "rest" : documents.dial === undefined ? "none" : "document";
    assert.equal(capabilities.transfer, transfers, `${name} transfers`);
    const comesBack = vendor.transferReport === undefined ? "none" : "comesBack";
    assert.equal(capabilities.failedTransfer, comesBack, name);
    if (capabilities.hangUp === "rest") assert.ok(api !== undefined, `${name} hangs up`);
  }
});

test("a call at Vonage with the verdict of its machine detection is live, until a state says that it is over", async (t) => {
  for (const [status, isLive] of [
    ["answered", true],
    ["machine", true],
    ["human", true],
    ["completed", false],
    ["timeout", false],
    ["cancelled", false],
  ] as const) {
    const { apis } = await vendorsThatAnswer(t, 200, JSON.stringify({ status }));
    assert.equal(await apis["vonage"]?.isLive?.("call"), isLive, status);
  }
});

test("a channel of Asterisk is live while ARI knows it, and one that no dialplan could name is no placed call", async (t) => {
  const known = await vendorsThatAnswer(t, 200, '{"id":"1.2","state":"Up"}');
  assert.equal(await known.apis["asterisk"]?.isLive?.("1.2"), true);
  const [[line] = []] = known.lines();
  assert.equal(line, "GET /through/ari/channels/1.2");
  const gone = await vendorsThatAnswer(t, 404, '{"message":"Channel not found"}');
  assert.equal(await gone.apis["asterisk"]?.isLive?.("1.2"), false);
  const broken = await vendorsThatAnswer(t, 500, "{}");
  await assert.rejects(broken.apis["asterisk"]?.isLive?.("1.2") ?? Promise.resolve());
  for (const id of ["1.2,x", "1.2)", "", "1|2"]) {
    const { apis } = await vendorsThatAnswer(t, 200, JSON.stringify({ id }));
    await assert.rejects(apis["asterisk"]?.place?.(CALL) ?? Promise.resolve(), id);
  }
});

test("Twilio and Vonage hand calls on over REST, with the document in the request", async (t) => {
  const { apis, lines } = await vendorsThatAnswer(t, 200, "{}");
  await apis["twilio"]?.transfer?.("call", {
    to: "+15550101000",
    ringSec: 30,
    talkMaxSec: 14_400,
    callerId: "+15550109999",
    resultUrl: "https://voice.example.com/",
  });
  const [[line, , body] = []] = lines();
  assert.match(String(line), /Calls\/call\.json$/);
  assert.match(
    new URLSearchParams(String(body)).get("Twiml") ?? "",
    /<Dial [^>]*timeout="30" timeLimit="14400" callerId="\+15550109999">.*\+15550101000.*<\/Dial>/,
  );
  const handingOn = Object.entries(apis).filter(([, api]) => api && "transfer" in api);
  assert.deepEqual(
    handingOn.map(([name]) => name),
    ["twilio", "vonage"],
  );
  await apis["vonage"]?.transfer?.("call", {
    to: "+15550101000",
    ringSec: 30,
    talkMaxSec: 14_400,
    callerId: "+15550109999",
    resultUrl: "https://voice.example.com/",
  });
  const [, [vonage, , words] = []] = lines();
  assert.match(String(vonage), /^PUT .*\/v1\/calls\/call$/);
  const { action, destination } = JSON.parse(String(words));
  assert.deepEqual([action, destination.type], ["transfer", "ncco"]);
  assert.deepEqual(destination.ncco, [
    {
      action: "connect",
      from: "15550109999",
      timeout: 30,
      limit: 7_200,
      endpoint: [{ type: "phone", number: "15550101000" }],
      eventType: "synchronous",
      eventUrl: ["https://voice.example.com/"],
    },
  ]);
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

test("a vendor without an account, or with a part of one, has no API", () => {
  const clock = new SystemClock();
  const connections = new Connections({ clock, allowPrivateAddresses: true });
  const context = { clock, connections };
  const baseUrl = "http://127.0.0.1:9";
  const none: CallControlSettings = {
    twilio: { accountSid: undefined, authToken: undefined, baseUrl },
    signalwire: { projectId: undefined, apiToken: undefined, baseUrl: undefined },
    telnyx: { apiKey: undefined, texmlAppId: undefined, baseUrl },
    plivo: { authId: undefined, authToken: undefined, baseUrl },
    vonage: { applicationId: undefined, privateKey: undefined, baseUrl },
    jambonz: { accountSid: undefined, apiKey: undefined, baseUrl },
    asterisk: { user: undefined, password: undefined, baseUrl: undefined },
  };
  const having = (settings: CallControlSettings) =>
    Object.entries(callControlApis(settings, context))
      .filter(([, api]) => api !== undefined)
      .map(([name]) => name);
  assert.deepEqual(having(none), []);
  const whole = accountsAt(baseUrl);
  const halves: CallControlSettings[] = [
    { ...none, twilio: { ...none.twilio, accountSid: "AC1" } },
    { ...none, twilio: { ...none.twilio, authToken: "one" } },
    { ...none, signalwire: { ...whole.signalwire, baseUrl: undefined } },
    { ...none, signalwire: { ...whole.signalwire, apiToken: undefined } },
    { ...none, telnyx: { ...whole.telnyx, apiKey: undefined } },
    { ...none, plivo: { ...none.plivo, authId: "MA1" } },
    { ...none, plivo: { ...none.plivo, authToken: "three" } },
    { ...none, vonage: { ...whole.vonage, privateKey: undefined } },
    { ...none, jambonz: { ...whole.jambonz, apiKey: undefined } },
    { ...none, asterisk: { ...whole.asterisk, password: undefined } },
  ];
  for (const half of halves) assert.deepEqual(having(half), [], JSON.stringify(half));
  const telnyx = { ...none, telnyx: { ...whole.telnyx, texmlAppId: undefined } };
  assert.deepEqual(having(telnyx), ["telnyx"]);
  const api = callControlApis(telnyx, context)["telnyx"];
  assert.ok(
    api !== undefined && !("place" in api),
    "it hangs up, and places no calls without an application",
  );
});
