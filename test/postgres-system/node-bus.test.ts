import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import type { LocalServer } from "../../engine/cluster/coordination.js";
import { ALL_NODES, channelOf, NODE_ANSWERS, NodeBus } from "../../engine/cluster/node-bus.js";
import { Nodes, type NodesOptions } from "../../engine/cluster/nodes.js";
import { RequestError } from "../../engine/request-error.js";
import { type Clock, SystemClock } from "../../engine/time/clock.js";
import { type Database, openDatabase } from "../../storage/database.js";
import { RECORDS_CHANGED } from "../../storage/nodes/message-bus.js";
import { Changes } from "../doubles/changes.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { VirtualClock } from "../doubles/virtual-clock.js";
import { insertOrganizations } from "../storage/sample-records.js";
import { temporaryFile } from "../storage/temporary-file.js";
import { eventually } from "../system/eventually.js";

const MAIL_BYTES_MAX = 7_900;
const QUESTIONS_MAX = 1_000;
const cluster = await PostgresCluster.start();

interface OpenedNodes {
  readonly clock: Clock;
  readonly handOver: LocalServer["handlers"]["handOver"];
}

const noCall: OpenedNodes["handOver"] = () => {
  throw new Error("nobody hands a call over here");
};
const NEVER = new Promise<never>(() => undefined);

async function openMail(context: TestContext): Promise<Database & { readonly url: string }> {
  const url = await cluster.makeDatabase();
  const database = await openDatabase({ filePath: temporaryFile(), url });
  context.after(() => database.close());
  return Object.assign(database, { url });
}

async function nodeOn(
  context: TestContext,
  { messageBus }: Database,
  startId: string,
  {
    clock = new SystemClock(),
    isRinging = (callId: string): boolean | Promise<boolean> => callId === startId,
  } = {},
) {
  assert.ok(messageBus);
  const changes = new Changes();
  const log = new RecordingLogger();
  const told: string[] = [];
  const counts = { changed: 0, recordsChanged: 0, listened: 0 };
  const node = new NodeBus({
    messageBus,
    startId,
    handlers: {
      isRinging,
      handOver: () => {
        throw new Error("it went wrong");
      },
      report: () => true,
      endCall: ({ callId, ending }) => {
        told.push(`${callId} ${ending.reason}`);
        return true;
      },
      controlCall: ({ callId, command }) => {
        told.push(`${callId} ${command.type}`);
        return "tooManyWaiting";
      },
      hasCall: (callId) => callId === startId,
    },
    onChange: () => {
      counts.changed += 1;
      changes.tell();
    },
    onListening: () => {
      counts.listened += 1;
      changes.tell();
    },
    onRecordsChanged: () => {
      counts.recordsChanged += 1;
      changes.tell();
    },
    clock,
    log,
  });
  await node.open();
  context.after(() => node.close());
  return { node, changes, log, told, counts };
}

const isRinging = (callId: string) => ({ name: "isRinging", asks: callId }) as const;
const isUnavailable = (error: unknown) =>
  error instanceof RequestError && error.code === "unavailable";

test("a node answers another's requests, and receives its messages", async (context) => {
  const database = await openMail(context);
  const { node: one } = await nodeOn(context, database, "one");
  const { told, log } = await nodeOn(context, database, "other");
  assert.equal(await one.request("other", isRinging("other"), NODE_ANSWERS.isRinging), true);
  assert.equal(await one.request("other", isRinging("x"), NODE_ANSWERS.isRinging), false);
  for (const callId of ["other", "x"]) {
    const hasCall = { name: "hasCall", asks: callId } as const;
    assert.equal(await one.request("other", hasCall, NODE_ANSWERS.hasCall), callId === "other");
  }
  const handOver = { name: "handOver", asks: { callId: "a", orgId: "org" } } as const;
  await assert.rejects(one.request("other", handOver, NODE_ANSWERS.handOver), isUnavailable);
  assert.match(
    log.ofLevel("warn")[0]?.message ?? "",
    /failed to handle a request of another server/,
  );
  const ending = { reason: "callerLeft", status: "completed", message: "gone" } as const;
  const endCall = { name: "endCall", asks: { callId: "a", ending } } as const;
  assert.equal(await one.request("other", endCall, NODE_ANSWERS.endCall), true);
  assert.deepEqual(told, ["a callerLeft"]);
});

test("an invalid message is ignored, and one that is too long is not sent", async (context) => {
  const database = await openMail(context);
  const { log, changes, counts } = await nodeOn(context, database, "one");
  for (const text of ["", "{}", '{"kind":"question","from":"x","question":{"name":"drop"}}']) {
    await database.messageBus?.post(channelOf("one"), text);
  }
  await database.messageBus?.post(ALL_NODES, "");
  await changes.until("the last of them", () => counts.changed > 0);
  assert.equal(log.ofLevel("warn").length, 3);
  const tooLong = database.messageBus?.post(ALL_NODES, "é".repeat(MAIL_BYTES_MAX / 2 + 1));
  await assert.rejects(tooLong ?? NEVER, RangeError);
});

test("a change of records reaches the other nodes, and not the one that made it", async (context) => {
  const database = await openMail(context);
  const one = await nodeOn(context, database, "one");
  const other = await nodeOn(context, database, "other");
  await database.messageBus?.post(RECORDS_CHANGED, "one");
  await other.changes.until("the change", () => other.counts.recordsChanged > 0);
  assert.equal(one.counts.recordsChanged, 0);
  // A command line opens the database as this test does.
  await database.organizations.setStatus("unknown", "pending", 1);
  await one.changes.until("the change", () => one.counts.recordsChanged > 0);
});

test("a node that does not answer is not waited for, and not too many questions wait", async (context) => {
  const database = await openMail(context);
  const clock = new VirtualClock();
  const { node } = await nodeOn(context, database, "one", { clock });
  const ask = () => node.request("nobody", isRinging("a"), NODE_ANSWERS.isRinging);
  const asked = Array.from({ length: QUESTIONS_MAX }, () => assert.rejects(ask(), isUnavailable));
  await assert.rejects(ask(), /too slowly/);
  clock.advance(2_000);
  await Promise.all(asked);
  const next = assert.rejects(ask(), isUnavailable);
  await node.close();
  await next;
});

test("a node that asks too much is not answered", async (context) => {
  const database = await openMail(context);
  const held: ((answer: boolean) => void)[] = [];
  const asking = await nodeOn(context, database, "asking", { clock: new VirtualClock() });
  const { log, changes } = await nodeOn(context, database, "asked", {
    isRinging: () => new Promise<boolean>((resolve) => held.push(resolve)),
  });
  const first = Array.from({ length: QUESTIONS_MAX }, () =>
    asking.node.request("asked", isRinging("a"), NODE_ANSWERS.isRinging),
  );
  const other = await nodeOn(context, database, "other", { clock: new VirtualClock() });
  await changes.until("all to be asked", async () => {
    await database.messageBus?.post(ALL_NODES, "");
    return held.length === QUESTIONS_MAX;
  });
  const last = assert.rejects(
    other.node.request("asked", isRinging("a"), NODE_ANSWERS.isRinging),
    isUnavailable,
  );
  await changes.until("the last to be dropped", async () => {
    await database.messageBus?.post(ALL_NODES, "");
    return log.ofLevel("warn").length === 1;
  });
  for (const answer of held) answer(true);
  await Promise.all(first);
  await other.node.close();
  await last;
});

test("a node whose connection is lost listens again, and looks what it has missed", async (context) => {
  const database = await openMail(context);
  const { changes, counts, log } = await nodeOn(context, database, "one");
  const other = await nodeOn(context, database, "other");
  assert.equal(counts.listened, 1);
  await cluster.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%' and datname = current_database()`,
    database.url,
  );
  await changes.until("the node to look", () => counts.changed > 0 && counts.listened === 2);
  assert.match(log.ofLevel("warn")[0]?.message ?? "", /reconnecting/);
  await other.changes.until("the other node to listen too", () => other.counts.changed > 0);
  assert.ok(await other.node.request("one", isRinging("one"), NODE_ANSWERS.isRinging));
});

/** A server on its own clock, as the others see it. */
async function nodesOn(
  database: Database,
  startId: string,
  { clock = new SystemClock(), handOver = noCall }: Partial<OpenedNodes> = {},
): Promise<Nodes> {
  const { messageBus } = database;
  assert.ok(messageBus);
  const address = `http://${startId}`;
  const node = { startId, name: startId, address, version: "1.0.0", capacity: 10 };
  const surroundings = { clock, log: new RecordingLogger(), isNameCertain: true };
  const options: NodesOptions = {
    ...surroundings,
    database,
    messageBus,
    node,
    onLost: () => undefined,
  };
  const nodes = new Nodes(options);
  await nodes.join();
  await nodes.serve({
    handlers: {
      isRinging: () => true,
      handOver,
      report: () => true,
      endCall: () => true,
      controlCall: () => "done",
      hasCall: () => true,
    },
    callCount: 0,
    isTaking: true,
    hasCall: () => false,
    events: { watchedTopics: () => [], onSubscription: () => undefined, onEvent: () => undefined },
    breakers: { known: () => [], onBreakers: () => undefined },
    recordsChanged: () => undefined,
  });
  return nodes;
}

test("a stopping server is announced to the others before their next heartbeat", async (context) => {
  const database = await openMail(context);
  // In this order the first heartbeat of the second one knows both, and no other comes by itself.
  const stops = await nodesOn(database, "stops", { clock: new VirtualClock(0) });
  const stays = await nodesOn(database, "stays", { clock: new VirtualClock(0) });
  const sentTo = () => new Set([stays.streamAddress(), stays.streamAddress()]);
  assert.ok(sentTo().has("http://stops"));
  await stops.stopTaking();
  await eventually("word of its stop", () => !sentTo().has("http://stops") || undefined);
  await Promise.all([stops.leave(), stays.leave()]);
});

test("a call that goes to another server keeps its place, though the former one may take it for left over", async (context) => {
  const database = await openMail(context);
  await insertOrganizations(database);
  const { callSlots } = database;
  const call = { callId: "call", orgId: "org" };
  const opened = (startId: string) =>
    nodesOn(database, startId, {
      handOver: async () => {
        // As its sweep does, which finds that the server has no such call any more.
        await callSlots.free(startId, [call.callId]);
        return {
          claims: { ...call, agentId: "agent", vendor: "twilio" },
          callRef: "CA1",
          answeredBy: "",
        };
      },
    });
  const [giver, taker] = [await opened("giver"), await opened("taker")];
  assert.ok(await giver.takeSlot({ ...call, callsMax: 1 }));
  assert.equal((await taker.handOver(call))?.callRef, "CA1");
  assert.equal(await callSlots.holderOf(call.callId), "taker");
  await Promise.all([giver.leave(), taker.leave()]);
});

test("a server learns whether another one has a call", async (context) => {
  const database = await openMail(context);
  await insertOrganizations(database);
  const opened = (startId: string) => nodesOn(database, startId, { clock: new VirtualClock(0) });
  const [one, other] = [await opened("one"), await opened("other")];
  assert.ok(await one.takeSlot({ callId: "call", orgId: "org", callsMax: 1 }));
  assert.equal(await other.hasCall("call"), true);
  assert.equal(await other.hasCall("nobody's"), false);
  assert.equal(await one.hasCall("call"), false, "it is no other's");
  await Promise.all([one.leave(), other.leave()]);
});
