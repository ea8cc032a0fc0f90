import assert from "node:assert/strict";
import { test } from "node:test";
import type { PublishedEvent, Subscription } from "../../../engine/calls/call-events.js";
import { LinkClosedError } from "../../../engine/cluster/ipc-link.js";
import { type ClusterState, HEARTBEAT_MS } from "../../../engine/cluster/ipc-messages.js";
import { HUNG_BEATS, HUNG_BEATS_AT_START } from "../../../engine/cluster/primary.js";
import { ORGANIZATION_ENDED } from "../../../engine/conversation/call-end.js";
import { RequestError } from "../../../engine/request-error.js";
import { StorageUnwritableError } from "../../../storage/statements/storage-error.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { CALLS_MAX, newCluster, nothing, ORG, settled, slotOf } from "./cluster-in-one-process.js";

const NEVER = new Promise<never>(nothing);

test("slots are counted over the server, and those of a process that ends are free", async () => {
  const { primary, join } = newCluster();
  const [one, other] = [join(1), join(2)];
  const taken = await Promise.all([
    one.request("takeSlot", slotOf("a")),
    other.request("takeSlot", slotOf("b")),
    one.request("takeSlot", slotOf("c")),
    other.request("takeSlot", slotOf("d")),
  ]);
  assert.equal(taken.filter(Boolean).length, CALLS_MAX);
  other.notify("freeSlots", ["a"]);
  assert.equal(
    await other.request("countSlots", ORG),
    CALLS_MAX,
    "only its holder gives a slot back",
  );
  const left = taken.filter((isTaken, index) => isTaken && index % 2 === 0).length;
  assert.equal(primary.leave(1), left);
  assert.equal(await other.request("countSlots", ORG), CALLS_MAX - left);
});

test("processes know which of them take calls, and how many calls the server has", async () => {
  const { clock, primary, join } = newCluster();
  const states: ClusterState[] = [];
  const one = join(1, { cluster: (state) => void states.push(state) });
  const other = join(2);
  await settled();
  assert.deepEqual(states, [
    { callCount: 0, taking: [], isDrained: false, otherServersTake: false },
  ]);
  one.notify("state", { isServing: true, isLate: false });
  other.notify("state", { isServing: true, isLate: false });
  await one.request("takeSlot", slotOf("a"));
  clock.advance(250);
  await settled();
  const alone = { isDrained: false, otherServersTake: false };
  assert.deepEqual(states.at(-1), { callCount: 1, taking: [1, 2], ...alone });
  const told = states.length;
  clock.advance(1_000);
  await settled();
  assert.equal(states.length, told, "what is known is not told again");
  other.notify("state", { isServing: true, isLate: true });
  await settled();
  assert.deepEqual(states.at(-1), { callCount: 1, taking: [1], ...alone });
  join(3);
  clock.advance(250);
  await settled();
  assert.deepEqual(states.at(-1)?.taking, [1], "one that has just begun serves nobody yet");
  other.notify("state", { isServing: true, isLate: false });
  await settled();
  primary.leave(2);
  await settled();
  assert.deepEqual(states.at(-1)?.taking, [1], "at once, when one has ended");
});

test("a late message of an ended process is ignored", async () => {
  const log = new RecordingLogger();
  const { primary, join } = newCluster({ log });
  const one = join(1);
  one.notify("state", { isServing: true, isLate: false });
  await new Promise((resolve) => process.nextTick(resolve));
  primary.leave(1);
  await settled();
  assert.deepEqual([log.lines, primary.asNode.isTaking], [[], false]);
});

test("a pending request to a process is rejected when it ends, and a refusal keeps its kind", async () => {
  const { primary, join } = newCluster();
  const claims = { vendor: "v", orgId: ORG, agentId: "", callerRef: "", callKey: "k", attempt: 0 };
  const one = join(1);
  for (let count = 0; count < 500; count += 1) await one.request("mintUuid", claims);
  await assert.rejects(
    one.request("mintUuid", claims),
    (error) => error instanceof RequestError && error.code === "overloaded",
  );
  const full = new StorageUnwritableError("PG_UNREACHABLE", "the database cannot be reached");
  const asked = primary.asNode;
  const holder = join(4, { isRinging: () => Promise.reject(full) });
  await holder.request("takeSlot", slotOf("a"));
  await assert.rejects(
    Promise.resolve(asked.handlers.isRinging("a")),
    (error) => error instanceof StorageUnwritableError && error.databaseCode === "PG_UNREACHABLE",
  );
  join(2, { isRinging: () => new Promise<boolean>(() => undefined) });
  const waiting = primary
    .join(3, { post: nothing, started: nothing })
    .request("metrics", undefined);
  primary.leave(3);
  await assert.rejects(waiting, LinkClosedError);
});

test("call events go to the other processes that watch them, also to one that starts later, until none does", async () => {
  const { primary, join } = newCluster();
  const wanted: string[] = [];
  const told: string[] = [];
  const noted = (name: string) => ({
    subscribed: ({ topic, isWanted }: Subscription) => {
      wanted.push(`${name} ${topic} ${isWanted}`);
    },
    published: ({ event }: PublishedEvent) => {
      told.push(`${name} ${event.callId}`);
    },
  });
  const [one, other] = [join(1, noted("one")), join(2, noted("other"))];
  const tell = (from: typeof one, callId: string) =>
    from.notify("publish", {
      topic: "org",
      event: { type: "ended", callId, status: "completed", endReason: "callerLeft" },
    });
  other.notify("subscribe", { topic: "org", isWanted: true });
  await settled();
  join(3, noted("third"));
  tell(one, "a");
  tell(other, "its own");
  await settled();
  assert.deepEqual(wanted, ["one org true", "other org true", "third org true"]);
  assert.deepEqual(told, ["other a"]);
  primary.leave(2);
  tell(one, "b");
  await settled();
  assert.deepEqual(wanted.slice(3), ["one org false", "third org false"]);
  assert.deepEqual(told, ["other a"]);
});

test("a call is ended in whichever other process has it, and the result says whether one has", async () => {
  const { join } = newCluster();
  const endedIds: string[] = [];
  const one = join(1, { endCall: ({ callId }) => endedIds.push(callId) > 0 });
  const other = join(2);
  await one.request("takeSlot", slotOf("a"));
  const end = (callId: string) => ({ callId, ending: ORGANIZATION_ENDED });
  assert.equal(await other.request("endCall", end("a")), true);
  assert.equal(await other.request("endCall", end("nobody's")), false);
  assert.equal(await other.request("hasCall", "a"), true);
  assert.equal(await other.request("hasCall", "nobody's"), false);
  await settled();
  assert.deepEqual(endedIds, ["a"]);
});

test("a change of cached records resolves when the others know of it", async () => {
  const { primary, join } = newCluster();
  const told: string[] = [];
  const [one] = [1, 2, 3].map((name) =>
    join(name, { recordsChanged: () => void told.push(`process ${name}`) }),
  );
  await one?.request("recordsChanged", undefined);
  assert.deepEqual(told, ["process 2", "process 3"]);
  await primary.recordsChanged();
  assert.deepEqual(told.slice(2), ["process 1", "process 2", "process 3"]);
});

test("a frozen process is not awaited for longer than it uses its cache, and an ended one not at all", async () => {
  const { clock, primary, join } = newCluster();
  const one = join(1);
  join(2, { recordsChanged: () => NEVER });
  join(3, { recordsChanged: () => NEVER });
  let isDone = false;
  const done = one.request("recordsChanged", undefined).then(() => (isDone = true));
  await settled();
  primary.leave(3);
  clock.advance(999);
  await settled();
  assert.equal(isDone, false);
  clock.advance(1);
  await done;
});

test("a process with a blocked event loop gets no calls of others, and is reported as hung", async () => {
  const { clock, primary, join } = newCluster();
  const hung: number[] = [];
  const one = join(1, {}, (missed) => void hung.push(missed));
  one.notify("heartbeat", { isDebugged: false });
  one.notify("state", { isServing: true, isLate: false });
  await settled();
  clock.advance(2 * HEARTBEAT_MS);
  assert.equal(primary.asNode.isTaking, true, "a collection of garbage takes that long");
  clock.advance(HEARTBEAT_MS);
  assert.equal(primary.asNode.isTaking, false);
  one.notify("heartbeat", { isDebugged: false });
  await settled();
  assert.equal(primary.asNode.isTaking, true);
  clock.advance((HUNG_BEATS - 1) * HEARTBEAT_MS);
  assert.deepEqual(hung, []);
  clock.advance(30 * HEARTBEAT_MS);
  assert.deepEqual(hung, [HUNG_BEATS], "told once");
});

test("a process that loads its code has longer to send its first heartbeat", () => {
  const { clock, join } = newCluster();
  const hung: number[] = [];
  join(1, {}, (missed) => void hung.push(missed));
  clock.advance((HUNG_BEATS_AT_START - 1) * HEARTBEAT_MS);
  assert.deepEqual(hung, []);
  clock.advance(HEARTBEAT_MS);
  assert.deepEqual(hung, [HUNG_BEATS_AT_START]);
});

test("no process counts as hung because the primary was blocked, or a debugger stopped the process", async () => {
  const { clock, primary, join } = newCluster();
  const hung: number[] = [];
  const one = join(1, {}, (missed) => void hung.push(missed));
  const other = join(2, {}, (missed) => void hung.push(missed));
  one.notify("heartbeat", { isDebugged: false });
  other.notify("heartbeat", { isDebugged: true });
  await settled();
  for (let n = 0; n < 4; n += 1) {
    clock.stall(60_000);
    one.notify("heartbeat", { isDebugged: false });
    await settled();
  }
  assert.deepEqual(hung, []);
  primary.leave(1);
  clock.advance(60 * HEARTBEAT_MS);
  assert.deepEqual(hung, [], "one that has ended, and one that is debugged");
});
