import assert from "node:assert/strict";
import { test } from "node:test";
import { NodeRegistry } from "../../../engine/cluster/node-registry.js";
import type { Database } from "../../../storage/database.js";
import type { NodeRecord, NodeStart } from "../../../storage/nodes/node-store.js";
import { measuredLoad } from "../../doubles/measured-load.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const BEAT_MS = 2_000;
const SILENCE_MAX_MS = 15_000;
const settled = () => new Promise(setImmediate);

function nodeOf(name: string, changes: Partial<NodeRecord> = {}): NodeRecord {
  const about = { startId: `start of ${name}`, name, address: null, version: "1", capacity: 10 };
  const state = { calls: 0, load: 0, isTaking: 1, isDraining: 0, isLost: 0 };
  return { ...about, ...state, startedAtMs: 0, heartbeatAtMs: 0, silentMs: 0, ...changes };
}

/** The rows that servers of one database have in common, as a test sets them. */
function newDatabase() {
  const rows = { nodes: [] as NodeRecord[], runs: new Map<string, string[]>() };
  const orphans: string[] = [];
  const closed: string[] = [];
  const accused: string[] = [];
  const told: unknown[] = [];
  const state = {
    fault: undefined as Error | undefined,
    held: Promise.resolve(),
    callsPerRun: 1,
    isLost: false,
    livesOn: false,
  };
  const nodes = {
    list: async () => rows.nodes,
    register: async (node: NodeStart) => void rows.nodes.push(nodeOf(node.name, node)),
    beat: async (_startId: string, said: unknown) => {
      await state.held;
      if (state.fault !== undefined) throw state.fault;
      told.push(said);
      return state.isLost ? undefined : rows.nodes;
    },
    lose: async ({ name, startId, heartbeatAtMs }: NodeRecord) => {
      accused.push(name);
      const isSame = (node: NodeRecord) =>
        node.startId === startId && node.heartbeatAtMs === heartbeatAtMs;
      return !state.livesOn && rows.nodes.some(isSame);
    },
    remove: async (startId: string) => {
      rows.nodes = rows.nodes.filter((node) => node.startId !== startId);
    },
    runsOf: async (startId: string) => rows.runs.get(startId) ?? [],
    orphanRuns: async () => orphans.splice(0),
  };
  const calls = {
    closeRunOfLostNode: async (runId: string) => {
      closed.push(runId);
      return state.callsPerRun;
    },
  };
  // Only what is called.
  const database = { nodes, calls } as unknown as Database;
  return { database, rows, orphans, closed, accused, told, state };
}

async function joined(database = newDatabase(), isNameCertain = true) {
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const counts = { lost: 0, sweeps: 0 };
  const own = { isStopping: false, calls: 3 };
  const registry = new NodeRegistry({
    database: database.database,
    node: { startId: "own", name: "own", address: "wss://own", version: "1", capacity: 10 },
    isNameCertain,
    isStopping: () => own.isStopping,
    state: () => ({ calls: own.calls, isTaking: true }),
    onLost: () => void (counts.lost += 1),
    onSweep: async () => void (counts.sweeps += 1),
    clock,
    log,
  });
  const joining = registry.join();
  const beats = async (count: number) => {
    for (let beat = 0; beat < count; beat += 1) {
      clock.advance(BEAT_MS);
      await settled();
    }
  };
  return { ...database, clock, log, counts, own, registry, joining, beats };
}

test("a server says that it lives every two seconds, and puts away every half minute what is over", async (context) => {
  measuredLoad(context, 3, 4);
  const { joining, told, counts, beats, registry, clock } = await joined();
  await joining;
  assert.deepEqual([told.length, counts.sweeps], [1, 1]);
  await beats(14);
  assert.deepEqual([told.length, counts.sweeps], [15, 1]);
  await beats(1);
  assert.deepEqual([told.length, counts.sweeps], [16, 2]);
  assert.deepEqual(told[0], { calls: 3, isTaking: true, load: 0.75 });
  await registry.leave();
  await registry.beat();
  assert.deepEqual([told.length, clock.pendingTimerCount], [16, 0]);
});

test("callers are sent to live nodes that accept them, in turn while their loads are unknown", async () => {
  const { joining, registry, rows, beats } = await joined();
  await joining;
  assert.deepEqual([registry.liveCount, registry.streamAddress], [1, "wss://own"]);
  rows.nodes.push(
    nodeOf("other", { address: "wss://other" }),
    nodeOf("full", { address: "wss://full", isTaking: 0 }),
    nodeOf("drained", { address: "wss://drained", isDraining: 1 }),
    nodeOf("lost", { address: "wss://lost", isLost: 1 }),
    nodeOf("silent", { address: "wss://silent", silentMs: SILENCE_MAX_MS }),
  );
  await registry.beat();
  assert.equal(registry.liveCount, 4);
  for (const _beat of [1, 2]) {
    assert.equal(registry.streamAddress, "wss://own", "who was sent is forgotten with each beat");
    await registry.beat();
  }
  const sent = () => Array.from({ length: 4 }, () => registry.streamAddress ?? "").sort();
  const evenly = ["wss://other", "wss://other", "wss://own", "wss://own"];
  assert.deepEqual(sent(), evenly);
  assert.deepEqual(registry.otherAvailableServer, { address: "wss://other" });
  await beats(1);
  assert.deepEqual(sent(), evenly, "what was sent is in what they say by now");
  rows.nodes = rows.nodes.map((node) => ({ ...node, calls: Number(node.name === "other") }));
  await registry.beat();
  const next = Array.from({ length: 3 }, () => registry.streamAddress);
  assert.deepEqual(next, ["wss://own", "wss://own", "wss://other"], "one caller counts as one");
  assert.equal(registry.othersAccept, false, "each has an address of its own");
  rows.nodes.push(nodeOf("nameless"));
  await registry.beat();
  assert.equal(registry.othersAccept, true);
  assert.equal(registry.isDraining, false);
  const ends = (node: NodeRecord) => (node.name === "own" ? 1 : node.isDraining);
  rows.nodes = rows.nodes.map((node) => ({ ...node, isDraining: ends(node) }));
  await registry.beat();
  assert.equal(registry.isDraining, true);
  assert.equal(registry.otherAvailableServer?.address, "wss://other");
});

test("a stopping server sends its callers to any other live one, a continuing one does not", async () => {
  const { joining, registry, rows, own } = await joined();
  await joining;
  rows.nodes.push(nodeOf("starting", { address: "wss://starting", isTaking: 0 }));
  await registry.beat();
  assert.equal(registry.otherAvailableServer, undefined);
  own.isStopping = true;
  assert.deepEqual(registry.otherAvailableServer, { address: "wss://starting" });
  rows.nodes.push(nodeOf("ready", { address: "wss://ready" }));
  await registry.beat();
  assert.deepEqual(
    registry.otherAvailableServer,
    { address: "wss://ready" },
    "who takes them comes first",
  );
});

test("the calls of a server that was silent for fifteen seconds are closed, once; of one that lived on they are not", async () => {
  const { joining, rows, closed, beats, log, orphans } = await joined();
  await joining;
  const dead = nodeOf("dead");
  rows.nodes.push(dead);
  rows.runs.set(dead.startId, ["run 1", "run 2"]);
  await beats(8);
  assert.deepEqual([closed, log.ofLevel("error").length], [[], 0]);
  await beats(1);
  assert.deepEqual(closed, ["run 1", "run 2"]);
  assert.deepEqual(log.ofLevel("error")[0]?.fields, { node: "dead", calls: 2 });
  assert.deepEqual(
    rows.nodes.map(({ name }) => name),
    ["own"],
  );
  assert.equal(log.ofLevel("error").length, 1);
  orphans.push("orphan");
  await beats(6);
  assert.deepEqual(closed.slice(2), ["orphan"]);
  assert.equal(log.ofLevel("error").length, 2);
});

test("a server that others took for dead learns it once, and says nothing more", async () => {
  const { joining, state, counts, told, beats, clock, log } = await joined();
  await joining;
  state.isLost = true;
  await beats(3);
  assert.deepEqual([counts.lost, told.length, clock.pendingTimerCount], [1, 2, 0]);
  assert.deepEqual(log.lines, []);
});

test("a heartbeat's result for a server that has left meanwhile has no effect", async () => {
  const { joining, registry, state, counts } = await joined();
  await joining;
  let goOn = () => {};
  state.held = new Promise((resolve) => (goOn = resolve));
  const beating = registry.beat();
  await registry.leave();
  state.isLost = true;
  goOn();
  await beating;
  assert.equal(counts.lost, 0);
});

test("a server that was silent and resumes its heartbeats keeps its calls, and its name", async () => {
  const { joining, rows, closed, state, beats, log } = await joined();
  await joining;
  rows.nodes.push(nodeOf("late"));
  rows.runs.set("start of late", ["run"]);
  state.livesOn = true;
  await beats(9);
  assert.deepEqual([closed, log.lines], [[], []]);
  const database = newDatabase();
  database.rows.nodes.push(nodeOf("own", { startId: "earlier" }));
  database.state.livesOn = true;
  const other = await joined(database);
  await assert.rejects(other.joining, {
    name: "StorageUnavailableError",
    message: "another server named own runs on the database: give this one a NODE_NAME of its own",
  });
});

test("runs of no server that have left no calls are closed without a word", async () => {
  const { joining, closed, orphans, state, beats, log } = await joined();
  await joining;
  state.callsPerRun = 0;
  orphans.push("orphan");
  await beats(15);
  assert.deepEqual([closed, log.lines], [["orphan"], []]);
});

test("a heartbeat that cannot be stored is logged, and does not make a node count as dead", async () => {
  const { joining, state, rows, beats, log } = await joined();
  await joining;
  rows.nodes.push(nodeOf("other"));
  await beats(7);
  state.fault = new Error("the database is away");
  await beats(1);
  assert.equal(log.ofLevel("warn").length, 1);
  state.fault = undefined;
  await beats(8);
  assert.equal(rows.nodes.length, 2);
  await beats(1);
  assert.equal(rows.nodes.length, 1, "it has all of the time again, and not more");
});

test("a leaving node announces it, and reports calls whose end was not stored", async () => {
  const { joining, registry, rows, log } = await joined();
  await joining;
  rows.runs.set("own", ["run"]);
  await registry.leave();
  assert.deepEqual([rows.nodes, log.ofLevel("error")[0]?.fields], [[], { calls: 1 }]);
  const quiet = await joined();
  await quiet.joining;
  await quiet.registry.leave();
  assert.deepEqual(quiet.log.lines, []);
});

test("a start of the same name closes what the earlier one left, once that one is silent if its lock proves nothing", async () => {
  for (const isNameCertain of [true, false]) {
    const database = newDatabase();
    const earlier = nodeOf("own", { startId: "earlier" });
    database.rows.nodes.push(earlier);
    database.rows.runs.set("earlier", ["run"]);
    const { joining, closed, rows, beats } = await joined(database, isNameCertain);
    if (!isNameCertain) {
      await beats(7);
      assert.deepEqual(closed, []);
      await beats(1);
    }
    await joining;
    assert.deepEqual(closed, ["run"]);
    assert.deepEqual(
      rows.nodes.map(({ startId }) => startId),
      ["own"],
    );
  }
});

test("a start is refused while an earlier one of its name sends heartbeats, and continues when that one has left", async () => {
  const database = newDatabase();
  database.rows.nodes.push(nodeOf("own", { startId: "earlier" }));
  const { joining, rows, beats } = await joined(database, false);
  const refused = assert.rejects(joining, { name: "StorageUnavailableError" });
  await settled();
  rows.nodes = [nodeOf("own", { startId: "earlier", heartbeatAtMs: 1 })];
  await beats(1);
  await refused;
  assert.deepEqual(database.accused, []);
  const other = await joined(database, false);
  await settled();
  other.rows.nodes = [];
  await other.beats(1);
  await other.joining;
  assert.deepEqual(
    other.rows.nodes.map(({ startId }) => startId),
    ["own"],
  );
});
