import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterState } from "../../../engine/cluster/ipc-messages.js";
import { CALLER_LEFT } from "../../../engine/conversation/call-end.js";
import { newCluster, nothing, ORG, settled, slotOf } from "./cluster-in-one-process.js";
import { OtherServers } from "./other-servers.js";

const claimsOf = (callId: string) => ({ callId, orgId: ORG, agentId: "agent", vendor: "twilio" });
const reportOf = (callId: string) => ({
  claims: claimsOf(callId),
  report: { status: "completed", answeredBy: "" },
});
const handedOf = (callId: string) => ({
  claims: claimsOf(callId),
  callRef: "CA1",
  answeredBy: "",
});

test("a slot belongs to the server if all servers together have room for it, and otherwise to none", async () => {
  const nodes = new OtherServers();
  const { primary, join } = newCluster({ nodes });
  const one = join(1);
  assert.equal(await one.request("takeSlot", slotOf("a")), true);
  nodes.slot = () => Promise.resolve(false);
  assert.equal(await one.request("takeSlot", slotOf("b")), false);
  nodes.slot = () => Promise.reject(new Error("the database is away"));
  await assert.rejects(one.request("takeSlot", slotOf("c")), /the database is away/);
  assert.equal(await one.request("takeSlot", slotOf("a")), false, "a call has one slot");
  assert.deepEqual([primary.callCount, primary.asNode.callCount], [1, 1]);
  one.notify("freeSlots", ["b"]);
  one.notify("freeSlots", ["a"]);
  await settled();
  assert.equal(primary.callCount, 0);
  assert.deepEqual(nodes.asked, ["take a of 3", "take b of 3", "take c of 3", "free a"]);
});

test("a call that continues here takes the slot of the one before, also if that one is not over yet", async () => {
  const nodes = new OtherServers();
  const { primary, join } = newCluster({ nodes });
  const [one, other] = [join(1), join(2)];
  await one.request("takeSlot", slotOf("a"));
  assert.equal(await other.request("takeSlot", { ...slotOf("b"), replaces: "a" }), true);
  assert.equal(
    await other.request("takeSlot", { ...slotOf("c"), orgId: "theirs", replaces: "b" }),
    true,
  );
  assert.deepEqual(
    ["a", "b", "c"].map((id) => primary.asNode.hasCall(id)),
    [false, true, true],
  );
});

test("the slots of a worker that ended are reported to the other servers", async () => {
  const nodes = new OtherServers();
  const { primary, join } = newCluster({ nodes });
  const one = join(1);
  await one.request("takeSlot", slotOf("a"));
  let take: (isTaken: boolean) => void = nothing;
  nodes.slot = () => new Promise((resolve) => (take = resolve));
  one.request("takeSlot", slotOf("b")).catch(nothing);
  await settled();
  assert.equal(primary.leave(1), 2);
  take(true);
  await settled();
  assert.deepEqual(nodes.asked.slice(2), ["free a,b", "free b"], "it was taken after that");
  assert.equal(primary.callCount, 0);
});

test("state that only all servers together have is requested from them", async () => {
  const nodes = new OtherServers();
  const { primary, join } = newCluster({ nodes });
  const told: string[] = [];
  const [one] = [1, 2].map((name) =>
    join(name, { recordsChanged: () => void told.push(`process ${name}`) }),
  );
  nodes.slotCount = 7;
  nodes.address = "wss://other.example";
  nodes.other = { address: "wss://third.example" };
  assert.equal(await one?.request("countSlots", ORG), 7);
  assert.equal(await one?.request("streamAddress", undefined), "wss://other.example");
  assert.deepEqual(await one?.request("otherAvailableServer", undefined), {
    address: "wss://third.example",
  });
  await one?.request("recordsChanged", undefined);
  assert.deepEqual(told.splice(0), ["process 2"]);
  assert.deepEqual(nodes.asked, [`count ${ORG}`, "changed"]);
  primary.asNode.recordsChanged();
  await settled();
  assert.deepEqual(told, ["process 1", "process 2"]);
  assert.equal(nodes.asked.length, 2, "what another server has changed is not told back");
});

test("a call that no process of the server has is looked up at the other servers, one of its own is not", async () => {
  const nodes = new OtherServers();
  const { join } = newCluster({ nodes });
  const ended: string[] = [];
  const one = join(1, {
    isRinging: () => true,
    endCall: ({ callId }) => ended.push(callId) > 0,
  });
  const other = join(2);
  await one.request("takeSlot", slotOf("own"));
  nodes.calls.add("theirs");
  const asked = (callId: string) =>
    Promise.all([
      other.request("isRinging", callId),
      other.request("report", reportOf(callId)),
      other.request("endCall", { callId, ending: CALLER_LEFT }),
      other.request("hasCall", callId),
    ]);
  nodes.asked.length = 0;
  assert.deepEqual(await asked("own"), [true, true, true, true]);
  assert.deepEqual([ended, nodes.asked], [["own"], []]);
  assert.deepEqual(await asked("theirs"), [true, true, true, true]);
  assert.deepEqual(await asked("nobody's"), [false, false, false, false]);
  assert.deepEqual(
    nodes.asked.toSorted(),
    ["end", "has", "report", "rings"].flatMap((what) => [`${what} nobody's`, `${what} theirs`]),
  );
});

test("a process is not asked about its own call: a call that it does not have exists nowhere", async () => {
  const { join } = newCluster();
  const one = join(1, { isRinging: () => true, handOver: () => handedOf("a") });
  await one.request("takeSlot", slotOf("a"));
  assert.equal(await one.request("isRinging", "a"), false);
  assert.equal(await one.request("report", reportOf("a")), false);
  assert.equal(await one.request("handOver", { callId: "a", orgId: ORG }), undefined);
  assert.equal(await one.request("endCall", { callId: "a", ending: CALLER_LEFT }), false);
});

test("the other servers ask the server for its calls", async () => {
  const { primary, join } = newCluster({ nodes: new OtherServers() });
  const told: string[] = [];
  const one = join(1, {
    isRinging: (callId) => callId === "a",
    report: ({ report: { status } }) => told.push(status) > 0,
    endCall: ({ callId }) => told.push(`end ${callId}`) > 0,
  });
  await one.request("takeSlot", slotOf("a"));
  const { handlers } = primary.asNode;
  const asked = (callId: string) =>
    Promise.all([
      handlers.isRinging(callId),
      handlers.report(reportOf(callId)),
      handlers.endCall({ callId, ending: CALLER_LEFT }),
      handlers.hasCall(callId),
    ]);
  assert.deepEqual(await asked("a"), [true, true, true, true]);
  await settled();
  assert.deepEqual(told.toSorted(), ["completed", "end a"]);
  assert.deepEqual(await asked("nobody's"), [false, false, false, false]);
});

test("a placed call that rings at another server arrives with its slot, or leaves none behind", async () => {
  const nodes = new OtherServers();
  const { primary, join } = newCluster({ nodes });
  const [one, other] = [join(1), join(2)];
  const call = { callId: "a", orgId: ORG };
  assert.equal(await one.request("handOver", call), undefined);
  assert.equal(primary.callCount, 0);
  nodes.handed = handedOf("a");
  assert.deepEqual(await one.request("handOver", call), handedOf("a"));
  assert.deepEqual(nodes.asked, ["hand over a", "hand over a"]);
  assert.equal(primary.leave(1), 1);
  nodes.handOver = () => Promise.reject(new Error("the other server does not answer"));
  await assert.rejects(other.request("handOver", call), /does not answer/);
  assert.equal(primary.callCount, 0);
});

test("of two streams that both request a call of another server, the first gets it", async () => {
  const nodes = new OtherServers();
  const { join } = newCluster({ nodes });
  const [one, other] = [join(1), join(2)];
  nodes.handed = handedOf("a");
  const call = { callId: "a", orgId: ORG };
  const answers = await Promise.all([
    one.request("handOver", call),
    other.request("handOver", call),
  ]);
  assert.deepEqual(answers, [handedOf("a"), undefined]);
  assert.deepEqual(nodes.asked, ["hand over a"]);
});

test("a call whose new process ends during the move is lost, and its slot is free everywhere", async () => {
  const nodes = new OtherServers();
  const { primary, join } = newCluster({ nodes });
  let give: (handed: ReturnType<typeof handedOf>) => void = nothing;
  const one = join(1, { handOver: () => new Promise((resolve) => (give = resolve)) });
  const other = join(2);
  await one.request("takeSlot", slotOf("a"));
  other.request("handOver", { callId: "a", orgId: ORG }).catch(nothing);
  await settled();
  primary.leave(2);
  give(handedOf("a"));
  await settled();
  assert.equal(primary.callCount, 0);
  assert.equal(nodes.asked.at(-1), "free a");
});

test("the processes of a server know that it is to take no more, and whether others do", async () => {
  const nodes = new OtherServers();
  const { clock, primary, join } = newCluster({ nodes });
  const states: ClusterState[] = [];
  const one = join(1, { cluster: (state) => void states.push(state) });
  one.notify("state", { isServing: true, isLate: false });
  await settled();
  assert.equal(primary.asNode.isTaking, true);
  nodes.othersAccept = true;
  clock.advance(249);
  await settled();
  assert.equal(states.at(-1)?.otherServersTake, false);
  clock.advance(1);
  await settled();
  await primary.stopTaking();
  await settled();
  const told = { callCount: 0, taking: [1] };
  assert.deepEqual(states.slice(1), [
    { ...told, isDrained: false, otherServersTake: false },
    { ...told, isDrained: false, otherServersTake: true },
    { ...told, isDrained: true, otherServersTake: true },
  ]);
  primary.leave(1);
  assert.equal(primary.asNode.isTaking, false);
  primary.close();
  assert.equal(clock.pendingTimerCount, 0);
});

test("a call that another server takes moves with its slot, before this server drops it", async () => {
  const nodes = new OtherServers();
  const { primary, join } = newCluster({ nodes });
  const one = join(1, { handOver: () => handedOf("a") });
  await one.request("takeSlot", slotOf("a"));
  nodes.transferSlot = async (callId, to) => {
    nodes.asked.push(`give ${callId} of ${primary.callCount} to ${to}`);
  };
  await primary.asNode.handlers.handOver({ callId: "a", orgId: ORG, to: "another" });
  assert.deepEqual(nodes.asked, ["take a of 3", "give a of 1 to another"]);
  assert.equal(primary.callCount, 0);
});
