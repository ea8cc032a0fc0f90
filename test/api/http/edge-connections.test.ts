import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Endpoint } from "../../../api/http/endpoints/endpoint.js";
import { RequestError } from "../../../engine/request-error.js";
import { EdgeOnLoopback, endpoint, text } from "./edge-on-loopback.js";
import { HeldEndpoint } from "./held-endpoint.js";

const MEGABYTE = 1024 * 1024;
const LENGTH = endpoint({
  method: "post",
  path: "/api/length",
  readsBody: true,
  answer: async (request) => text(String((await request.body()).length)),
});
const HEAD_OF_POST = "POST /api/length HTTP/1.1\r\nhost: x\r\n";

async function started(t: TestContext, endpoints: readonly Endpoint[]): Promise<EdgeOnLoopback> {
  const edge = await EdgeOnLoopback.start(endpoints);
  t.after(() => edge.close());
  return edge;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await nextTurn();
}

test("a body may have one megabyte, and not a byte more", async (t) => {
  const { client } = await started(t, [LENGTH]);
  const whole = await client.send("POST", "/api/length", { raw: Buffer.alloc(MEGABYTE) });
  assert.equal(whole.text, String(MEGABYTE));
  const answer = await client.exchange(
    `${HEAD_OF_POST}content-length: ${MEGABYTE + 1}\r\n\r\nthe beginning`,
  );
  assert.match(answer, /^HTTP\/1\.1 413 /);
  assert.match(answer, /"error":"body: expected at most 1048576 bytes"/);
});

test("a body without a declared length is cut off at one megabyte, too", async (t) => {
  const { client } = await started(t, [LENGTH]);
  const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  const answer = await client.exchange(
    `${HEAD_OF_POST}transfer-encoding: chunked\r\n\r\n${chunk.repeat(17)}0\r\n\r\n`,
  );
  assert.match(answer, /^HTTP\/1\.1 413 /);
});

test("a body that arrives in pieces is reassembled", async (t) => {
  const { client } = await started(t, [LENGTH]);
  const answer = await client.exchange(
    `${HEAD_OF_POST}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`,
    /\r\n\r\n5$/,
  );
  assert.match(answer, /^HTTP\/1\.1 200 /);
});

test("a refusal that does not wait for the body leaves the connection usable for the next request", async (t) => {
  const hasty = endpoint({
    method: "post",
    path: "/api/hasty",
    readsBody: true,
    answer: () => {
      throw new RequestError("rate_limited", "later");
    },
  });
  const { client } = await started(t, [hasty, LENGTH]);
  const body = "x".repeat(200_000);
  const post = `POST /api/hasty HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const next = `${HEAD_OF_POST}content-length: 3\r\n\r\nabc`;
  const answers = await client.exchange(post + next, /\r\n\r\n3$/);
  assert.match(answers, /^HTTP\/1\.1 429 [^]*HTTP\/1\.1 200 /);
});

test("a body that does not arrive in time gets 408, and its connection is closed", async (t) => {
  const { client, clock } = await started(t, [LENGTH]);
  const answer = client.exchange(`${HEAD_OF_POST}content-length: 10\r\n\r\nabc`);
  await until(() => clock.pendingTimerCount === 1);
  clock.advance(29_999);
  assert.equal(clock.pendingTimerCount, 1);
  clock.advance(1);
  assert.match(await answer, /^HTTP\/1\.1 408 [^]*the body did not arrive in time/);
});

test("a client that disconnects while it sends leaves no resources behind", async (t) => {
  const { port, server, clock, logger } = await started(t, [LENGTH]);
  const socket = connect(port, "127.0.0.1");
  socket.write(`${HEAD_OF_POST}content-length: 10\r\n\r\nabc`);
  await until(() => clock.pendingTimerCount === 1);
  socket.destroy();
  await until(() => server.openRequestCount === 0);
  assert.equal(clock.pendingTimerCount, 0);
  assert.equal(logger.ofLevel("info")[0]?.fields["status"], 499);
  assert.deepEqual(logger.ofLevel("error"), []);
});

test("a client that disconnects before its response leaves no resources behind", async (t) => {
  const held = new HeldEndpoint();
  const { port, server, logger } = await started(t, [held.endpoint]);
  const socket = connect(port, "127.0.0.1");
  socket.write("GET /api/held HTTP/1.1\r\nhost: x\r\n\r\n");
  await held.asked;
  assert.equal(server.openRequestCount, 1);
  socket.destroy();
  await until(() => server.openRequestCount === 0);
  held.release();
  await nextTurn();
  assert.deepEqual(
    logger.lines.map(({ fields }) => fields["status"]),
    [499],
  );
});

test("a drain accepts no new connections and waits for the requests in flight", async (t) => {
  const held = new HeldEndpoint();
  const { client, port, server } = await started(t, [held.endpoint]);
  const answer = client.get("/api/held");
  await held.asked;
  let isDrained = false;
  const drained = server.drain().then(() => {
    isDrained = true;
  });
  const late = connect(port, "127.0.0.1");
  const [error] = await once(late, "error");
  assert.equal(error.code, "ECONNREFUSED");
  assert.equal(isDrained, false);
  held.release();
  assert.equal((await answer).text, "at last");
  await drained;
});

test("a drain of an idle server ends at once", async (t) => {
  const { server } = await started(t, []);
  await server.drain();
});

test("invalid HTTP is refused, and the server continues", async (t) => {
  const { client } = await started(t, [LENGTH]);
  const garbage = [
    "GET /api/length\r\n\r\n",
    "POST /api/length HTTP/1.1\r\nhost: x\r\ncontent-length: many\r\n\r\n",
    "POST /api/length HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
    "POST /api/length HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    `GET /${"a".repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
    `GET / HTTP/1.1\r\nhost: x\r\nlong: ${"a".repeat(20_000)}\r\n\r\n`,
    "\u0000\u0001\u0002\u0003\r\n\r\n",
    `${"\u00ff".repeat(5_000)}\r\n\r\n`,
  ];
  for (const bytes of garbage)
    assert.doesNotMatch(await client.exchangeAndHangUp(bytes), /^HTTP\/1.1 [25]0[01]/);
  assert.equal((await client.send("POST", "/api/length", { raw: "abc" })).text, "3");
});
