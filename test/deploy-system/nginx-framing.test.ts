import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { replaced } from "../../bench/kills/several-nginx.js";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { type Customer, TestServer } from "../system/test-server.js";
import { NginxStand } from "./nginx-stand.js";

const PATH = "/api/dashboard/api-keys";

let stand: NginxStand;
let server: TestServer;
let customer: Customer;

before(async () => {
  const [upstreamPort = 0] = await freePorts(1);
  stand = await NginxStand.start({
    upstreamPort,
    // As in Debian's nginx.conf, so that one connection may carry several requests.
    change: (conf) =>
      replaced(conf, "server_tokens off;", "server_tokens off; keepalive_timeout 65;"),
  });
  server = await TestServer.start({
    environment: { PORT: String(upstreamPort), TRUSTED_PROXIES: "127.0.0.1" },
  });
  customer = await server.customer();
});
after(async () => {
  await stand.stop();
  await server.close();
});

function keyRequest(name: string, framing: (body: string) => string, more = ""): string {
  const body = JSON.stringify({ name });
  const head = `POST ${PATH} HTTP/1.1\r\nhost: voice.example.com\r\ncontent-type: application/json\r\n`;
  return `${head}x-api-key: ${customer.apiKey}\r\n${more}${framing(body)}`;
}

const byLength = (body: string) => `content-length: ${body.length}\r\n\r\n${body}`;
const byChunks = (coding: string) => (body: string) =>
  `transfer-encoding: ${coding}\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

async function names(): Promise<readonly string[]> {
  const keys = await server.tenancy.apiKeys.list(customer.tenant.organization.id);
  return keys.map(({ name }) => name).reverse();
}

test("nginx refuses ambiguous framing, and the server behind it executes no request", async () => {
  const before = await names();
  const behind = keyRequest("Behind", byLength, "connection: close\r\n");
  const framings: readonly ((body: string) => string)[] = [
    (body) => `content-length: 2\r\n${byLength(body)}`,
    (body) => `content-length: ${body.length}\r\n${byLength(body)}`,
    (body) => `content-length: +${body.length}\r\n\r\n${body}`,
    (body) => `content-length: 2\r\n${byChunks("chunked")(body)}`,
    byChunks("xchunked"),
    byChunks("gzip"),
    byChunks("chunked, identity"),
    byChunks("gzip, chunked"),
    byChunks("chunked\r\ntransfer-encoding: identity"),
  ];
  for (const framing of framings) {
    const request = keyRequest("Misframed", framing);
    const answers = await stand.exchange(request + behind);
    assert.match(answers, /^HTTP\/1\.1 (400|501) /, request);
    assert.doesNotMatch(answers, /HTTP\/1\.1 201/, request);
  }
  assert.deepEqual(await names(), before);
});

test("pipelined requests through nginx are executed and answered one after the other", async () => {
  const before = await names();
  const answers = await stand.exchange(
    keyRequest("One", byLength) +
      keyRequest("Two", byChunks("chunked")) +
      keyRequest("Three", byLength, "connection: close\r\n"),
  );
  assert.equal(answers.match(/HTTP\/1\.1 201/g)?.length, 3, answers);
  assert.deepEqual(
    [...answers.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name),
    ["One", "Two", "Three"],
  );
  assert.deepEqual(await names(), [...before, "One", "Two", "Three"]);
});
