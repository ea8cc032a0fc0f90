import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { drainNode, NodeRegistry } from "../../engine/cluster/node-registry.js";
import { type Database, openDatabase } from "../../storage/database.js";
import { ForeignKeyViolationError } from "../../storage/statements/foreign-key-violation.js";
import { StorageUnavailableError } from "../../storage/statements/storage-error.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { VirtualClock } from "../doubles/virtual-clock.js";
import { callRecord, insertOrganizations } from "../storage/sample-records.js";
import { temporaryFile } from "../storage/temporary-file.js";
import { eventually } from "../system/eventually.js";

const SILENCE_MAX_MS = 15_000;
const BEAT_MS = 2_000;
const cluster = await PostgresCluster.start();
const BEATS_OF_SILENCE = SILENCE_MAX_MS / BEAT_MS + 1;

interface StandingNode {
  readonly registry: NodeRegistry;
  readonly startId: string;
  /** The run of the calls that the node has. */
  readonly runId: string;
  readonly log: RecordingLogger;
  readonly lost: string[];
}

/** Nodes of one database, whose time a test moves: each beats when it is told to. */
class RegistryStand {
  readonly database: Database;
  readonly url: string;
  #callCount = 0;

  static async start(context: TestContext): Promise<RegistryStand> {
    const url = await cluster.makeDatabase();
    const database = await openDatabase({ filePath: temporaryFile(), url });
    context.after(() => database.close());
    await insertOrganizations(database);
    return new RegistryStand(database, url);
  }

  private constructor(database: Database, url: string) {
    this.database = database;
    this.url = url;
  }

  async join(
    name: string,
    clock: VirtualClock,
    { isNameCertain = true, state = { isTaking: true, isStopping: false } } = {},
  ): Promise<StandingNode> {
    const { database } = this;
    const log = new RecordingLogger();
    const lost: string[] = [];
    const startId = randomUUID();
    const node = { startId, name, address: null, version: "1.0.0", capacity: 10 };
    const registry = new NodeRegistry({
      database,
      node,
      isNameCertain,
      isStopping: () => state.isStopping,
      state: () => ({ calls: 0, isTaking: state.isTaking }),
      onLost: () => lost.push(name),
      onSweep: () => Promise.resolve(),
      clock,
      log,
    });
    await registry.join();
    const runId = `run of ${startId}`;
    await database.nodes.addRun(startId, runId);
    return { registry, startId, runId, log, lost };
  }

  async beginCall({ runId, startId }: StandingNode): Promise<string> {
    this.#callCount += 1;
    const callId = `call ${this.#callCount}`;
    const slot = { orgId: "org", callId, callsMax: 100, startId };
    assert.ok(await this.database.callSlots.take(slot));
    await this.database.calls.start(callRecord({ id: callId }), runId);
    return callId;
  }

  async names(): Promise<readonly string[]> {
    return (await this.database.nodes.list()).map(({ name }) => name);
  }

  async callsOfToday(): Promise<number> {
    const days = await this.database.usage.list("org", "0000-01-01", "9999-12-31");
    return days.reduce((sum, { calls }) => sum + calls, 0);
  }
}

async function beats(count: number, clock: VirtualClock, nodes: readonly StandingNode[]) {
  for (let beat = 0; beat < count; beat += 1) {
    clock.advance(BEAT_MS);
    await Promise.all(nodes.map(({ registry }) => registry.beat()));
  }
}

test("the calls of a silent node are closed once, by the first other node, and its slots are free", async (context) => {
  const stand = await RegistryStand.start(context);
  const clock = new VirtualClock();
  const [one, other] = [await stand.join("one", clock), await stand.join("other", clock)];
  const dead = await stand.join("dead", new VirtualClock());
  const callIds = [await stand.beginCall(dead), await stand.beginCall(dead)];
  const living = await stand.beginCall(one);
  await beats(BEATS_OF_SILENCE - 2, clock, [one, other]);
  assert.deepEqual(await stand.names(), ["dead", "one", "other"]);
  await beats(3, clock, [one, other]);
  assert.deepEqual(await stand.names(), ["one", "other"]);
  for (const id of callIds) {
    const call = await stand.database.calls.findById("org", id);
    assert.equal(call?.status, "failed");
    assert.equal(call?.metadata["endReason"], "the server that had the call was lost");
  }
  assert.equal((await stand.database.calls.findById("org", living))?.status, "active");
  assert.equal(await stand.callsOfToday(), 2);
  assert.equal(await stand.database.callSlots.count("org"), 1);
  await assert.rejects(stand.beginCall(dead), ForeignKeyViolationError);
  await dead.registry.beat();
  await dead.registry.beat();
  assert.deepEqual(dead.lost, ["dead"], "it learns it, once");
});

test("after the database was down for all, no node counts as dead", async (context) => {
  const stand = await RegistryStand.start(context);
  const clock = new VirtualClock();
  const nodes = [await stand.join("one", clock), await stand.join("other", clock)];
  await beats(2, clock, nodes);
  await cluster.stop();
  await beats(2 * BEATS_OF_SILENCE, clock, nodes);
  await cluster.resume();
  await beats(2, clock, nodes.slice(0, 1));
  await beats(BEATS_OF_SILENCE, clock, nodes);
  assert.deepEqual(await stand.names(), ["one", "other"]);
  const [first] = nodes;
  assert.match(first?.log.ofLevel("warn")[0]?.message ?? "", /failed to store/);
});

test("a node that has lived on since it was looked at cannot be taken for dead", async (context) => {
  const stand = await RegistryStand.start(context);
  const clock = new VirtualClock();
  const { registry } = await stand.join("one", clock);
  const [seen] = await stand.database.nodes.list();
  assert.ok(seen);
  await registry.beat();
  assert.equal(await stand.database.nodes.lose(seen), false);
});

test("a call that a dying node opened at the last moment is found", async (context) => {
  const stand = await RegistryStand.start(context);
  const clock = new VirtualClock();
  const one = await stand.join("one", clock);
  await stand.database.calls.start(callRecord({ id: "late" }), "a run of nobody");
  await beats(16, clock, [one]);
  assert.equal((await stand.database.calls.findById("org", "late"))?.status, "failed");
});

test("a start closes what an earlier one of its name has left, unless that one lives", async (context) => {
  const stand = await RegistryStand.start(context);
  const earlier = await stand.join("one", new VirtualClock());
  const callId = await stand.beginCall(earlier);
  const clock = new VirtualClock();
  const again = stand.join("one", clock, { isNameCertain: false });
  const refused = assert.rejects(again, StorageUnavailableError);
  await eventually("it to wait", () => (clock.pendingTimerCount > 0 ? true : undefined));
  await earlier.registry.beat();
  clock.advance(BEAT_MS);
  await refused;
  assert.equal((await stand.database.calls.findById("org", callId))?.status, "active");
  await stand.join("one", clock);
  assert.equal((await stand.database.calls.findById("org", callId))?.status, "failed");
  assert.deepEqual(await stand.names(), ["one"]);
});

test("a start continues when another node has removed what an earlier one of its name left", async (context) => {
  const stand = await RegistryStand.start(context);
  const earlier = await stand.join("one", new VirtualClock());
  const clock = new VirtualClock();
  const again = stand.join("one", clock, { isNameCertain: false });
  await eventually("it to wait", () => (clock.pendingTimerCount > 0 ? true : undefined));
  await earlier.registry.leave();
  clock.advance(BEAT_MS);
  const { startId } = await again;
  assert.deepEqual(
    (await stand.database.nodes.list()).map((node) => node.startId),
    [startId],
  );
});

test("a node continues its heartbeats while the calls of another cannot be closed yet", async (context) => {
  const stand = await RegistryStand.start(context);
  const clock = new VirtualClock();
  const one = await stand.join("one", clock);
  const dead = await stand.join("dead", new VirtualClock());
  const callId = await stand.beginCall(dead);
  const letGo = await cluster.hold(
    `select 1 from "calls" where "id" = '${callId}' for update`,
    stand.url,
  );
  await beats(BEATS_OF_SILENCE - 2, clock, [one]);
  const heartbeat = async () =>
    (await stand.database.nodes.list()).find(({ startId }) => startId === one.startId)
      ?.heartbeatAtMs;
  for (let beat = 0; beat < 4; beat += 1) {
    const before = await heartbeat();
    clock.advance(BEAT_MS);
    await eventually("the next heartbeat", async () =>
      (await heartbeat()) === before ? undefined : true,
    );
  }
  assert.deepEqual(await stand.names(), ["dead", "one"]);
  await letGo();
  await one.registry.beat();
  assert.deepEqual(await stand.names(), ["one"]);
});

test("a stopping server sends callers to any other live one; a continuing one, to those that accept them", async (context) => {
  const stand = await RegistryStand.start(context);
  const clock = new VirtualClock();
  const state = { isTaking: true, isStopping: false };
  const { registry } = await stand.join("one", clock, { state });
  assert.equal(registry.otherAvailableServer, undefined);
  // As a server is that is still being started when it is last heard of.
  const starting = { isTaking: false, isStopping: false };
  const other = await stand.join("other", clock, { state: starting });
  await registry.beat();
  assert.equal(registry.otherAvailableServer, undefined);
  assert.equal(registry.othersAccept, false);
  Object.assign(state, { isTaking: false, isStopping: true });
  assert.deepEqual(registry.otherAvailableServer, { address: undefined });
  assert.equal(registry.othersAccept, true);
  const operator = { type: "administrator", id: "" } as const;
  await drainNode({ database: stand.database, clock, newId: randomUUID }, "other", operator);
  await registry.beat();
  assert.equal(registry.otherAvailableServer, undefined, "the other takes none for good");
  await other.registry.leave();
});
