import assert from "node:assert/strict";
import { test } from "node:test";
import { issueViewToken, PrivateStreams } from "../../../api/livestream/view-tokens.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { StateApi } from "./state-api.js";

const SECRET = "a secret of more than thirty-two characters";
const HOUR_MS = 3_600_000;

test("a token opens its stream until it expires, and no other one", () => {
  const clock = new VirtualClock();
  const streams = new PrivateStreams({ streamKeys: ["*"], tokenSecret: SECRET, clock });
  const token = issueViewToken(SECRET, "alice", clock.epochMs() + HOUR_MS);
  assert.match(token, /^\d{10}-[\w-]{43}$/);
  assert.equal(streams.mayWatch("alice", ["", "wrong", token]), true);
  assert.equal(streams.mayWatch("bob", [token]), false);
  const later = `${Number(token.slice(0, 10)) + 1}${token.slice(10)}`;
  const other = issueViewToken(`${SECRET}!`, "alice", clock.epochMs() + HOUR_MS);
  for (const wrong of ["", later, other, token.slice(1), `${token}A`, token.replace("-", "_")]) {
    assert.equal(streams.mayWatch("alice", [wrong]), false, wrong);
  }
  clock.advance(HOUR_MS);
  assert.equal(streams.mayWatch("alice", [token]), false);
});

test("the front proxy learns who may watch, and the list marks private streams, without their pictures", async (t) => {
  const api = await StateApi.start(t, { privateStreams: ["alice"], viewTokenSecret: SECRET });
  await api.publish("alice");
  await api.publish("bob");
  const listed = (await api.streams()).map(({ streamKey, private: is }) => [streamKey, is]);
  assert.deepEqual(listed, [
    ["alice", true],
    ["bob", undefined],
  ]);
  const token = issueViewToken(SECRET, "alice", api.clock.epochMs() + HOUR_MS);
  const statuses = await Promise.all(
    [
      { name: "alice" },
      { name: "alice", token: "" },
      { name: "alice", token },
      { name: "bob" },
    ].map(async (fields) => (await api.hook("on-watch", fields)).status),
  );
  assert.deepEqual(statuses, [401, 401, 200, 200]);
});

test("with publishing keys, WebRTC plays a private stream with a token only", async (t) => {
  const publishKeyLines = ["*=open-sesame"];
  const settings = { privateStreams: ["alice"], viewTokenSecret: SECRET, publishKeyLines };
  const api = await StateApi.start(t, settings);
  const token = issueViewToken(SECRET, "alice", api.clock.epochMs() + HOUR_MS);
  const ask = (path: string, query: string) =>
    api.client.send("POST", "/webhook/on-auth", {
      body: { action: "read", protocol: "webrtc", ip: "198.51.100.7", path, query },
    });
  assert.equal((await ask("live/alice", "")).status, 401);
  assert.equal((await ask("live/alice", `token=${token}`)).status, 200);
  assert.equal((await ask("live/bob", "")).status, 200);
});

test("with publishing keys, a private stream is read by a token or on the ingest's own machine, wherever the reader is", async (t) => {
  const settings = {
    privateStreams: ["alice"],
    viewTokenSecret: SECRET,
    publishKeyLines: ["*=open-sesame"],
  };
  const api = await StateApi.start(t, settings);
  const token = issueViewToken(SECRET, "alice", api.clock.epochMs() + HOUR_MS);
  const ask = async (ip: string, path: string, query = "") => {
    const body = { action: "read", protocol: "rtmp", ip, path, query };
    return (await api.client.send("POST", "/webhook/on-auth", { body })).status;
  };
  for (const ip of ["172.18.0.1", "192.168.1.50", "10.8.0.3"]) {
    assert.equal(await ask(ip, "live/alice"), 401, ip);
    assert.equal(await ask(ip, "live/alice", `token=${token}`), 200, ip);
    assert.equal(await ask(ip, "live/bob"), 200, ip);
  }
  assert.equal(await ask("127.0.0.1", "live/alice"), 200);
  assert.equal(await ask("203.0.113.5", "live/bob"), 401);
});
