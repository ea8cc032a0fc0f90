import assert from "node:assert/strict";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { BODY_BYTES_MAX } from "../../api/contract/routes/route.js";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { Caller } from "../../engine/sandbox/caller.js";
import { type Sandbox, startSandbox } from "../../engine/sandbox/sandbox.js";
import { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { ended } from "../system/events.js";
import { eventually } from "../system/eventually.js";
import { heard } from "../system/telephone-stand.js";
import { type Customer, newDataDir, TestServer } from "../system/test-server.js";
import { NginxStand } from "./nginx-stand.js";

// The stand's certificate is self-signed.
process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";

const SIGN_INS_MAX = 3;

let stand: NginxStand;
let server: TestServer;
let sandbox: Sandbox;
let dataDir: string;
let startServer: () => Promise<TestServer>;
let customer: Customer;
let base: string;

before(async () => {
  const [upstreamPort = 0] = await freePorts(1);
  stand = await NginxStand.start({ upstreamPort });
  base = `https://127.0.0.1:${stand.port}`;
  dataDir = await newDataDir();
  sandbox = await startSandbox();
  const options = {
    dataDir,
    sandbox,
    environment: {
      PORT: String(upstreamPort),
      PUBLIC_BASE_URL: base,
      TRUSTED_PROXIES: "127.0.0.1",
      AUTH_REQUESTS_PER_MINUTE: String(SIGN_INS_MAX),
    },
  };
  startServer = () => TestServer.start(options);
  server = await startServer();
  customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } });
});
after(async () => {
  await stand.stop();
  await server.close();
  await sandbox.close();
  await rm(dataDir, { recursive: true });
});

test("a browser calls through nginx, and no log contains its key", async () => {
  const caller = await Caller.connect({ url: base, apiKey: customer.apiKey });
  await caller.until(ended);
  await caller.say("say thank you");
  await caller.until(ended);
  await caller.hangUp();
  const spoken = (await caller.playedReplies()).map(({ text }) => text);
  assert.deepEqual(spoken, ["Hello there.", "thank you"]);
  assert.doesNotMatch(stand.logs, /vk_/);
  assert.match(stand.accessLines.at(-1) ?? "", /"GET \/ws\/voice" 101 .*upstream_status=101 /);
});

test("the webhook and the stream of a telephone call pass nginx, and no log contains its key", async () => {
  const webhookUrl = `${base}/api/telephony/voice?api_key=${customer.apiKey}`;
  const caller = await PhoneCaller.call({ webhookUrl });
  await heard(caller, "Hello there.");
  await caller.hangUp();
  assert.doesNotMatch(stand.logs, /vk_/);
  const [webhook, stream] = stand.accessLines.slice(-2);
  assert.match(webhook ?? "", /"POST \/api\/telephony\/voice" 200 /);
  assert.match(stream ?? "", /"GET \/ws\/telephony\/stream" 101 /);
});

test("a refused call gets the server's own close code", async () => {
  const socket = new WebSocket(`${base.replace("http", "ws")}/ws/voice?api_key=vk_wrong`);
  const [code] = await once(socket, "close");
  assert.equal(code, 4001);
  assert.doesNotMatch(stand.logs, /vk_/);
});

test("nginx accepts bodies up to the server's own limit", async () => {
  const post = (size: number) =>
    fetch(`${base}/api/auth/signup`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify("x".repeat(size - 2)),
    });
  const largest = await post(BODY_BYTES_MAX);
  assert.equal(largest.status, 400, "the server's answer to what is no object");
  const larger = await post(BODY_BYTES_MAX + 1);
  assert.equal(larger.status, 413);
  const error = `body: expected at most ${BODY_BYTES_MAX} bytes`;
  assert.deepEqual(await larger.json(), { success: false, error });
});

test("the server limits requests by the client address that nginx saw, whatever the client claims", async () => {
  const signIn = async (claimed: string) => {
    const answer = await fetch(`${base}/api/auth/signin`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": claimed },
      body: JSON.stringify({ email: "nobody@example.com", password: "a wrong password" }),
    });
    return answer.status;
  };
  const statuses: number[] = [];
  for (let time = 0; time < SIGN_INS_MAX + 1; time += 1) {
    statuses.push(await signIn(`203.0.113.${time}`));
  }
  assert.equal(statuses.at(-1), 429, statuses.join(" "));
});

test("metrics cannot be read through nginx, however their path is written", async () => {
  assert.equal((await fetch(`${server.url}/metrics`)).status, 200);
  for (const path of [
    "/metrics",
    "/%6detrics",
    "//metrics",
    "/api/../metrics",
    "/metrics?a=b",
    "/metrics/",
  ]) {
    const answer = await stand.exchange(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    assert.match(answer, /^HTTP\/1\.1 404 /, path);
    assert.doesNotMatch(answer, /process_cpu/);
  }
});

/** A vendor whose pauses, as long as configured, end only when the test releases them. */
function heldVendor() {
  const pausesSec: number[] = [];
  const goOn: (() => void)[] = [];
  return {
    pausesSec,
    pause: (lengthSec: number) => {
      pausesSec.push(lengthSec);
      return new Promise<void>((resolve) => goOn.push(resolve));
    },
    held: (times: number) =>
      eventually(`the vendor to be held ${times} times`, () => goOn[times - 1]),
  };
}

test("a caller whose only server restarts is held until it is back, and continues the call", async () => {
  const webhookUrl = `${base}/api/telephony/voice?api_key=${customer.apiKey}`;
  const broken = heldVendor();
  const caller = await PhoneCaller.call({ webhookUrl, pause: broken.pause });
  await heard(caller, "Hello there.");
  const before = stand.accessLines.length;
  // The server accepts no more calls, so it does not continue this one itself.
  server.parley.calls.opener.stop();
  caller.drop();
  const fresh = heldVendor();
  const [going, ringing] = [
    caller.continue(),
    PhoneCaller.call({ webhookUrl, pause: fresh.pause }),
  ];
  const whileStopping = [await broken.held(1), await fresh.held(1)];
  await server.stop();
  for (const goOn of whileStopping) goOn();
  const whileDown = [await broken.held(2), await fresh.held(2)];
  server = await startServer();
  for (const goOn of whileDown) goOn();
  const [again, another] = await Promise.all([going, ringing]);
  await heard(again, "Where were we?");
  await heard(another, "Hello there.");
  await Promise.all([again.hangUp(), another.hangUp()]);
  assert.deepEqual([...broken.pausesSec, ...fresh.pausesSec], [9, 3, 9, 3]);
  for (const path of ["continue", "voice"]) {
    const lines = await eventually("the lines of both vendors", () => {
      const own = stand.accessLines.slice(before).filter((line) => line.includes(`/${path}"`));
      return own.length >= 3 ? own : undefined;
    });
    const statuses = lines.map((line) => / (\d+) bytes=.* upstream_status=(\d+) /.exec(line));
    const read = statuses.map((found) => found?.slice(1).join(" "));
    assert.deepEqual(read, ["200 200", "200 502", "200 200"]);
  }
  assert.doesNotMatch(stand.logs, /vk_|token=/);
});

test("nginx holds a caller at most ten times, and repeats nothing from the query but a valid token", async () => {
  await server.stop();
  const ask = async (query: string) => {
    const answer = await fetch(`${base}/api/telephony/continue?${query}`, { method: "POST" });
    assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "text/xml"]);
    return answer.text();
  };
  const token = "eyJ_-9.abc";
  for (let time = 0; time < 10; time += 1) {
    const document = await ask(`token=${token}${time === 0 ? "" : `&held=${time}`}`);
    const [, url = ""] = /<Redirect method="POST">([^<]+)<\/Redirect>/.exec(document) ?? [];
    assert.equal(url, `/api/telephony/continue?token=${token}&amp;held=${time + 1}`);
  }
  const others = ["token=%3CSay%3E", "token=<Say>", "held=1", `token=${"a".repeat(1_025)}`];
  for (const query of [`token=${token}&held=10`, `token=${token}&held=-1`, ...others]) {
    const document = await ask(query);
    assert.match(document, /<Say>[^<]+ Goodbye\.<\/Say><Hangup\/>/, query);
    assert.doesNotMatch(document, /token|%3C|Redirect/, query);
  }
  await ringsOnTenTimes();
  await speaksTheVendorsLanguage();
  server = await startServer();
});

/** Must be called while the server is down. */
async function speaksTheVendorsLanguage(): Promise<void> {
  const ask = (query: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${base}/api/telephony/continue?${query}`, { method: "POST", headers });
  const plivo = { "x-plivo-signature-v3": "c2lnbmF0dXJl" };
  const held = await (await ask("token=a.b", plivo)).text();
  assert.match(held, /<Response><Wait length="3"\/><Redirect method="POST">/);
  assert.match(
    await (await ask("token=a.b&held=10", plivo)).text(),
    /<Speak>.*<\/Speak><Hangup\/>/,
  );
  const asked = await ask("token=a.b", { "content-type": "application/json" });
  assert.equal(
    asked.status,
    502,
    "a vendor that retries by itself gets no response from nginx in the server's place",
  );
  assert.equal(asked.headers.get("retry-after"), "5");
}

/** Must be called while the server is down. */
async function ringsOnTenTimes(): Promise<void> {
  const ask = (query: string) => fetch(`${base}/api/telephony/voice?${query}`, { method: "POST" });
  const key = `api_key=${customer.apiKey}`;
  const agent = `agent_id=${crypto.randomUUID()}`;
  const keyed = [key, `vendor=twilio&${key}`, `${agent}&vendor=signalwire&${key}`];
  // Without a key, the called number determines the organization.
  for (const own of [...keyed, "vendor=twilio", `vendor=signalwire&${agent}`]) {
    const vendor = own.includes("signalwire") ? "signalwire" : "twilio";
    const ownKey = own.includes(key) ? [key] : [];
    const place = [...ownKey, `vendor=${vendor}`, ...(own.includes(agent) ? [agent] : [])];
    for (const time of [0, 1, 4, 9]) {
      const answer = await ask(time === 0 ? own : `${own}&held=${time}`);
      assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "text/xml"]);
      const [, url] = /<Redirect method="POST">([^<]+)<\/Redirect>/.exec(await answer.text()) ?? [];
      const query = [...place, `held=${time + 1}`].join("&amp;");
      assert.equal(url, `/api/telephony/voice?${query}`);
    }
  }
  const others = ["held=10", "vendor=plivo", "agent_id=<Say>", "agent_id=1&held=2"];
  const queries = others.map((other) => `${key}&${other}`);
  for (const query of [...queries, `${key}x`, "api_key=vk_%3CSay", "vendor=plivo"]) {
    const answer = await ask(query);
    assert.equal(answer.status, 502, query);
    assert.equal(answer.headers.get("retry-after"), "5");
    assert.doesNotMatch(await answer.text(), /vk_|Redirect/);
  }
}

test("nginx upgrades only WebSocket requests", async () => {
  const answer = await stand.exchange(
    "GET /ws/voice HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n",
  );
  assert.doesNotMatch(answer, /^HTTP\/1\.1 101/);
});
