import assert from "node:assert/strict";
import { test } from "node:test";
import { StateApi } from "./state-api.js";

const ELSEWHERE = { origin: "https://elsewhere.example" };

test("health reports its state and its name", async (t) => {
  const api = await StateApi.start(t);
  const { status, body } = await api.client.get("/health");
  assert.deepEqual([status, body], [200, { status: "ok", service: "parley-livestream" }]);
});

test("any site may read the list, its refusals and its preflights", async (t) => {
  const api = await StateApi.start(t);
  for (const path of ["/health", "/streams"]) {
    for (const method of ["GET", "HEAD", "OPTIONS", "POST", "DELETE"]) {
      for (const headers of [{}, ELSEWHERE]) {
        const received = await api.client.send(method, path, { headers });
        assert.equal(received.headers["access-control-allow-origin"], "*", `${method} ${path}`);
      }
    }
    const preflight = await api.client.send("OPTIONS", path, { headers: ELSEWHERE });
    assert.equal(preflight.status, 204);
    assert.match(preflight.headers["access-control-allow-methods"] ?? "", /\bGET\b/);
  }
  const refused = await api.client.send("POST", "/streams", { body: {} });
  assert.deepEqual([refused.status, refused.headers.allow], [405, "GET, HEAD, OPTIONS"]);
});

test("HEAD of the list has its length and no body", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice");
  const { text } = await api.client.get("/streams");
  const head = await api.client.send("HEAD", "/streams");
  assert.deepEqual(
    [head.status, head.text, head.headers["content-length"]],
    [200, "", String(text.length)],
  );
});

test("HEAD of the events ends at once", async (t) => {
  const api = await StateApi.start(t);
  const head = await api.client.send("HEAD", "/streams/events");
  assert.deepEqual(
    [head.status, head.text, head.headers["content-type"]],
    [200, "", "text/event-stream; charset=utf-8"],
  );
  const { text } = await api.client.get("/metrics");
  assert.match(text, /^parley_livestream_listeners 0$/m);
});

test("the list is neither read from disk nor created again unless something has changed", async (t) => {
  const api = await StateApi.start(t, { hlsRoot: "/nowhere" });
  await api.publish("alice");
  const before = await api.client.get("/streams");
  await api.publish("alice");
  assert.equal((await api.client.get("/streams")).text, before.text);
});

test("other paths are not there", async (t) => {
  const api = await StateApi.start(t);
  for (const path of ["/", "/stream", "/streams/", "/streams/alice", "/api/streams", "/webhook"]) {
    assert.equal((await api.client.get(path)).status, 404, path);
  }
});

test("addresses of broadcasters can be masked", async (t) => {
  const api = await StateApi.start(t, { isClientIpMasked: true });
  await api.publish("four", { remoteAddr: "198.51.100.77" });
  await api.publish("six", { remoteAddr: "2001:db8:1:2:3:4:5:6" });
  const shown = (await api.streams()).map(({ clientIp }) => clientIp);
  assert.deepEqual(shown, ["198.51.100.0", "2001:db8:1::"]);
});

test("playlists can have absolute addresses", async (t) => {
  const api = await StateApi.start(t, { publicBaseUrl: "https://live.example.com" });
  await api.publish("alice");
  const [stream] = await api.streams();
  assert.equal(stream?.["masterPlaylistUrl"], "https://live.example.com/hls/alice/master.m3u8");
});

test("an address from a client's Host header is never used", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice");
  const { text } = await api.client.get("/streams", { host: "evil.example" });
  assert.doesNotMatch(text, /evil/);
});

test("numbers for the operator hold neither names nor addresses", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice");
  await api.publish("alice");
  await api.unpublish("bob");
  const { status, text } = await api.client.get("/metrics");
  assert.equal(status, 200);
  assert.match(text, /^parley_livestream_streams 1$/m);
  assert.match(text, /^parley_livestream_publishes_total\{outcome="added"\} 1$/m);
  assert.match(text, /^parley_livestream_publishes_total\{outcome="refreshed"\} 1$/m);
  assert.match(text, /^parley_livestream_unpublishes_total\{outcome="unknown"\} 1$/m);
  assert.doesNotMatch(text, /alice|bob|203\.0\.113/);
});
