import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { type HealthPort, openHealthPort } from "../../api/start-up/health-port.js";
import { TestServer } from "./test-server.js";

const HOST = "127.0.0.1";

let server: TestServer;
let health: HealthPort;
before(async () => {
  server = await TestServer.start();
  health = await openHealthPort({ host: HOST, port: 0, serverUrl: server.url });
});
after(async () => {
  health.close();
  await server.close();
});

/** Sends the bytes and returns everything received. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(health.port, HOST);
  socket.write(bytes);
  return text(socket);
}

test("HTTP/1.0 without Host gets the server's own responses, and the connection is closed", async () => {
  const alive = await raw("GET /api/health HTTP/1.0\r\n\r\n");
  assert.match(alive, /^HTTP\/1\.[01] 200 /);
  assert.match(alive, /connection: close/i);
  assert.match(alive, /"status":"ok"/);
  assert.doesNotMatch(alive, /transfer-encoding/i);
  const ready = await raw("GET /api/ready HTTP/1.0\r\n\r\n");
  assert.match(ready, /^HTTP\/1\.[01] 200 .*"status":"ready"/s);
});

test("HTTP/1.1 gets the same responses", async () => {
  const own = await fetch(`${server.url}/api/ready`);
  const answer = await fetch(`http://${HOST}:${health.port}/api/ready`);
  assert.equal(answer.status, own.status);
  assert.equal(answer.headers.get("content-type"), own.headers.get("content-type"));
});

test("the health port serves nothing else", async () => {
  assert.match(await raw("GET /api/plans HTTP/1.0\r\n\r\n"), /^HTTP\/1\.[01] 404 /);
  assert.match(await raw("GET /api/health?x HTTP/1.0\r\n\r\n"), /^HTTP\/1\.[01] 404 /);
  assert.match(await raw("POST /api/health HTTP/1.0\r\n\r\n"), /^HTTP\/1\.[01] 405 /);
});

test("the port responds with 503 if the server is gone, and otherwise forwards the server's own response", async () => {
  const other: Server = createServer((_, answer) => {
    answer.writeHead(503, { "content-type": "application/json", "retry-after": "5" });
    answer.end('{"status":"draining"}');
  });
  await new Promise<void>((resolve) => other.listen(0, HOST, resolve));
  const address = other.address();
  assert.ok(typeof address === "object" && address !== null);
  const serverUrl = `http://${HOST}:${address.port}`;
  const port = await openHealthPort({ host: HOST, port: 0, serverUrl });
  const ask = () => fetch(`http://${HOST}:${port.port}/api/ready`);
  const draining = await ask();
  assert.equal(draining.status, 503);
  assert.equal(draining.headers.get("retry-after"), "5");
  assert.equal(await draining.text(), '{"status":"draining"}');
  other.closeAllConnections();
  await new Promise((resolve) => other.close(resolve));
  const gone = await ask();
  assert.equal(gone.status, 503);
  assert.deepEqual(await gone.json(), {
    error: "the server does not answer",
    code: "unavailable",
  });
  port.close();
});

test("a port in use is reported with the name of its setting", async () => {
  const taken = openHealthPort({ host: HOST, port: health.port, serverUrl: server.url });
  await assert.rejects(taken, { name: "ListenError", message: /HEALTH_PORT sets another/ });
});
