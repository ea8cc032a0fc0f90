import assert from "node:assert/strict";
import { test } from "node:test";
import { newCluster, nothing, ORG, settled, slotOf } from "./cluster-in-one-process.js";

const HANDED = {
  claims: { callId: "a", orgId: ORG, agentId: "agent", vendor: "twilio" },
  callRef: "CA1",
  answeredBy: "",
};
const REPORT = {
  claims: HANDED.claims,
  report: { status: "in-progress", answeredBy: "human" },
};

test("a ringing call moves to the process with its stream, with its slot, once", async () => {
  const { primary, join } = newCluster();
  let isThere = true;
  const one = join(1, {
    handOver: () => {
      const given = isThere ? HANDED : undefined;
      isThere = false;
      return given;
    },
  });
  const [other, third] = [join(2), join(3)];
  await one.request("takeSlot", slotOf("a"));
  const call = { callId: "a", orgId: ORG };
  const answers = await Promise.all([
    other.request("handOver", call),
    third.request("handOver", call),
  ]);
  assert.deepEqual(answers, [HANDED, undefined]);
  primary.leave(1);
  assert.equal(await third.request("countSlots", ORG), 1, "the slot went with the call");
  primary.leave(2);
  assert.equal(await third.request("countSlots", ORG), 0);
});

test("a call that another server answers goes there, and its slot is free here", async () => {
  const { primary, join } = newCluster();
  let given: typeof HANDED | undefined;
  const one = join(1, { handOver: () => given });
  await one.request("takeSlot", slotOf("a"));
  const { handOver } = primary.asNode.handlers;
  const call = { callId: "a", orgId: ORG, to: "another" };
  assert.equal(await handOver(call), undefined);
  assert.equal(await one.request("countSlots", ORG), 1, "what was not handed over is still here");
  given = HANDED;
  assert.deepEqual(await handOver(call), HANDED);
  assert.equal(await one.request("countSlots", ORG), 0);
});

test("a vendor's report about a call that is moving goes to its new process", async () => {
  const { join } = newCluster();
  const taken: string[] = [];
  const told: { answer?: Promise<boolean> } = {};
  const one = join(1, {
    handOver: () => {
      // In one parcel with the answer.
      told.answer = one.request("report", REPORT);
      return HANDED;
    },
  });
  const other = join(2, { report: ({ report: { answeredBy } }) => taken.push(answeredBy) > 0 });
  await one.request("takeSlot", slotOf("a"));
  await other.request("handOver", { callId: "a", orgId: ORG });
  taken.push("the call");
  assert.equal(await told.answer, true);
  assert.deepEqual(taken, ["the call", "human"]);
});

test("of two hand-overs of one call, the end of the first leaves the second its reports", async () => {
  const { join } = newCluster();
  const taken: string[] = [];
  const told: { answer?: Promise<boolean> } = {};
  let refuse: () => void = nothing;
  const refused = new Promise<undefined>((resolve) => {
    refuse = () => resolve(undefined);
  });
  const answers = [
    () => refused,
    async () => {
      refuse();
      await settled();
      told.answer = one.request("report", REPORT);
      return HANDED;
    },
  ];
  const one = join(1, { handOver: () => answers.shift()?.() });
  const first = join(2);
  const second = join(3, { report: ({ report: { answeredBy } }) => taken.push(answeredBy) > 0 });
  await one.request("takeSlot", slotOf("a"));
  const call = { callId: "a", orgId: ORG };
  await Promise.all([first.request("handOver", call), second.request("handOver", call)]);
  assert.equal(await told.answer, true);
  assert.deepEqual(taken, ["human"]);
});

test("a question and a report that come just before the wish to have their call are passed on before it", async () => {
  const { join } = newCluster();
  const asked: string[] = [];
  const one = join(1, {
    isRinging: () => Boolean(asked.push("isRinging")),
    report: () => asked.push("report") > 0,
    handOver: () => {
      asked.push("handOver");
      return HANDED;
    },
  });
  const other = join(2);
  await one.request("takeSlot", slotOf("a"));
  await Promise.all([
    other.request("isRinging", "a"),
    other.request("report", REPORT),
    other.request("handOver", { callId: "a", orgId: ORG }),
  ]);
  assert.deepEqual(asked, ["isRinging", "report", "handOver"]);
});

test("another server's report about a call that is moving to another process goes there", async () => {
  const { primary, join } = newCluster();
  const taken: string[] = [];
  const told: { answer?: Promise<boolean>; rings?: Promise<boolean> } = {};
  const { report, isRinging } = primary.asNode.handlers;
  const one = join(1, {
    handOver: () => {
      told.answer = Promise.resolve(report(REPORT));
      told.rings = Promise.resolve(isRinging("a"));
      return HANDED;
    },
  });
  const other = join(2, {
    report: ({ report: { answeredBy } }) => taken.push(answeredBy) > 0,
    isRinging: () => true,
  });
  await one.request("takeSlot", slotOf("a"));
  await other.request("handOver", { callId: "a", orgId: ORG });
  assert.deepEqual([await told.answer, await told.rings], [true, true]);
  assert.deepEqual(taken, ["human"]);
});

test("whether a call rings that is just going to another process is answered by that one", async () => {
  const { join } = newCluster();
  const told: { rings?: Promise<boolean> } = {};
  const one = join(1, {
    handOver: () => {
      told.rings = third.request("isRinging", "a");
      return HANDED;
    },
  });
  const other = join(2, { isRinging: () => true });
  const third = join(3);
  await one.request("takeSlot", slotOf("a"));
  await other.request("handOver", { callId: "a", orgId: ORG });
  assert.equal(await told.rings, true);
});

test("another server's request just before it takes a call is answered before the call moves", async () => {
  const { primary, join } = newCluster();
  const asked: string[] = [];
  const one = join(1, {
    isRinging: () => Boolean(asked.push("isRinging")),
    report: () => asked.push("report") > 0,
    handOver: () => {
      asked.push("handOver");
      return HANDED;
    },
  });
  await one.request("takeSlot", slotOf("a"));
  const { isRinging, report, handOver } = primary.asNode.handlers;
  await Promise.all([
    isRinging("a"),
    report(REPORT),
    handOver({ callId: "a", orgId: ORG, to: "another" }),
  ]);
  assert.deepEqual(asked, ["isRinging", "report", "handOver"]);
});
