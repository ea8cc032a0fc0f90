import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { after, before, type TestContext, test } from "node:test";
import { eventually } from "../system/eventually.js";
import { FrontStand, type Reply } from "./front-stand.js";
import { RecordingUpstream } from "./recording-upstream.js";

const PUBLIC_PATHS = ["/api/health", "/api/streams", "/api/streams/events"];

let front: FrontStand;

before(async () => {
  front = await FrontStand.start();
});
after(() => front.stop());

function assertCrossOrigin(reply: Reply): void {
  assert.equal(reply.headers.get("access-control-allow-origin"), "*");
}

/** Responds like the state API, with the headers that it sets itself. */
function stateApi(
  context: TestContext,
  listeners: ServerResponse[] = [],
): Promise<RecordingUpstream> {
  return RecordingUpstream.start(context, front.stateApiPort, (request, response) => {
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Cache-Control", "max-age=60");
    response.setHeader("X-Content-Type-Options", "nosniff");
    if (request.url?.startsWith("/streams/events") === true) {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write("event: snapshot\ndata: 1\n\n");
      listeners.push(response);
      return;
    }
    response
      .writeHead(200, { "Content-Type": "application/json" })
      .end(`{"path":"${request.url}"}`);
  });
}

test("a proxy that starts before the state API responds with 503, and forwards requests once it is up", async (context) => {
  for (const path of PUBLIC_PATHS) {
    const reply = await front.ask("GET", path);
    assert.equal(reply.status, 503, path);
    assert.equal(reply.headers.get("content-type"), "application/json");
    assert.equal(reply.headers.get("cache-control"), "no-store");
    assert.equal(reply.headers.get("retry-after"), "2");
    assertCrossOrigin(reply);
    const { success, error }: { success?: unknown; error?: unknown } = JSON.parse(reply.body);
    assert.equal(success, false);
    assert.match(String(error), /does not answer/);
  }
  await stateApi(context);
  const reply = await front.ask("GET", "/api/streams?x=1");
  assert.equal(reply.status, 200);
  assert.equal(reply.body, `{"path":"/streams?x=1"}`);
});

test("only the proxy's own CORS and cache headers are sent, not the state API's", async (context) => {
  await stateApi(context);
  const reply = await front.ask("GET", "/api/health", { Origin: "https://elsewhere.example" });
  assert.equal(reply.body, `{"path":"/health"}`);
  assertCrossOrigin(reply);
  assert.equal(reply.headers.get("cache-control"), "no-store");
  assert.equal(reply.headers.get("x-content-type-options"), "nosniff");
  const head = await front.ask("HEAD", "/api/health");
  assert.deepEqual([head.status, head.body], [200, ""]);
});

test("the proxy answers a preflight whether or not the state API is running", async () => {
  for (const path of PUBLIC_PATHS) {
    const reply = await front.ask("OPTIONS", path, {
      Origin: "https://elsewhere.example",
      "Access-Control-Request-Method": "GET",
    });
    assert.equal(reply.status, 204, path);
    assertCrossOrigin(reply);
    assert.equal(reply.headers.get("access-control-allow-methods"), "GET, HEAD, OPTIONS");
  }
});

test("methods that write are refused before the state API sees them", async (context) => {
  const api = await stateApi(context);
  for (const path of PUBLIC_PATHS) {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"]) {
      const reply = await front.ask(method, path, {}, "name=evil&remoteAddr=1.2.3.4");
      assert.equal(reply.status, 405, `${method} ${path}`);
      assert.equal(reply.headers.get("allow"), "GET, HEAD, OPTIONS");
      assertCrossOrigin(reply);
    }
  }
  assert.deepEqual(api.requests, []);
});

test("webhooks and other paths of the state API cannot be reached from outside, however they are written", async (context) => {
  const api = await stateApi(context);
  const paths = [
    "/webhook/on-publish",
    "/webhook/on-unpublish",
    "/webhook/on-auth",
    "/api/webhook/on-publish",
    "/api/webhook/on-unpublish",
    "/api//webhook/on-publish",
    "/api/../webhook/on-publish",
    "/api/streams/../webhook/on-publish",
    "/api/streams/%2e%2e/webhook/on-publish",
    "/api/streams/..%2fwebhook/on-publish",
    "/api/health/../../webhook/on-publish",
    "/api%2fwebhook/on-publish",
    "/api/%77ebhook/on-publish",
    "/hls/../webhook/on-publish",
    "/API/webhook/on-publish",
    "/api/streams%00/webhook/on-publish",
    "/api/streams/",
    "/api/streams/alpha",
    "/api/metrics",
    "/api/",
    "/api",
    "/metrics",
    "/streams",
  ];
  for (const path of paths) {
    for (const method of ["POST", "GET"]) {
      const reply = await front.ask(method, path, {}, "name=evil&remoteAddr=1.2.3.4");
      assert.ok([400, 404, 405].includes(reply.status), `${method} ${path}: ${reply.status}`);
    }
  }
  const absolute = await front.ask(
    "POST",
    "http://state-api:4000/webhook/on-publish",
    {},
    "name=a",
  );
  assert.equal(absolute.status, 404);
  assert.deepEqual(api.requests, []);
});

test("a request smuggled after another one is not executed", async (context) => {
  const api = await stateApi(context);
  const smuggled =
    "POST /webhook/on-publish HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nname=a";
  const both = { "Transfer-Encoding": "chunked" };
  const reply = await front.ask("GET", "/api/streams", both, `0\r\n\r\n${smuggled}`);
  assert.equal(reply.status, 400);
  assert.deepEqual(api.requests, []);
});

test("events arrive one by one, and the proxy closes its connection when a page is closed", async (context) => {
  const listeners: ServerResponse[] = [];
  await stateApi(context, listeners);
  const socket = connect(front.port, "127.0.0.1");
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString("utf8");
  });
  socket.write("GET /api/streams/events HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
  await eventually("the first event", () => received.includes("snapshot") || undefined);
  assert.match(received, /content-type: text\/event-stream/i);
  assert.doesNotMatch(received, /content-encoding/i);
  const [listener] = listeners;
  assert.ok(listener !== undefined);
  listener.write("event: added\ndata: 2\n\n");
  await eventually("the second event", () => received.includes("added") || undefined);
  const closed = once(listener, "close");
  socket.destroy();
  await closed;
});
