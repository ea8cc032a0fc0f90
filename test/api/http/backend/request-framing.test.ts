import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpBackend, HttpResponse } from "../../../../api/http/backend/http-backend.js";
import { CHUNKS, MISFRAMED } from "../../../../bench/attack/requests/misframed-requests.js";
import { frontUnderTest } from "../../../doubles/front-under-test.js";
import { EdgeOnLoopback, endpoint, text } from "../edge-on-loopback.js";
import { LoopbackClient } from "../loopback-client.js";
import { testFronts } from "./both-fronts.js";
import { RecordingDoor } from "./recording-door.js";

const HEAD = "POST /read HTTP/1.1\r\nhost: x\r\n";
const SECOND = "GET /second HTTP/1.1\r\nhost: x\r\n\r\n";

/** The requests that were served, by backend: one process tests all of them. */
const served = new WeakMap<HttpBackend, string[]>();

function reading(front: HttpBackend): void {
  const paths: string[] = [];
  served.set(front, paths);
  const answer = (path: string) => (response: HttpResponse) => {
    paths.push(path);
    response.onAborted(() => undefined);
    response.onData((_chunk, isLast) => {
      if (isLast) response.end("read");
    });
  };
  front.handle("post", "/read", answer("/read"));
  front.handle("get", "/second", answer("/second"));
}

testFronts(
  "a request of ambiguous length is refused, and its connection closed",
  reading,
  async ({ front, port }) => {
    const client = new LoopbackClient(port);
    for (const [name, framing, status] of MISFRAMED) {
      const answer = await client.exchange(HEAD + framing);
      assert.match(answer, /^HTTP\/1\.1 \d{3} /, name);
      assert.match(answer.slice(9, 12), status, name);
      assert.match(answer, /connection: close/i, name);
    }
    assert.deepEqual(served.get(front), []);
  },
);

testFronts(
  "no data after such a request is taken for a request",
  reading,
  async ({ front, port }) => {
    const client = new LoopbackClient(port);
    for (const [name, framing] of MISFRAMED) {
      const answers = await client.exchange(HEAD + framing + SECOND);
      assert.doesNotMatch(answers, /HTTP\/1\.1 200/, name);
    }
    assert.deepEqual(served.get(front), []);
  },
);

testFronts("a request with unambiguous framing is read", reading, async ({ port }) => {
  const client = new LoopbackClient(port);
  for (const framing of [
    "content-length: 3\r\n\r\nabc",
    "Content-Length:3 \r\n\r\nabc",
    `transfer-encoding: chunked${CHUNKS}`,
    `Transfer-Encoding: Chunked${CHUNKS}`,
    "content-length: 0\r\n\r\n",
    "\r\n",
  ]) {
    assert.match(await client.exchange(HEAD + framing, /read$/), /^HTTP\/1\.1 200 /, framing);
  }
});

test("of pipelined requests none is executed without its response", async (t) => {
  let doneCount = 0;
  const doing = async () => {
    doneCount += 1;
    return text(`done ${doneCount}.`);
  };
  const edge = await EdgeOnLoopback.start([
    endpoint({
      method: "post",
      path: "/api/things",
      readsBody: true,
      answer: async (request) => {
        await request.body();
        return doing();
      },
    }),
    endpoint({
      method: "delete",
      path: "/api/things/:id",
      answer: async (request) => {
        await request.alone();
        return doing();
      },
    }),
  ]);
  t.after(() => edge.close());
  const post = "POST /api/things HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}";
  const remove = "DELETE /api/things/1 HTTP/1.1\r\nhost: x\r\n\r\n";
  const pairs = [post + post, remove + remove, remove + post, post + remove];
  for (const pair of pairs) {
    doneCount = 0;
    const answers = await edge.client.exchange(pair, /done 2\.$/);
    const answerCount = answers.match(/HTTP\/1\.1 200/g)?.length ?? 0;
    assert.equal(doneCount, answerCount, pair);
    if (frontUnderTest.choice === "node") assert.equal(answerCount, 2);
  }
  doneCount = 0;
  assert.match(await edge.client.exchange(remove, /done 1\.$/), /200/);
});

const HOSTLESS: readonly (readonly [name: string, lines: string])[] = [
  ["two hosts", "host: x\r\nhost: y\r\n"],
  ["one host twice", "host: x\r\nHost: x\r\n"],
  ["a host and an empty one", "host: x\r\nhost:\r\n"],
  ["no host", "accept: */*\r\n"],
];
const MESSAGE_BYTES_MAX = 1_024;
const WISH_FOR_SOCKET =
  "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n";

function withDoor(front: HttpBackend): void {
  reading(front);
  front.handle("any", "/*", (response) => response.end("any"));
  front.webSocket("/door", new RecordingDoor(MESSAGE_BYTES_MAX));
}

testFronts(
  "a request with two Host headers or none is refused, and its connection closed",
  withDoor,
  async ({ front, port }) => {
    const client = new LoopbackClient(port);
    for (const [name, lines] of HOSTLESS) {
      for (const first of ["GET /second", "GET /nothing", "GET /door"]) {
        const wish = first === "GET /door" ? WISH_FOR_SOCKET : "";
        const head = `${first} HTTP/1.1\r\n${lines}${wish}\r\n`;
        const answer = await client.exchange(head);
        assert.match(answer, /^HTTP\/1\.1 400 /, `${first} with ${name}`);
        assert.match(answer, /connection: close/i, `${first} with ${name}`);
        const answers = await client.exchange(head + SECOND);
        assert.doesNotMatch(answers, /HTTP\/1\.1 (?:101|2)/, `${first} with ${name}`);
      }
    }
    assert.deepEqual(served.get(front), []);
    const body = "content-length: 1\r\n\r\na";
    const one = await client.exchange(`POST /read HTTP/1.1\r\nhost:\r\n${body}`, /read$/);
    assert.match(one, /^HTTP\/1\.1 200 /);
  },
);
