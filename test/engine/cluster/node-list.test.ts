import assert from "node:assert/strict";
import { test } from "node:test";
import { NodeList, nodeState } from "../../../engine/cluster/node-registry.js";
import type { Database } from "../../../storage/database.js";
import type { NodeRecord } from "../../../storage/nodes/node-store.js";
import type { AuditRecord } from "../../../storage/tenancy/audit-record.js";
import { measuredLoad } from "../../doubles/measured-load.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const OPERATOR = { type: "administrator", id: "root" } as const;
const NODE: NodeRecord = {
  startId: "start",
  name: "one",
  address: null,
  version: "1.0.0",
  capacity: 10,
  calls: 3,
  load: 0.5,
  isTaking: 1,
  isDraining: 0,
  isLost: 0,
  startedAtMs: 5,
  heartbeatAtMs: 6,
  silentMs: 0,
};

function newList(writers: "one" | "many", nodes: readonly NodeRecord[] = [NODE]) {
  const clock = new VirtualClock();
  const told: unknown[] = [];
  const state = { isTaking: true };
  const database = {
    writers,
    nodes: {
      list: async () => nodes,
      drain: async (name: string, entry: AuditRecord) => {
        told.push(entry);
        return nodes.some((node) => node.name === name);
      },
    },
    organizationOverviews: { countCalls: async () => 7 },
    messageBus: { post: async (channel: string, text: string) => void told.push([channel, text]) },
    // Only what is called.
  } as unknown as Database;
  const lone = { name: "lone", callsMax: 40, isTaking: () => state.isTaking };
  const list = new NodeList({ database, lone, clock, newId: () => "id" });
  return { clock, list, state, told };
}

test("servers of a database are listed with what they say of themselves", async () => {
  const other = { ...NODE, name: "other", address: "wss://other.example", isDraining: 1 };
  const { list } = newList("many", [NODE, other]);
  const about = { calls: 3, callsMax: 10, load: 0.5, version: "1.0.0", startedAtMs: 5 };
  assert.deepEqual(await list.list(), [
    { ...about, name: "one", state: "taking", address: undefined },
    { ...about, name: "other", state: "draining", address: "wss://other.example" },
  ]);
});

test("a server that has a file for itself is the whole list", async (context) => {
  measuredLoad(context, 3, 4);
  const { clock, list, state } = newList("one");
  const startedAtMs = clock.epochMs();
  clock.advance(1_000);
  const [alone, ...others] = await list.list();
  assert.deepEqual(others, []);
  const { version, ...told } = alone ?? {};
  assert.match(version ?? "", /^\d+\./);
  assert.deepEqual(told, {
    name: "lone",
    state: "taking",
    calls: 7,
    callsMax: 40,
    load: 0.75,
    address: undefined,
    startedAtMs,
  });
  state.isTaking = false;
  assert.equal((await list.list())[0]?.state, "full");
  await assert.rejects(list.drain("lone", OPERATOR), { code: "conflict" });
});

test("a drained server is notified, and the audit trail names the person", async () => {
  const { clock, list, told } = newList("many");
  await list.drain("one", OPERATOR);
  const [entry, messageBus] = told;
  assert.deepEqual(entry, {
    id: "id",
    orgId: null,
    atMs: clock.epochMs(),
    actor: OPERATOR,
    action: "node.drain",
    targetType: "node",
    targetId: "one",
    targetName: "one",
    changes: [],
  });
  assert.deepEqual(messageBus, ["parley nodes", ""]);
  await assert.rejects(list.drain("nobody", OPERATOR), { code: "not_found" });
  assert.equal(told.length, 3, "nobody is told of what has not happened");
});

const TAKING = { isLost: 0, silentMs: 0, isDraining: 0, isTaking: 1 };

test("a server that was taken for dead is silent, as is one that has just been silent too long", () => {
  assert.equal(nodeState({ ...TAKING, isLost: 1 }), "silent");
  assert.equal(nodeState({ ...TAKING, silentMs: 15_000 }), "silent");
  assert.equal(nodeState({ ...TAKING, silentMs: 14_999 }), "taking");
});

test("a server that is to end its calls is draining, whether it has room or not", () => {
  assert.equal(nodeState({ ...TAKING, isDraining: 1 }), "draining");
  assert.equal(nodeState({ ...TAKING, isDraining: 1, isTaking: 0 }), "draining");
  assert.equal(nodeState({ ...TAKING, isTaking: 0 }), "full");
});
