import assert from "node:assert/strict";
import { test } from "node:test";
import { StateApi } from "./state-api.js";

test("a stream whose ingest has fallen silent ends with its lease", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice", { ttl: "30" });
  api.clock.advance(29_999);
  assert.deepEqual(await api.keys(), ["alice"]);
  api.clock.advance(1);
  assert.deepEqual(await api.keys(), []);
  assert.equal(api.logger.ofLevel("info").at(-1)?.fields["reason"], "lease ended");
});

test("every on-publish renews the lease", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice", { ttl: "30", session: "s" });
  const first = await api.streams();
  for (let count = 0; count < 10; count += 1) {
    api.clock.advance(20_000);
    await api.publish("alice", { ttl: "30", session: "s" });
  }
  assert.deepEqual(await api.streams(), first);
  api.clock.advance(30_000);
  assert.deepEqual(await api.keys(), []);
});

test("a plain on-publish holds until on-unpublish", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice");
  await api.publish("bob", { ttl: "30" });
  await api.publish("bob");
  api.clock.advance(7 * 86_400_000);
  assert.deepEqual(await api.keys(), ["alice", "bob"]);
});

test("a lease is a whole number of seconds, from one to a day", async (t) => {
  const api = await StateApi.start(t);
  for (const ttl of ["1", "86400"])
    assert.equal((await api.publish("a", { ttl })).status, 200, ttl);
  for (const ttl of ["0", "-1", "1.5", "1e3", "86401", "9999999", "x", "Infinity"]) {
    const { status, text } = await api.publish("a", { ttl });
    assert.equal(status, 400, ttl);
    assert.match(text, /"ttl: expected a whole number of seconds from 1 to 86400"/);
  }
});

test("after a restart the next heartbeat lists a stream with its start, address and session", async (t) => {
  const before = await StateApi.start(t);
  const startedAt = new Date(before.clock.epochMs() - 3_600_000).toISOString();
  const fields = { session: "s1", startedAt, ttl: "30" };
  await before.publish("alice", fields);
  const streams = await before.streams();
  assert.equal(streams[0]?.["startedAt"], startedAt);
  await before.stop();

  const after = await StateApi.start(t);
  assert.deepEqual(await after.keys(), []);
  const { text } = await after.publish("alice", fields);
  assert.match(text, /"outcome":"added"/);
  assert.deepEqual(await after.streams(), streams);
  await after.unpublish("alice", { session: "s0" });
  assert.deepEqual(await after.keys(), ["alice"]);
});

test("an impossible start time counts as now", async (t) => {
  const api = await StateApi.start(t);
  const nowMs = api.clock.epochMs();
  for (const startMs of [nowMs + 60_000, nowMs - 400 * 86_400_000, 0]) {
    await api.publish("alice", { startedAt: new Date(startMs).toISOString() });
    assert.equal((await api.streams())[0]?.["startedAt"], new Date(nowMs).toISOString());
    await api.unpublish("alice");
  }
});

test("a start may be given with an offset, and is listed in UTC", async (t) => {
  const api = await StateApi.start(t);
  const startMs = Math.floor(api.clock.epochMs() / 1_000) * 1_000 - 60_000;
  const local = new Date(startMs + 7_200_000).toISOString().replace(".000Z", "+02:00");
  await api.publish("alice", { startedAt: local });
  assert.equal((await api.streams())[0]?.["startedAt"], new Date(startMs).toISOString());
});

for (const startedAt of [
  "now",
  "2026-01-31",
  "2026-01-31 12:00",
  "2026-13-01T00:00:00Z",
  "1700000000",
]) {
  test(`the start ${startedAt} is refused`, async (t) => {
    const api = await StateApi.start(t);
    const { status, text } = await api.publish("alice", { startedAt });
    assert.equal(status, 400);
    assert.match(text, /"startedAt: expected an ISO 8601 time/);
  });
}
