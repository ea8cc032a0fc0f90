import assert from "node:assert/strict";
import { test } from "node:test";
import { StateApi } from "./state-api.js";

const FORM = "application/x-www-form-urlencoded";

test("a stream is listed from on-publish to on-unpublish", async (t) => {
  const api = await StateApi.start(t);
  const published = await api.publish("alice", { remoteAddr: "198.51.100.7" });
  assert.deepEqual(
    [published.status, published.body],
    [200, { success: true, data: { outcome: "added", streamKey: "alice" } }],
  );
  const { status, body } = await api.client.get("/streams");
  const stream = {
    streamKey: "alice",
    startedAt: new Date(api.clock.epochMs()).toISOString(),
    clientIp: "198.51.100.7",
    masterPlaylistUrl: "/hls/alice/master.m3u8",
    qualities: [],
  };
  assert.deepEqual([status, body], [200, { success: true, data: { count: 1, streams: [stream] } }]);

  const unpublished = await api.unpublish("alice");
  assert.deepEqual(
    [unpublished.status, unpublished.body],
    [
      200,
      {
        success: true,
        removed: true,
        data: { outcome: "removed", streamKey: "alice", removed: true },
      },
    ],
  );
  assert.deepEqual((await api.client.get("/streams")).body, {
    success: true,
    data: { count: 0, streams: [] },
  });
});

test("streams are listed by their start, in whatever order they were reported", async (t) => {
  const api = await StateApi.start(t);
  const at = (secondsAgo: number) =>
    new Date(api.clock.epochMs() - secondsAgo * 1_000).toISOString();
  await api.publish("now");
  await api.publish("oldest", { startedAt: at(90) });
  await api.publish("middle", { startedAt: at(30) });
  await api.publish("also-now");
  assert.deepEqual(await api.keys(), ["oldest", "middle", "also-now", "now"]);
});

test("a second on-publish refreshes, also from another address", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice", { remoteAddr: "198.51.100.7" });
  const [first] = await api.streams();
  api.clock.advance(60_000);
  const again = await api.publish("alice", { remoteAddr: "198.51.100.8" });
  assert.deepEqual(again.body, {
    success: true,
    data: { outcome: "refreshed", streamKey: "alice" },
  });
  assert.deepEqual(await api.streams(), [{ ...first, clientIp: "198.51.100.8" }]);
});

test("a broadcaster who returns under a new session replaces the old one", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice", { session: "one" });
  api.clock.advance(5_000);
  const { body } = await api.publish("alice", { session: "two" });
  assert.deepEqual(body, { success: true, data: { outcome: "replaced", streamKey: "alice" } });
  const [stream] = await api.streams();
  assert.equal(stream?.["startedAt"], new Date(api.clock.epochMs()).toISOString());

  const late = await api.unpublish("alice", { session: "one" });
  assert.deepEqual(late.body, {
    success: true,
    removed: false,
    data: { outcome: "otherSession", streamKey: "alice", removed: false },
  });
  assert.deepEqual(await api.keys(), ["alice"]);
  await api.unpublish("alice", { session: "two" });
  assert.deepEqual(await api.keys(), []);
});

test("without a session, on-unpublish ends whatever is live", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice", { session: "one" });
  await api.unpublish("alice");
  assert.deepEqual(await api.keys(), []);
});

test("on-unpublish of a key that is not live is answered, and removes nothing", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice");
  const { status, body } = await api.unpublish("bob");
  assert.deepEqual(
    [status, body],
    [
      200,
      {
        success: true,
        removed: false,
        data: { outcome: "unknown", streamKey: "bob", removed: false },
      },
    ],
  );
  assert.deepEqual(await api.keys(), ["alice"]);
});

test("on-unpublish needs no address, and does not look at one", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice");
  await api.publish("bob");
  assert.equal((await api.hook("on-unpublish", { name: "alice" })).status, 200);
  assert.equal((await api.unpublish("bob", { remoteAddr: "?" })).status, 200);
  assert.deepEqual(await api.keys(), []);
});

test("only forms are taken", async (t) => {
  const api = await StateApi.start(t);
  for (const path of ["on-publish", "on-unpublish"]) {
    for (const type of ["application/json", "text/plain", "multipart/form-data; boundary=x", ""]) {
      const headers = type === "" ? {} : { "content-type": type };
      const raw = "name=alice&remoteAddr=1.2.3.4";
      const { status, text } = await api.client.send("POST", `/webhook/${path}`, { headers, raw });
      assert.equal(status, 415, type);
      assert.match(text, /content-type: expected application\/x-www-form-urlencoded/);
    }
  }
  assert.deepEqual(await api.keys(), []);
  const { status } = await api.hook(
    "on-publish",
    { name: "alice", remoteAddr: "1.2.3.4" },
    { "content-type": "Application/X-WWW-Form-Urlencoded; charset=UTF-8" },
  );
  assert.equal(status, 200);
});

test("a body of 8 KiB is read, a larger one is refused and its connection closed", async (t) => {
  const api = await StateApi.start(t);
  const start = "name=alice&remoteAddr=1.2.3.4&padding=";
  const padded = (sizeBytes: number) => ({
    headers: { "content-type": FORM },
    raw: start.padEnd(sizeBytes, "x"),
  });
  assert.equal((await api.client.send("POST", "/webhook/on-publish", padded(8_192))).status, 200);
  const refused = await api.client.send("POST", "/webhook/on-publish", padded(8_193));
  assert.deepEqual(
    [refused.status, refused.body, refused.headers.connection],
    [413, { error: "body: expected at most 8192 bytes", code: "body_too_large" }, "close"],
  );
  const chunk = `2000\r\n${"x".repeat(8_192)}\r\n`;
  const head = `POST /webhook/on-publish HTTP/1.1\r\nhost: x\r\ncontent-type: ${FORM}\r\n`;
  const text = await api.client.exchange(
    `${head}transfer-encoding: chunked\r\n\r\n${chunk}${chunk}`,
  );
  assert.match(text, /^HTTP\/1\.1 413 /);
});

test("other verbs on a webhook are refused", async (t) => {
  const api = await StateApi.start(t);
  for (const path of ["/webhook/on-publish", "/webhook/on-unpublish"]) {
    for (const method of ["GET", "PUT", "PATCH", "DELETE", "HEAD"]) {
      const { status, headers } = await api.client.send(method, path);
      assert.deepEqual([status, headers.allow], [405, "POST, OPTIONS"], `${method} ${path}`);
    }
  }
});

test("the number of streams is limited", async (t) => {
  const api = await StateApi.start(t, { streamsMax: 2 });
  await api.publish("one");
  await api.publish("two");
  const refused = await api.publish("three");
  assert.deepEqual([refused.status, refused.headers["retry-after"]], [503, "10"]);
  assert.match(refused.text, /too many streams are live/);
  assert.equal((await api.publish("two")).status, 200);
  await api.unpublish("one");
  assert.equal((await api.publish("three")).status, 200);
  assert.deepEqual(await api.keys(), ["three", "two"]);
});

test("a thousand streams are listed, each as it is", async (t) => {
  const api = await StateApi.start(t);
  const names = Array.from({ length: 1_000 }, (_, index) => `stream-${index}`);
  for (const [index, name] of names.entries()) {
    await api.publish(name, { remoteAddr: `10.0.${index >> 8}.${index & 255}` });
    api.clock.advance(1);
  }
  const streams = await api.streams();
  assert.deepEqual(
    streams.map(({ streamKey }) => streamKey),
    names,
  );
  assert.equal(streams[999]?.["clientIp"], "10.0.3.231");
});

test("addresses are neither in the log nor in refusals", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice", { remoteAddr: "198.51.100.77" });
  await api.publish("alice", { remoteAddr: "198.51.100.78", session: "x" });
  const refused = await api.publish("bob/", { remoteAddr: "198.51.100.77.1" });
  await api.unpublish("alice", { remoteAddr: "198.51.100.77" });
  assert.doesNotMatch(JSON.stringify(api.logger.lines), /198\.51\.100/);
  assert.doesNotMatch(refused.text, /198\.51\.100/);
});

test("the reasons of refused webhooks are logged, at a limited rate", async (t) => {
  const api = await StateApi.start(t);
  for (let count = 0; count < 3; count += 1) await api.publish("a/b");
  api.clock.advance(10_000);
  await api.publish("a/b");
  assert.deepEqual(
    api.logger.ofLevel("warn").map(({ fields }) => [fields["route"], fields["untoldCount"]]),
    [
      ["/webhook/on-publish", 0],
      ["/webhook/on-publish", 2],
    ],
  );
});
