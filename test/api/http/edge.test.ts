import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { STATUS_BY_CODE } from "../../../api/http/answer/http-error.js";
import { openBackend } from "../../../api/http/backend/open-backend.js";
import type { Endpoint } from "../../../api/http/endpoints/endpoint.js";
import { HttpServer } from "../../../api/http/server.js";
import { RequestError } from "../../../engine/request-error.js";
import { REQUEST_ERROR_CODES, type RequestErrorCode } from "../../../storage/parley-error.js";
import { frontUnderTest } from "../../doubles/front-under-test.js";
import { SilentLogger } from "../../doubles/silent-logger.js";
import { EdgeOnLoopback, type EdgeSettings, endpoint, text } from "./edge-on-loopback.js";

const THING = endpoint({ answer: () => text("a thing") });

async function started(
  t: TestContext,
  endpoints: readonly Endpoint[] = [THING],
  settings: EdgeSettings = {},
): Promise<EdgeOnLoopback> {
  const edge = await EdgeOnLoopback.start(endpoints, settings);
  t.after(() => edge.close());
  return edge;
}

test("an unknown path gets 404 in the format of every error", async (t) => {
  const { client } = await started(t);
  for (const path of ["/", "/api", "/api/thing/", "/api/%zz", "/api/thing/more", "/ws/voice"]) {
    const answer = await client.get(path);
    assert.equal(answer.status, 404, path);
    assert.deepEqual(answer.body, { error: "no such path", code: "path_not_found" });
  }
});

test("a known path with another method gets 405 with the allowed methods", async (t) => {
  const other = endpoint({ method: "post", answer: () => text("made") });
  const { client } = await started(t, [THING, other]);
  for (const method of ["PUT", "DELETE", "PATCH", "PURGE"]) {
    const answer = await client.send(method, "/api/thing", { body: { some: "body" } });
    assert.equal(answer.status, 405, method);
    assert.equal(answer.headers.allow, "GET, HEAD, POST, OPTIONS");
  }
});

test("HEAD responds as GET does, without the body", async (t) => {
  const { client } = await started(t);
  const twice = [await client.send("HEAD", "/api/thing"), await client.send("HEAD", "/api/thing")];
  for (const answer of twice) {
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["content-length"], "7");
    assert.equal(answer.text, "");
  }
  assert.equal((await client.send("HEAD", "/nowhere")).status, 404);
});

test("OPTIONS lists the methods", async (t) => {
  const { client } = await started(t);
  const answer = await client.send("OPTIONS", "/api/thing");
  assert.equal(answer.status, 204);
  assert.equal(answer.headers.allow, "GET, HEAD, OPTIONS");
});

test("every response has the security headers", async (t) => {
  const { client } = await started(t);
  for (const path of ["/api/thing", "/nowhere"]) {
    const { headers } = await client.get(path);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["x-frame-options"], "DENY");
    assert.equal(headers["referrer-policy"], "no-referrer");
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(headers["content-security-policy"], "default-src 'none'; frame-ancestors 'none'");
  }
});

test("a valid request id is kept, an invalid one is replaced", async (t) => {
  const { client } = await started(t);
  const kept = await client.get("/api/thing", { "x-request-id": "trace-1.2_3" });
  assert.equal(kept.headers["x-request-id"], "trace-1.2_3");
  for (const wrong of ["", "a b", "x".repeat(65), 'a"b', "<script>"]) {
    const { headers } = await client.get("/api/thing", { "x-request-id": wrong });
    assert.match(String(headers["x-request-id"]), /^00000000test-\d+$/);
  }
});

test("each error code has its status, and is in the body", async (t) => {
  const codes = Object.keys(REQUEST_ERROR_CODES) as RequestErrorCode[];
  const { client } = await started(
    t,
    codes.map((code) =>
      endpoint({
        path: `/api/${code}`,
        answer: () => {
          throw new RequestError(code, "no", { extra: { agents: [] }, retryAfterSec: 2.1 });
        },
      }),
    ),
  );
  for (const code of codes) {
    const answer = await client.get(`/api/${code}`);
    assert.equal(answer.status, STATUS_BY_CODE[code], code);
    assert.deepEqual(answer.body, { agents: [], error: "no", code });
    assert.equal(answer.headers["retry-after"], "3");
    const challenge = answer.headers["www-authenticate"];
    assert.equal(challenge, answer.status === 401 ? 'Bearer realm="api"' : undefined);
  }
});

test("an internal error gets 500: the client gets the request id, the log the error", async (t) => {
  const fault = new Error("SELECT * FROM secrets failed");
  const later = endpoint({ path: "/api/later", answer: () => Promise.reject(fault) });
  const atOnce = endpoint({
    path: "/api/at-once",
    answer: () => {
      throw fault;
    },
  });
  const { client, logger } = await started(t, [later, atOnce]);
  for (const path of ["/api/later", "/api/at-once"]) {
    const answer = await client.get(path, { "x-request-id": `of${path.replaceAll("/", ".")}` });
    assert.equal(answer.status, 500);
    const requestId = answer.headers["x-request-id"];
    assert.deepEqual(answer.body, { error: "internal error", code: "internal_error", requestId });
    const line = logger.ofLevel("error").find(({ fields }) => fields["requestId"] === requestId);
    assert.equal(line?.fields["error"], fault);
  }
});

test("overloaded storage gets 503 with a request to try again", async (t) => {
  const overloaded = Object.assign(new Error("queue"), { name: "StorageOverloadedError" });
  const { client } = await started(t, [endpoint({ answer: () => Promise.reject(overloaded) })]);
  const answer = await client.get("/api/thing");
  assert.equal(answer.status, 503);
  assert.equal(answer.headers["retry-after"], "1");
});

test("a request is logged with its route, and never with its query, keys or ids", async (t) => {
  const path = "/api/things/:id";
  const seen = endpoint({ path, headerNames: ["x-api-key"], answer: ({ id }) => text(id) });
  const quiet = endpoint({ path: "/api/quiet", isQuiet: true, answer: () => text("") });
  const { client, logger } = await started(t, [seen, quiet]);
  const answer = await client.get("/api/things/a%20b?api_key=vk_1", { "x-api-key": "vk_2" });
  await client.get("/api/quiet");
  assert.equal(answer.text, "a b");
  assert.deepEqual(logger.ofLevel("info"), [
    {
      level: "info",
      message: "request",
      fields: {
        requestId: answer.headers["x-request-id"],
        method: "get",
        route: path,
        status: 200,
        durationMs: 0,
      },
    },
  ]);
  assert.equal(logger.ofLevel("debug").length, 1);
});

test("an id that cannot be decoded is empty, so that it matches nothing", async (t) => {
  const seen = endpoint({ path: "/api/things/:id", answer: ({ id }) => text(`[${id}]`) });
  const { client } = await started(t, [seen]);
  assert.equal((await client.get("/api/things/%E0%A4%A")).text, "[]");
});

test("while draining, responses ask the client to connect elsewhere", async (t) => {
  const { client } = await started(t, [THING], { isDraining: () => true });
  assert.equal((await client.get("/api/thing")).headers.connection, "close");
});

test("two servers cannot share a port without noticing", async (t) => {
  const { port } = await started(t);
  const second = new HttpServer(await openBackend(frontUnderTest.choice, new SilentLogger()));
  await assert.rejects(second.listen("127.0.0.1", port), /cannot listen on 127\.0\.0\.1:/);
  second.close();
});
