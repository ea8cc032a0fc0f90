import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeBox } from "../../../engine/box/other-nodes.js";
import { Nodes } from "../../../engine/nodes/nodes.js";
import { CALLER_LEFT } from "../../../engine/session/ending.js";
import type { Database } from "../../../storage/database.js";
import type { Mail, MailListener } from "../../../storage/nodes/mail.js";
import type { NodeStart } from "../../../storage/nodes/node-store.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const CLAIMS = { callId: "call", orgId: "org", agentId: "agent" };
const HANDED = { claims: CLAIMS, callRef: "ref", answeredBy: "human" } as const;
const CALL = { callId: "call", orgId: "org" };

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

/** What all servers of a database have in common: its rows and its mail. */
function newDatabase() {
  const asked: string[] = [];
  const holders = new Map<string, string>();
  const beats = new Map<string, unknown>();
  const listening: { readonly channels: readonly string[]; readonly listener: MailListener }[] = [];
  const posted: string[] = [];
  const way = { fault: undefined as Error | undefined, held: Promise.resolve() };
  const told = (words: string) => {
    asked.push(words);
    if (way.fault !== undefined) throw way.fault;
  };
  const callSlots = {
    take: async (slot: { callId: string; callsMax: number; startId: string }) => {
      told(`take ${slot.callId} of ${slot.callsMax}`);
      holders.set(slot.callId, slot.startId);
      return true;
    },
    free: async (startId: string, ids: readonly string[]) => told(`free ${startId} ${ids.join()}`),
    count: async () => 7,
    holderOf: async (callId: string) => holders.get(callId),
    move: async (callId: string, from: string, to: string) => {
      told(`move ${callId} ${from} ${to}`);
      if (holders.get(callId) !== from) return false;
      holders.set(callId, to);
      return true;
    },
    callsOf: async (startId: string) =>
      [...holders].flatMap(([id, by]) => (by === startId ? [id] : [])),
  };
  const nodes = {
    list: async () => [],
    register: async (_node: NodeStart) => undefined,
    beat: async (startId: string, said: unknown) => {
      await way.held;
      beats.set(startId, said);
      return [];
    },
    remove: async (startId: string) => told(`remove ${startId}`),
    runsOf: async () => [],
    orphanRuns: async () => [],
    addRun: async (startId: string, runId: string) => told(`run ${startId} ${runId}`),
  };
  const onceTokens = { purge: async () => told("purge") };
  // Only what is called.
  const database = { nodes, callSlots, onceTokens, calls: {} } as unknown as Database;
  const post = async (channel: string, text: string) => {
    if (way.fault !== undefined) throw way.fault;
    posted.push(channel);
    for (const { channels, listener } of listening) {
      if (channels.includes(channel)) setImmediate(() => listener.onMail(channel, text));
    }
  };
  const mail: Mail = {
    post,
    postToAll: async (channels, text) => {
      for (const channel of channels) await post(channel, text);
    },
    listen: async (channels, listener) => {
      const one = { channels, listener };
      listening.push(one);
      return async () => void listening.splice(listening.indexOf(one), 1);
    },
  };
  return { database, mail, asked, holders, beats, listening, posted, way };
}

type Shared = ReturnType<typeof newDatabase>;

/** A server that has joined and is asked by the others. */
async function newServer({ database, mail }: Shared, name: string, has: readonly string[] = []) {
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const heard: string[] = [];
  const calls = new Set(has);
  const hear = (words: string, callId: string) => {
    heard.push(`${words} ${callId}`);
    return calls.has(callId);
  };
  const box: NodeBox = {
    handlers: {
      isRinging: (callId) => hear("rings", callId),
      handOver: ({ callId }) => (hear("hand over", callId) ? HANDED : undefined),
      report: ({ claims }) => hear("report", claims.callId),
      endCall: ({ callId }) => hear("end", callId),
      hasCall: (callId) => hear("has", callId),
    },
    callCount: 4,
    isTaking: true,
    holds: (callId) => calls.has(callId),
    news: {
      watchedTopics: () => [],
      onWanted: () => void heard.push("wanted"),
      onNews: () => void heard.push("news"),
    },
    breakers: { known: () => [], onBreakers: () => void heard.push("breakers") },
    recordsChanged: () => void heard.push("records"),
  };
  const startId = `start of ${name}`;
  const node = { startId, name, address: null, version: "1", capacity: 10 };
  const onLost = () => undefined;
  const nodes = new Nodes({ database, mail, node, isNameCertain: true, onLost, clock, log });
  const serve = async () => {
    await nodes.serve(box);
    await settled();
  };
  const served = async () => {
    await nodes.join();
    await serve();
  };
  return { nodes, startId, clock, log, heard, calls, serve, served };
}

async function twoServers() {
  const shared = newDatabase();
  const one = await newServer(shared, "one");
  const two = await newServer(shared, "two", ["call"]);
  await one.served();
  await two.served();
  shared.holders.set("call", two.startId);
  for (const list of [shared.asked, shared.posted, one.heard, two.heard]) list.splice(0);
  return { shared, one, two };
}

test("who has a call is asked about it, and nobody where it is here or nowhere", async () => {
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

test("who was given the call just now is asked behind who gave it", async () => {
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

test("slots are counted for all servers, and given back by the next sweep where they could not be before", async () => {
  const { shared, one, two } = await twoServers();
  assert.equal(await one.nodes.countSlots("org"), 7);
  assert.equal(await one.nodes.takeSlot({ ...CALL, callId: "new", callsMax: 2 }), true);
  one.nodes.freeSlots(["new"]);
  await one.nodes.giveSlot("call", "third");
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
  await one.nodes.giveSlot("call", "third");
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

test("a change of records is told to the others", async () => {
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
  assert.deepEqual([nodes.isDraining, nodes.liveCount, nodes.othersTake], [false, 1, false]);
  assert.deepEqual([nodes.streamAddress, nodes.elsewhere], [undefined, undefined]);
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
