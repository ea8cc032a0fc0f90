import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { LoopbackClient } from "../api/http/loopback-client.js";
import { type Customer, TestServer } from "./test-server.js";

const PROXYS_OWN = "Basic cHJveHk6c2VjcmV0";

let server: TestServer;
let customer: Customer;
before(async () => {
  server = await TestServer.start();
  customer = await server.customer();
  await server.agent(customer);
});
after(() => server.close());

type Headers = Readonly<Record<string, string>>;

function shown(): readonly (readonly [headers: Headers, query: string])[] {
  const { apiKey } = customer;
  return [
    [{ "x-api-key": apiKey, authorization: PROXYS_OWN }, ""],
    [{ authorization: `Bearer ${apiKey}` }, ""],
    [{ authorization: PROXYS_OWN }, `?api_key=${apiKey}`],
  ];
}

const REFUSED: Headers[] = [
  { authorization: PROXYS_OWN },
  { authorization: `Bearer vk_${"0".repeat(48)}` },
  { authorization: "Bearer a.b.c" },
];

/**
 * Returns the type of the first message of `/ws/voice`, which is `error` for an unauthorized caller, or the close code.
 */
async function voice(headers: Headers, query = ""): Promise<string> {
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/ws/voice${query}`, { headers });
  const outcome = await Promise.race([
    once(socket, "message").then(([data]) => String(Object(JSON.parse(String(data))).type)),
    once(socket, "close").then(([code]) => String(code)),
  ]);
  socket.close();
  return outcome;
}

async function webhook(headers: Headers, query = ""): Promise<number> {
  const answer = await fetch(`${server.url}/api/telephony/voice${query}`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
    body: "CallSid=CA1&From=%2B15550001111&To=%2B15550002222",
  });
  await answer.arrayBuffer();
  return answer.status;
}

test("/ws/voice accepts an API key next to a proxy's credentials, and as a bearer token", async () => {
  for (const [headers, query] of shown()) {
    assert.equal(await voice(headers, query), "connected", Object.keys(headers).join(" "));
  }
  for (const headers of REFUSED) assert.equal(await voice(headers), "error");
});

test("the telephony webhook accepts an API key next to a proxy's credentials, and as a bearer token", async () => {
  for (const [headers, query] of shown()) {
    assert.equal(await webhook(headers, query), 200, Object.keys(headers).join(" "));
  }
  for (const headers of REFUSED) assert.equal(await webhook(headers), 401);
});

test("a request with two Host headers, or none, is refused, and one in HTTP/1.0 gets 505", async () => {
  const client = new LoopbackClient(server.parley.port);
  for (const path of ["/api/health", "/api/ready", "/ws/voice", "/console"]) {
    for (const hosts of ["host: x\r\nhost: y\r\n", "host: x\r\nHost: x\r\n", "accept: */*\r\n"]) {
      const answer = await client.exchange(`GET ${path} HTTP/1.1\r\n${hosts}\r\n`);
      assert.match(answer, /^HTTP\/1\.1 400 /, `${path} ${hosts}`);
    }
  }
  for (const hosts of ["accept: */*\r\n", "host: x\r\n"]) {
    const answer = await client.exchange(`GET /api/health HTTP/1.0\r\n${hosts}\r\n`);
    assert.match(answer, /^HTTP\/1\.1 505 /, hosts);
  }
});
