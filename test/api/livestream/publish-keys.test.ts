import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  PUBLISH_KEYS_MAX,
  PublishKeyError,
  PublishKeys,
  publishKeyLines,
} from "../../../api/livestream/publish-keys.js";
import { StateApi } from "./state-api.js";

const ALICES = "correct-horse";
const ANYBODYS = "master-of-all";

const start = (t: TestContext) =>
  StateApi.start(t, { publishKeyLines: [`alice=${ALICES}`, `*=${ANYBODYS}`] });

function asked(fields: Readonly<Record<string, string>>) {
  return {
    user: "",
    password: "",
    token: "",
    ip: "203.0.113.9",
    action: "publish",
    path: "live/alice",
    protocol: "rtmp",
    id: "3f0b",
    query: "",
    ...fields,
  };
}

async function statusOf(api: StateApi, fields: Readonly<Record<string, string>>): Promise<number> {
  return (await api.client.post("/webhook/on-auth", asked(fields))).status;
}

test("a publisher with the key may publish, wherever the key is", async (t) => {
  const api = await start(t);
  const ways = [
    { query: `secret=${ALICES}` },
    { query: `x=1&key=${ALICES}` },
    { query: `user=alice&pass=${ALICES}` },
    { password: ALICES, user: "whoever" },
    { token: ALICES },
    { path: "alice", token: ALICES },
    { path: "live/bob", token: ANYBODYS },
  ];
  for (const way of ways) assert.equal(await statusOf(api, way), 200, JSON.stringify(way));
});

test("a publisher without the key may not", async (t) => {
  const api = await start(t);
  const ways = [
    {},
    { token: "wrong-horse" },
    { token: `${ALICES} ` },
    { user: ALICES },
    { path: "live/bob", token: ALICES },
    { path: "live/*", token: ANYBODYS },
    { path: "a/b/alice", token: ALICES },
    { path: "live/../alice", token: ALICES },
    { path: "", token: ANYBODYS },
  ];
  for (const way of ways) assert.equal(await statusOf(api, way), 401, JSON.stringify(way));
});

test("the body of nginx-rtmp is understood", async (t) => {
  const api = await start(t);
  const publish = { app: "live", call: "publish", name: "alice", addr: "203.0.113.9" };
  assert.equal((await api.hook("on-auth", { ...publish, secret: ALICES })).status, 200);
  assert.equal((await api.hook("on-auth", { ...publish, secret: "wrong-horse" })).status, 401);
  assert.equal((await api.hook("on-auth", publish)).status, 401);
  assert.equal((await api.hook("on-auth", { ...publish, name: "a/b" })).status, 400);
  const play = { ...publish, call: "play" };
  assert.equal((await api.hook("on-auth", play)).status, 401);
  assert.equal((await api.hook("on-auth", { ...play, addr: "127.0.0.1" })).status, 200);
});

test("only the ingest's network reads, and needs no key for it", async (t) => {
  const api = await start(t);
  for (const action of ["read", "playback", "api", "metrics", "pprof"]) {
    for (const [ip, status] of [
      ["127.0.0.1", 200],
      ["::1", 200],
      ["172.18.0.4", 200],
      ["203.0.113.9", 401],
      ["", 401],
    ] as const) {
      assert.equal(await statusOf(api, { action, ip, token: ALICES }), status, `${action} ${ip}`);
    }
  }
});

test("auth requests are limited like every webhook", async (t) => {
  const api = await StateApi.start(t, {
    publishKeyLines: [`alice=${ALICES}`],
    webhookNetworks: ["10.0.0.0/8"],
  });
  assert.equal(await statusOf(api, { token: ALICES }), 403);
});

test("what is no request is refused, and names the field", async (t) => {
  const api = await start(t);
  const post = (body: unknown) => api.client.post("/webhook/on-auth", body);
  assert.match((await post({ path: "live/alice" })).text, /"action: expected a string/);
  assert.match((await post({ action: "publish", path: 7 })).text, /"path: expected a string/);
  assert.equal((await post([])).status, 400);
  assert.equal((await post({ ...asked({}), padding: "x".repeat(9_000) })).status, 413);
  const sent = { headers: { "content-type": "text/plain" }, raw: "{}" };
  assert.equal((await api.client.send("POST", "/webhook/on-auth", sent)).status, 415);
});

test("keys are neither logged nor sent back", async (t) => {
  const api = await start(t);
  const texts: string[] = [];
  for (const token of [ALICES, "wrong-horse"]) {
    const answer = await api.client.post(
      "/webhook/on-auth",
      asked({ token, query: `key=${token}` }),
    );
    texts.push(answer.text);
  }
  texts.push((await api.client.get("/metrics")).text, JSON.stringify(api.logger.lines));
  for (const text of texts) assert.doesNotMatch(text, /horse|203\.0\.113/);
});

test("without keys there is no auth endpoint", async (t) => {
  const api = await StateApi.start(t);
  assert.equal(await statusOf(api, { token: ALICES }), 404);
});

test("a stream may have several keys, of which each opens it", () => {
  const keys = new PublishKeys(["a=first-key", "a=second-key", "b=other-key"]);
  assert.ok(keys.opens("a", ["first-key"]));
  assert.ok(keys.opens("a", ["wrong-key", "second-key"]));
  assert.ok(!keys.opens("a", ["other-key"]));
  assert.ok(!keys.opens("c", ["first-key"]));
  assert.ok(!keys.opens("a", []));
});

test("an unreadable key is reported by its number, not its text", () => {
  for (const line of ["hunter22", "a=short", "a b=hunter22", `a=${"x".repeat(257)}`, "=hunter22"]) {
    assert.throws(
      () => new PublishKeys(["a=first-key", line]),
      (error) =>
        error instanceof PublishKeyError &&
        error.message.startsWith("publishing key 2: expected stream=secret") &&
        !error.message.includes("hunter"),
    );
  }
  const many = Array.from({ length: PUBLISH_KEYS_MAX + 1 }, (_, index) => `a=secret-${index}`);
  assert.throws(() => new PublishKeys(many), /expected at most 10000 publishing keys/);
});

test("a file of keys may have comments and empty lines", () => {
  assert.deepEqual(publishKeyLines("# who\n\n a=first-key \r\nb=other-key\n"), [
    "a=first-key",
    "b=other-key",
  ]);
});
