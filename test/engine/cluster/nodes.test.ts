import assert from "node:assert/strict";
import { test } from "node:test";
import { CALLER_LEFT } from "../../../engine/conversation/call-end.js";
import { CLAIMS, HANDED, newDatabase, newServer, settled, twoServers } from "./joined-servers.js";

const CALL = { callId: "call", orgId: "org" };

test("a request about a call goes to its holder, and nowhere if the call is here or unknown", async () => {
  const { shared, one, two } = await twoServers();
  const questions = {
    rings: (callId: string) => one.nodes.isRinging(callId),
    has: (callId: string) => one.nodes.hasCall(callId),
    end: (callId: string) => one.nodes.endCall({ callId, ending: CALLER_LEFT }),
    report: (callId: string) =>
      one.nodes.report({
        claims: { ...CLAIMS, callId },
        report: { status: "answered", answeredBy: "human" } as const,
      }),
  };
  for (const [name, ask] of Object.entries(questions)) {
    assert.equal(await ask("call"), true, name);
    assert.deepEqual(two.heard.splice(0), [`${name} call`]);
    shared.holders.set("own", one.startId);
    assert.deepEqual([await ask("own"), await ask("unknown")], [false, false]);
    assert.deepEqual([two.heard, one.heard], [[], []]);
  }
  two.calls.clear();
  assert.equal(await one.nodes.hasCall("call"), false);
  assert.deepEqual(two.heard, ["has call"], "who says no and has its slot is asked once");
});

test("a call that has just moved is requested from its new holder", async () => {
  const { shared, one, two } = await twoServers();
  const three = await newServer(shared, "three", ["call"]);
  await three.served();
  two.calls.clear();
  const answer = one.nodes.hasCall("call");
  setImmediate(() => shared.holders.set("call", three.startId));
  assert.equal(await answer, true);
  assert.deepEqual([two.heard, three.heard], [["has call"], ["has call"]]);
});

test("a placed call is handed over with its slot", async () => {
  const { shared, one, two } = await twoServers();
  assert.equal(await one.nodes.handOver({ callId: "unknown", orgId: "org" }), undefined);
  assert.deepEqual(await one.nodes.handOver(CALL), HANDED);
  assert.deepEqual(shared.asked, [`move call ${two.startId} ${one.startId}`]);
  assert.equal(shared.holders.get("call"), one.startId);
  assert.equal(await one.nodes.handOver(CALL), undefined, "it is here");
  shared.holders.set("call", two.startId);
  two.calls.clear();
  assert.equal(await one.nodes.handOver(CALL), undefined, "it has gone on");
  assert.equal(shared.asked.length, 1);
});

test("a call whose slot its giver has moved, or lost, is here all the same", async () => {
  const { shared, one, two } = await twoServers();
  const handed = one.nodes.handOver(CALL);
  setImmediate(() => shared.holders.set("call", one.startId));
  assert.deepEqual(await handed, HANDED);
  assert.deepEqual(shared.asked, []);
  shared.holders.set("call", two.startId);
  const again = one.nodes.handOver(CALL);
  setImmediate(() => shared.holders.delete("call"));
  assert.deepEqual(await again, HANDED);
  const taken = `take call of ${Number.MAX_SAFE_INTEGER}`;
  assert.deepEqual(shared.asked, [`move call ${two.startId} ${one.startId}`, taken]);
  assert.equal(shared.holders.get("call"), one.startId);
});

test("slots are counted for all servers, and freed by the next sweep if that failed before", async () => {
  const { shared, one, two } = await twoServers();
  assert.equal(await one.nodes.countSlots("org"), 7);
  assert.equal(await one.nodes.takeSlot({ ...CALL, callId: "new", callsMax: 2 }), true);
  one.nodes.freeSlots(["new"]);
  await one.nodes.transferSlot("call", "third");
  await one.nodes.addRun("run");
  const expected = [
    "take new of 2",
    `free ${one.startId} new`,
    `move call ${one.startId} third`,
    `run ${one.startId} run`,
  ];
  assert.deepEqual(shared.asked.splice(0), expected);
  assert.deepEqual(one.log.lines, []);
  shared.way.fault = new Error("away");
  one.nodes.freeSlots(["new", "newer"]);
  await settled();
  await one.nodes.transferSlot("call", "third");
  await one.nodes.recordsChanged();
  const [error, fields] = [shared.way.fault, one.log.ofLevel("warn").map((line) => line.fields)];
  assert.deepEqual(fields, [{ error, count: 2 }, { error, callId: "call" }, { error }]);
  shared.way.fault = undefined;
  shared.asked.splice(0);
  two.calls.add("held");
  shared.holders.set("held", two.startId).set("over", two.startId);
  for (let beat = 0; beat < 15; beat += 1) {
    two.clock.advance(2_000);
    await settled();
  }
  assert.deepEqual(shared.asked, [`free ${two.startId} over`, "purge"]);
  assert.deepEqual(
    two.log.ofLevel("warn").map(({ fields: { count } }) => count),
    [1],
  );
});

test("tokens are single-use on all servers, and a vendor's state is shared", async () => {
  const { shared, one, two } = await twoServers();
  assert.equal(await one.nodes.tokens.useNonce("a"), undefined);
  assert.deepEqual(shared.asked, ["stream a"]);
  one.nodes.publishBreaker({
    id: "credentials",
    version: 1,
    category: "llm",
    vendor: "openai",
    phase: "open",
    changeCount: 1,
    pauseMs: 5_000,
    leftMs: 5_000,
    lastFault: undefined,
  });
  await settled();
  assert.deepEqual([one.heard, two.heard], [[], ["breakers"]]);
});

test("a change of records is announced to the others", async () => {
  const { one, two } = await twoServers();
  await one.nodes.recordsChanged();
  await settled();
  assert.deepEqual(two.heard, ["records"]);
});

test("a server says how many calls it has and whether it takes more, and nothing when it has left", async () => {
  const shared = newDatabase();
  const { nodes, startId, serve, clock } = await newServer(shared, "one");
  await nodes.join();
  const state = () => {
    const { calls, isTaking } = Object(shared.beats.get(startId));
    return [calls, isTaking];
  };
  assert.deepEqual(state(), [0, false], "before it serves");
  await assert.rejects(async () => {
    shared.holders.set("call", "other");
    await nodes.hasCall("call");
  }, /before `serve`/);
  await serve();
  assert.deepEqual(state(), [4, true]);
  assert.deepEqual([nodes.isDraining, nodes.liveCount, nodes.othersAccept], [false, 1, false]);
  assert.deepEqual([nodes.streamAddress(), nodes.otherAvailableServer()], [undefined, undefined]);
  shared.posted.splice(0);
  let goOn = () => {};
  shared.way.held = new Promise((resolve) => (goOn = resolve));
  clock.advance(2_000);
  const stopped = nodes.stopTaking();
  goOn();
  await stopped;
  assert.deepEqual([state(), shared.posted], [[4, false], ["parley nodes"]], "behind the last");
  await nodes.leave();
  assert.deepEqual([shared.listening, clock.pendingTimerCount], [[], 0]);
  assert.ok(shared.asked.includes(`remove ${startId}`));
});

test("a stop waits a second for a database that does not answer, and logs one that is away", async () => {
  const { shared, one } = await twoServers();
  shared.way.fault = new Error("away");
  await one.nodes.stopTaking();
  assert.deepEqual(one.log.ofLevel("warn").at(-1)?.fields, { error: shared.way.fault });
  shared.way.fault = undefined;
  shared.way.held = new Promise(() => undefined);
  let isOver = false;
  const stopped = one.nodes.stopTaking().then(() => {
    isOver = true;
  });
  one.clock.advance(999);
  await settled();
  assert.equal(isOver, false);
  one.clock.advance(1);
  await stopped;
});
