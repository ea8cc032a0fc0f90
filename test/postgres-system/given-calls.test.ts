import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import type { Handlers } from "../../engine/cluster/ipc-link.js";
import type { WorkerRequests } from "../../engine/cluster/ipc-messages.js";
import { ASKED_AGAIN_MS } from "../../engine/cluster/node-bus.js";
import { Nodes } from "../../engine/cluster/nodes.js";
import { ORGANIZATION_ENDED } from "../../engine/conversation/call-end.js";
import { type Database, openDatabase } from "../../storage/database.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { VirtualClock } from "../doubles/virtual-clock.js";
import { newCluster, ORG, slotOf } from "../engine/cluster/cluster-in-one-process.js";
import { insertOrganizations } from "../storage/sample-records.js";
import { temporaryFile } from "../storage/temporary-file.js";
import { eventually } from "../system/eventually.js";

const CALL = { callId: "a", orgId: ORG };
const HANDED = {
  claims: { ...CALL, agentId: "agent", vendor: "twilio" },
  callRef: "CA1",
  answeredBy: "",
};
const REPORT = { claims: HANDED.claims, report: { status: "in-progress", answeredBy: "human" } };
/** As in engine/cluster/node-bus.ts. */
const RECONNECT_MIN_MS = 200;
const cluster = await PostgresCluster.start();

/** Boxes of one database, each with one worker; time stands still. */
class GivenCallStand {
  readonly database: Database;
  readonly clock = new VirtualClock();
  readonly #url: string;
  readonly #context: TestContext;

  static async start(context: TestContext): Promise<GivenCallStand> {
    const url = await cluster.makeDatabase();
    const database = await openDatabase({ filePath: temporaryFile(), url });
    context.after(() => database.close());
    await insertOrganizations(database);
    return new GivenCallStand(context, database, url);
  }

  private constructor(context: TestContext, database: Database, url: string) {
    this.#context = context;
    this.database = database;
    this.#url = url;
  }

  async serve(startId: string, handlers: Partial<Handlers<WorkerRequests>> = {}) {
    const { database, clock } = this;
    const { messageBus } = database;
    assert.ok(messageBus);
    const log = new RecordingLogger();
    const about = { address: null, version: "1.0.0", capacity: 10 };
    const node = { startId, name: startId, ...about };
    const surroundings = { database, messageBus, clock, log, isNameCertain: true };
    const nodes = new Nodes({ ...surroundings, node, onLost: () => undefined });
    await nodes.join();
    const { primary, join } = newCluster({ nodes });
    const process = join(1, handlers);
    await nodes.serve(primary.asNode);
    this.#context.after(() => nodes.leave());
    return { process, log };
  }

  /** Nobody hears anything until time goes on. */
  async cutListeners(): Promise<void> {
    await cluster.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%' and datname = current_database()`,
      this.#url,
    );
  }

  /** Resolves when both listen to the last of their channels. */
  async listening(...startIds: readonly string[]): Promise<void> {
    const last = startIds.map((startId) => `'listen "parley breakers ${startId}"'`);
    const sql = `select pid from pg_stat_activity where state = 'idle' and query in (${last.join()})`;
    await eventually("the servers to listen", async () => {
      const { rows } = await cluster.query(sql, this.#url);
      return rows.length === startIds.length || undefined;
    });
  }
}

const deaf = ({ log }: { readonly log: RecordingLogger }) =>
  eventually("a server to be deaf", () => {
    return log.ofLevel("warn").some(({ message }) => /reconnecting/.test(message)) || undefined;
  });

test("a report about a call that is moving to another server reaches it there, wherever it arrives", async (context) => {
  const stand = await GivenCallStand.start(context);
  const taken: string[] = [];
  const told: Promise<boolean>[] = [];
  const giver = await stand.serve("giver", {
    handOver: () => {
      for (const { process } of [giver, third]) told.push(process.request("report", REPORT));
      return HANDED;
    },
  });
  const third = await stand.serve("third");
  const taker = await stand.serve("taker", {
    report: ({ report: { answeredBy } }) => taken.push(answeredBy) > 0,
  });
  await giver.process.request("takeSlot", slotOf(CALL.callId));
  assert.deepEqual(await taker.process.request("handOver", CALL), HANDED);
  assert.deepEqual(await Promise.all(told), [true, true]);
  assert.deepEqual(taken, ["human", "human"]);
  assert.equal(await stand.database.callSlots.holderOf(CALL.callId), "taker");
});

test("a call whose hand-over response was lost arrives all the same", async (context) => {
  const stand = await GivenCallStand.start(context);
  let handOvers = 0;
  const giver = await stand.serve("giver", {
    handOver: async () => {
      handOvers += 1;
      await stand.cutListeners();
      await Promise.all([deaf(giver), deaf(taker)]);
      return HANDED;
    },
  });
  const taker = await stand.serve("taker");
  await giver.process.request("takeSlot", slotOf(CALL.callId));
  const handed = taker.process.request("handOver", CALL);
  await Promise.all([deaf(giver), deaf(taker)]);
  stand.clock.advance(RECONNECT_MIN_MS);
  await stand.listening("giver", "taker");
  stand.clock.advance(ASKED_AGAIN_MS - RECONNECT_MIN_MS);
  assert.deepEqual(await handed, HANDED);
  assert.equal(handOvers, 1);
  assert.equal(await taker.process.request("countSlots", ORG), 1);
});

test("a call moves to the requesting server, though its slot cannot move along", async (context) => {
  const stand = await GivenCallStand.start(context);
  const giver = await stand.serve("giver", { handOver: () => HANDED });
  const taker = await stand.serve("taker");
  await giver.process.request("takeSlot", slotOf(CALL.callId));
  const away = () => Promise.reject(new Error("the database is away"));
  context.mock.method(stand.database.callSlots, "move", away);
  assert.deepEqual(await taker.process.request("handOver", CALL), HANDED);
  assert.ok(
    taker.log
      .ofLevel("warn")
      .some(({ message }) => /failed to take over a call slot/.test(message)),
  );
});

test("the end of a call is not reported to a server that no longer has it", async (context) => {
  const stand = await GivenCallStand.start(context);
  const one = await stand.serve("one");
  const other = await stand.serve("other");
  await one.process.request("takeSlot", slotOf("here"));
  const { callSlots } = stand.database;
  assert.ok(await callSlots.take({ ...slotOf("left over"), startId: "one" }));
  const end = (callId: string) =>
    other.process.request("endCall", { callId, ending: ORGANIZATION_ENDED });
  assert.deepEqual([await end("here"), await end("left over")], [true, false]);
});
