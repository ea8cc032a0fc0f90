import assert from "node:assert/strict";
import { test } from "node:test";
import { OutboundTokens } from "../../../engine/security/outbound-token.js";
import { callRecord } from "../../storage/sample-records.js";
import { NOTHING_LEFT, outboundFor, TalkingCall } from "./outbound-stand.js";

test("an answered call becomes a session, once, and only for its own organization", async (t) => {
  const { outbound, clock, slots, place, lastToken } = await outboundFor(t);
  const { id } = await place();
  const session = new TalkingCall(id);
  const open = () => Promise.resolve(session);
  assert.equal(await outbound.connect(id, "other", open), undefined);
  assert.equal(outbound.ringingCount, 1);
  assert.equal(await outbound.connect(id, "org", open), session);
  assert.deepEqual([outbound.ringingCount, clock.pendingTimerCount, slots.count], [0, 0, 1]);
  assert.equal(outbound.answering(lastToken()), undefined);
  assert.equal(await outbound.connect(id, "org", open), undefined);
  assert.deepEqual(session.endings, []);
});

test("a call that cannot be connected is recorded as failed, and gives everything back", async (t) => {
  const { outbound, place, left, endOf, stored, say } = await outboundFor(t);
  const { id } = await place();
  await say("in-progress", "human");
  const open = () => Promise.reject(new Error("no session"));
  await assert.rejects(outbound.connect(id, "org", open), /no session/);
  assert.deepEqual(left(), NOTHING_LEFT);
  assert.deepEqual(await endOf(id), [
    "failed",
    "notConnected",
    "the call ended before it reached the agent",
  ]);
  assert.equal((await stored(id))?.metadata["answeredBy"], "human");
});

for (const [status, answeredBy, reason, message] of [
  ["busy", "", "busy", "the line was busy"],
  ["no-answer", "", "noAnswer", "nobody answered"],
  ["canceled", "", "noAnswer", "nobody answered"],
  ["failed", "", "vendorFailed", "the telephony vendor could not connect the call"],
  ["completed", "", "notConnected", "the call ended before it reached the agent"],
  ["in-progress", "machine_start", "machine", "an answering machine took the call"],
  ["in-progress", "fax", "machine", "an answering machine took the call"],
] as const) {
  test(`a ringing call with the report ${status} ${answeredBy} ends as ${reason}`, async (t) => {
    const { place, say, vendor, left, endOf, stored, log } = await outboundFor(t);
    const { id } = await place();
    for (const word of ["queued", "ringing"]) assert.equal(await say(word), true);
    assert.equal(await stored(id), undefined);
    assert.equal(await say(status, answeredBy), true);
    assert.deepEqual(left(), NOTHING_LEFT);
    assert.deepEqual(await endOf(id), ["failed", reason, message]);
    assert.equal(await say("busy"), true, "a report may come twice");
    assert.deepEqual(await endOf(id), ["failed", reason, message]);
    assert.equal((await stored(id))?.metadata["answeredBy"], answeredBy || undefined);
    if (reason === "machine") await vendor.request(2);
    assert.equal(vendor.asked.length, reason === "machine" ? 2 : 1, "only machines are hung up");
    assert.deepEqual(log.ofLevel("error"), []);
  });
}

test("a report with an invalid token is refused, and changes nothing", async (t) => {
  const { outbound, place, lastToken, slots } = await outboundFor(t);
  await place();
  const report = { status: "busy", answeredBy: "" };
  assert.equal(await outbound.report(`${lastToken()}x`, report), false);
  assert.deepEqual([slots.count, outbound.ringingCount], [1, 1]);
});

test("a machine that is noticed while the session is opened ends it as soon as it is there", async (t) => {
  const { outbound, place, say } = await outboundFor(t);
  const { id } = await place();
  const session = new TalkingCall(id);
  await outbound.connect(id, "org", async () => {
    await say("busy");
    await say("in-progress", "machine_start");
    await say("completed");
    return session;
  });
  assert.deepEqual(
    session.endings.map(({ reason }) => reason),
    ["machine"],
  );
});

test("a machine that is noticed in a conversation ends it; other reports leave it alone", async (t) => {
  const { outbound, liveCalls, place, say, stored } = await outboundFor(t);
  const { id } = await place();
  const session = new TalkingCall(id);
  await outbound.connect(id, "org", () => {
    liveCalls.add(session);
    return Promise.resolve(session);
  });
  await say("completed");
  await say("busy");
  assert.deepEqual(session.endings, []);
  await say("in-progress", "machine_end_beep");
  assert.deepEqual(
    session.endings.map(({ reason }) => reason),
    ["machine"],
  );
  assert.equal(await stored(id), undefined, "its record is the session's own");
});

test("who answered is recorded when the call has its record, and nothing else is", async (t) => {
  const { database, outbound, place, say, stored } = await outboundFor(t);
  const { id } = await place();
  assert.equal(await say("in-progress", "human"), true);
  await outbound.connect(id, "org", async () => {
    await database.calls.start(callRecord({ id }), "run");
    return new TalkingCall(id);
  });
  assert.equal((await stored(id))?.metadata["answeredBy"], "human");
  for (const words of ["<script>", "Human", "a".repeat(33), "a b"]) {
    assert.equal(await say("in-progress", words), true);
    assert.equal((await stored(id))?.metadata["answeredBy"], "human");
  }
  await say("in-progress", "unknown");
  assert.equal((await stored(id))?.metadata["answeredBy"], "unknown");
});

test("after a restart a report still records the call, also one that says no more than that it is over", async (t) => {
  const { outbound, clock, endOf, stored } = await outboundFor(t);
  const tokens = new OutboundTokens({ secret: "s".repeat(32), clock });
  const earlier = (callId: string) =>
    tokens.mint({ callId, orgId: "org", agentId: "agent", vendor: "twilio" });
  await outbound.report(earlier("other"), { status: "completed", answeredBy: "" });
  assert.deepEqual(await endOf("other"), [
    "failed",
    "notConnected",
    "the call ended before it reached the agent",
  ]);
  await outbound.report(earlier("one"), { status: "no-answer", answeredBy: "" });
  assert.deepEqual(await endOf("one"), ["failed", "noAnswer", "nobody answered"]);
  const call = await stored("one");
  assert.deepEqual(
    [call?.sessionId, call?.agentId, call?.channel, call?.transcript],
    ["one", "agent", "phone", []],
  );
});

test("the report that a call is over leaves the record of its session as it is", async (t) => {
  const { database, outbound, place, say, stored } = await outboundFor(t);
  const { id } = await place();
  await outbound.connect(id, "org", async () => {
    await database.calls.start(callRecord({ id }), "run");
    return new TalkingCall(id);
  });
  const starts = t.mock.method(database.calls, "start");
  await say("completed");
  assert.equal((await stored(id))?.status, "active");
  assert.equal(starts.mock.callCount(), 0, "nor is a second one tried");
});

test("a failed call that cannot be stored is logged, and its slot is freed", async (t) => {
  const { database, place, say, left, stored, log } = await outboundFor(t);
  const { id } = await place();
  database.calls.start = () => Promise.reject(new Error("disk full"));
  assert.equal(await say("busy"), true);
  assert.deepEqual(left(), NOTHING_LEFT);
  assert.equal(await stored(id), undefined);
  const [line] = log.ofLevel("error");
  assert.deepEqual(
    [line?.message, line?.fields["callId"]],
    ["failed to store the end of a call", id],
  );
});
