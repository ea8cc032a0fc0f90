import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { BODY_BYTES_MAX } from "../../api/contract/route.js";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { Caller } from "../../engine/sandbox/caller.js";
import { PhoneCaller } from "../../engine/sandbox/phone-caller.js";
import { ended } from "../system/events.js";
import { heard } from "../system/telephone-stand.js";
import { type Customer, TestServer } from "../system/test-server.js";
import { NginxStand } from "./nginx-stand.js";

// The stand signs its certificate itself.
process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";

const SIGN_INS_MAX = 3;

let stand: NginxStand;
let server: TestServer;
let customer: Customer;
let base: string;

before(async () => {
  const [upstreamPort = 0] = await freePorts(1);
  stand = await NginxStand.start({ upstreamPort });
  base = `https://127.0.0.1:${stand.port}`;
  server = await TestServer.start({
    environment: {
      PORT: String(upstreamPort),
      PUBLIC_BASE_URL: base,
      TRUSTED_PROXIES: "127.0.0.1",
      AUTH_REQUESTS_PER_MINUTE: String(SIGN_INS_MAX),
    },
  });
  customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hello there." } });
});
after(async () => {
  await stand.stop();
  await server.close();
});

test("a browser calls through nginx, and no log holds its key", async () => {
  const caller = await Caller.connect({ url: base, apiKey: customer.apiKey });
  await caller.until(ended);
  await caller.say("say thank you");
  await caller.until(ended);
  await caller.hangUp();
  const spoken = (await caller.heard()).map(({ text }) => text);
  assert.deepEqual(spoken, ["Hello there.", "thank you"]);
  assert.doesNotMatch(stand.logs, /vk_/);
  assert.match(stand.accessLines.at(-1) ?? "", /"GET \/ws\/voice" 101 .*upstream_status=101 /);
});

test("a telephone call comes through nginx, webhook and stream, and no log holds its key", async () => {
  const webhookUrl = `${base}/api/telephony/voice?api_key=${customer.apiKey}`;
  const caller = await PhoneCaller.call({ webhookUrl });
  await heard(caller, "Hello there.");
  await caller.hangUp();
  assert.doesNotMatch(stand.logs, /vk_/);
  const [webhook, stream] = stand.accessLines.slice(-2);
  assert.match(webhook ?? "", /"POST \/api\/telephony\/voice" 200 /);
  assert.match(stream ?? "", /"GET \/ws\/telephony\/stream" 101 /);
});

test("a call that is refused gets the server's own close code", async () => {
  const socket = new WebSocket(`${base.replace("http", "ws")}/ws/voice?api_key=vk_wrong`);
  const [code] = await once(socket, "close");
  assert.equal(code, 4001);
  assert.doesNotMatch(stand.logs, /vk_/);
});

test("bodies may be as large as the server's own limit, and no larger", async () => {
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

test("the server counts by the client that nginx saw, whatever the client says of itself", async () => {
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

test("metrics stay inside, however their path is written", async () => {
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

test("nothing but a WebSocket is upgraded", async () => {
  const answer = await stand.exchange(
    "GET /ws/voice HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n",
  );
  assert.doesNotMatch(answer, /^HTTP\/1\.1 101/);
});
