import assert from "node:assert/strict";
import { test } from "node:test";
import { LADDERS_MAX } from "../../../api/livestream/encoder-status.js";
import { StateApi } from "./state-api.js";

const WELL = { status: "ok", service: "parley-livestream" };

test("health is degraded, with names and speeds, as long as a ladder is not well", async (t) => {
  const api = await StateApi.start(t);
  const report = { session: "s1", rungs: "480p audio", restarts: "2", ttl: "30" };
  await api.hook("on-ladder", { name: "fine", state: "running", speed: "1.00", ...report });
  assert.deepEqual((await api.client.get("/health")).body, WELL);
  const slow = { name: "alice", state: "slow", speed: "0.41", reason: "too much" };
  assert.equal((await api.hook("on-ladder", { ...slow, ...report })).status, 200);
  const { status, body } = await api.client.get("/health");
  const named = { streamKey: "alice", state: "slow", speed: 0.41, rungs: ["480p", "audio"] };
  assert.deepEqual(
    [status, body],
    [200, { ...WELL, status: "degraded", streams: [{ ...named, reason: "too much" }] }],
  );
  await api.hook("on-ladder", { name: "alice", state: "ended", session: "another" });
  assert.deepEqual((await api.client.get("/health")).body, body, "the end of another broadcast");
  await api.hook("on-ladder", { name: "alice", state: "ended", session: "s1" });
  assert.deepEqual((await api.client.get("/health")).body, WELL);
});

test("a transcoder without reports does not degrade the health forever", async (t) => {
  const api = await StateApi.start(t);
  await api.hook("on-ladder", { name: "alice", state: "unreadable", ttl: "5" });
  api.clock.advance(4_900);
  assert.match((await api.client.get("/health")).text, /"degraded"/);
  api.clock.advance(1_200);
  assert.deepEqual((await api.client.get("/health")).body, WELL);
});

test("metrics have speed, rungs and restarts of every stream", async (t) => {
  const api = await StateApi.start(t);
  const report = {
    name: "alice",
    state: "running",
    speed: "0.98",
    restarts: "3",
    rungs: "720p audio",
  };
  await api.hook("on-ladder", report);
  const { text } = await api.client.get("/metrics");
  assert.match(text, /^parley_livestream_ladder_speed\{stream="alice"\} 0\.98$/m);
  assert.match(text, /^parley_livestream_ladder_rungs\{stream="alice"\} 2$/m);
  assert.match(text, /^parley_livestream_ladder_restarts\{stream="alice"\} 3$/m);
});

test("what is wrong with a report is named", async (t) => {
  const api = await StateApi.start(t);
  const wrong = { name: "alice", state: "fine", speed: "fast", rungs: "a/b", restarts: "-1" };
  const { status, text } = await api.hook("on-ladder", wrong);
  assert.equal(status, 400);
  for (const field of ["state", "speed", "rungs", "restarts"])
    assert.match(text, new RegExp(field));
});

test("ladders are bounded", async (t) => {
  const api = await StateApi.start(t);
  const asked = Array.from({ length: LADDERS_MAX }, (_, number) =>
    api.hook("on-ladder", { name: `s${number}`, state: "running" }),
  );
  assert.ok((await Promise.all(asked)).every(({ status }) => status === 200));
  const { status } = await api.hook("on-ladder", { name: "one-more", state: "running" });
  assert.equal(status, 503);
});
