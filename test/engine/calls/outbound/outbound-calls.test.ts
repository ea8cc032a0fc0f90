import assert from "node:assert/strict";
import { test } from "node:test";
import { CallJournal } from "../../../../engine/calls/call-journal.js";
import type { OutboundDeps } from "../../../../engine/calls/outbound/outbound-calls.js";
import { OutboundTelephony } from "../../../../engine/calls/outbound/outbound-telephony.js";
import type { AnswererVerdict } from "../../../../engine/conversation/events.js";
import { installationApis, NO_OWN_NUMBERS } from "../../../doubles/installation-apis.js";
import { ORDER, outboundCalls, TalkingCall, TENANT } from "../outbound-stand.js";
import { WrittenCalls } from "../written-calls.js";

const PLACED = { ref: "CA1", token: "" };
const NOTHING_LEFT = [0, 0, 0, 0];

/** Placed calls of a vendor and a store in memory; `told` lists the requests to both, in order. */
function placing(changes: Partial<OutboundDeps> = {}) {
  const store = new WrittenCalls();
  const { clock, log } = store;
  const told: string[] = [];
  const vendor = {
    place: (order: { readonly answerUrl: string }): Promise<string> => {
      PLACED.token = new URL(order.answerUrl).searchParams.get("token") ?? "";
      return Promise.resolve(PLACED.ref);
    },
    verify: () => Promise.resolve(),
    hangUp: async (callRef: string, state?: string) =>
      void told.push(`hang up ${callRef} ${state}`),
  };
  const journal = new CallJournal(store);
  const telephony = new OutboundTelephony({
    apis: installationApis({ twilio: vendor }),
    ...NO_OWN_NUMBERS,
    baseUrl: () => "https://we.test",
  });
  const placed = outboundCalls({ telephony, journal, clock, log, ...changes });
  const { outbound, slots, liveCalls } = placed;
  const place = () => outbound.place(TENANT, ORDER);
  const say = (status: string, answeredBy = "") =>
    outbound.report(PLACED.token, { status, answeredBy });
  const left = () => [slots.count, liveCalls.count, outbound.ringingCount, clock.pendingTimerCount];
  /** What the vendor was asked, and then what the store was, of the ends and who answered. */
  const written = async () => {
    await journal.stored();
    const ends = store.ends.map(
      ({ status, metadata }) => `${status} ${String(metadata["endReason"])}`,
    );
    const notes = store.asked.filter(([what]) => what === "annotate").map((of) => of.slice(1));
    return [...told, ...ends, ...notes];
  };
  /** The call is open, and reports its events. */
  const connect = async (callId: string) => {
    const session = new TalkingCall(callId);
    await outbound.connect(callId, "org", () => {
      liveCalls.add(session);
      return Promise.resolve(session);
    });
    return session;
  };
  return { outbound, vendor, clock, log, slots, liveCalls, place, say, left, written, connect };
}

test("a call is held from its order to its answer, and by its session from there on", async () => {
  const { outbound, place, left, connect, written } = placing();
  assert.deepEqual(await place(), { id: "id-1", agentId: "agent", status: "queued" });
  const claims = { callId: "id-1", orgId: "org", agentId: "agent", vendor: "twilio" };
  assert.deepEqual(outbound.answering(PLACED.token), claims);
  assert.deepEqual(
    [outbound.holds("id-1"), outbound.isRinging("id-1"), left()],
    [true, true, [1, 1, 1, 1]],
  );
  const session = await connect("id-1");
  assert.deepEqual(
    [outbound.holds("id-1"), outbound.isRinging("id-1"), left()],
    [true, false, [1, 1, 0, 0]],
  );
  assert.equal(outbound.answering(PLACED.token), undefined);
  assert.deepEqual([session.endings, await written()], [[], []]);
  assert.equal(outbound.holds("id-2"), false);
});

test("what ends a ringing call is recorded once, and a machine is hung up", async () => {
  for (const [status, answeredBy, expected] of [
    ["busy", "", ["failed busy"]],
    ["completed", "human", ["failed notConnected", ["id-1", { answeredBy: "human" }]]],
    [
      "in-progress",
      "machine_start",
      ["hang up CA1 ringing", "failed machine", ["id-1", { answeredBy: "machine_start" }]],
    ],
  ] as const) {
    const { place, say, left, written } = placing();
    await place();
    await say("ringing");
    assert.deepEqual(left(), [1, 1, 1, 1]);
    await say(status, answeredBy);
    assert.deepEqual([left(), await written()], [NOTHING_LEFT, expected]);
  }
});

test("who answered is recorded once the call has its record, and a vendor's later report replaces it", async () => {
  const { place, say, connect, written } = placing();
  await place();
  await say("in-progress", "human");
  assert.deepEqual(await written(), []);
  await connect("id-1");
  await say("in-progress", "unknown");
  await say("in-progress", "Not A Word");
  assert.deepEqual(await written(), [
    ["id-1", { answeredBy: "human" }],
    ["id-1", { answeredBy: "unknown" }],
  ]);
});

test("a machine ends the session that is being opened, or that talks; nothing else the vendor says does", async () => {
  const { outbound, place, say } = placing();
  await place();
  const opened = new TalkingCall("id-1");
  await outbound.connect("id-1", "org", async () => {
    assert.equal(outbound.holds("id-1"), true);
    await say("busy");
    assert.deepEqual(opened.endings, []);
    await say("in-progress", "fax");
    return opened;
  });
  assert.deepEqual(
    opened.endings.map(({ reason }) => reason),
    ["machine"],
  );
  const other = placing();
  await other.place();
  const talking = await other.connect("id-1");
  await other.say("completed");
  assert.deepEqual(talking.endings, []);
  await other.say("in-progress", "machine_end_beep");
  assert.deepEqual(
    talking.endings.map(({ reason }) => reason),
    ["machine"],
  );
});

test("a call that another organization asks for stays where it is", async () => {
  const { outbound, place, left } = placing();
  await place();
  assert.equal(outbound.handOver("id-1", "other"), undefined);
  assert.equal(await outbound.connect("id-1", "other", () => assert.fail("opened")), undefined);
  assert.deepEqual(left(), [1, 1, 1, 1]);
});

test("a call that is handed over keeps its data, and is adopted with it", async () => {
  const { outbound, place, say, left, written, clock } = placing();
  await place();
  await say("in-progress", "human");
  const handed = outbound.handOver("id-1", "org");
  const claims = { callId: "id-1", orgId: "org", agentId: "agent", vendor: "twilio" };
  const numbers = { from: "+15550109999", to: "+15550101000" };
  const callInfo = { direction: "outbound", ...numbers, apiKeyId: "key" } as const;
  const about = { answeredBy: "human", detection: "hangUp" } as const;
  assert.deepEqual(handed, { claims, callRef: "CA1", callInfo, ...about });
  assert.deepEqual(left(), [1, 0, 0, 0]);
  outbound.adopt({ claims, callRef: "CA1", callInfo, ...about });
  assert.deepEqual(left(), [1, 1, 1, 1]);
  clock.advance(299_999);
  assert.deepEqual(left(), [1, 1, 1, 1]);
  clock.advance(1);
  assert.deepEqual(left(), NOTHING_LEFT);
  assert.deepEqual(await written(), [
    "hang up CA1 ringing",
    "failed noAnswer",
    ["id-1", { answeredBy: "human" }],
  ]);
});

/** A call that takes the vendor's verdicts itself. */
class DetectingCall extends TalkingCall {
  readonly verdicts: AnswererVerdict[] = [];

  answeredBy(verdict: AnswererVerdict): void {
    this.verdicts.push(verdict);
  }
}

test("a call that leaves messages is not hung up for a machine, and its session gets each verdict", async () => {
  const opener = {
    preCall: () => Promise.resolve({}),
    refusal: () => Promise.resolve(undefined),
    leavesMessages: () => Promise.resolve(true),
    voiceFault: () => Promise.resolve(undefined),
  };
  const { outbound, place, say, liveCalls, written, vendor } = placing({ opener });
  const orders: unknown[] = [];
  const { place: take } = vendor;
  vendor.place = (order) => {
    orders.push(Object(order).detectMessageEnd);
    return take(order);
  };
  await place();
  await say("in-progress", "machine_start");
  const session = new DetectingCall("id-1");
  const detections: string[] = [];
  await outbound.connect("id-1", "org", (_, detection) => {
    detections.push(detection);
    liveCalls.add(session);
    return Promise.resolve(session);
  });
  for (const word of ["machine_end_beep", "fax", "human", "unknown"])
    await say("in-progress", word);
  assert.deepEqual([orders, detections, session.endings], [[true], ["leaveMessage"], []]);
  assert.deepEqual(session.verdicts, [
    { answerer: "machine", isGreetingOver: false },
    { answerer: "machine", isGreetingOver: true },
    { answerer: "fax", isGreetingOver: false },
    { answerer: "human", isGreetingOver: false },
    { answerer: "unknown", isGreetingOver: false },
  ]);
  assert.deepEqual((await written()).at(-1), ["id-1", { answeredBy: "unknown" }]);
});

test("an order that fails, or whose call is cancelled meanwhile, leaves no resources behind", async () => {
  const failing = placing();
  failing.vendor.place = () => Promise.reject(new Error("a mistake"));
  await assert.rejects(failing.place(), /^Error: a mistake$/);
  assert.deepEqual([failing.left(), await failing.written()], [NOTHING_LEFT, []]);
  const slow = placing();
  let accept: (callRef: string) => void = () => {};
  slow.vendor.place = () => new Promise((resolve) => (accept = resolve));
  const order = slow.place();
  while (slow.liveCalls.count === 0) await new Promise(setImmediate);
  slow.liveCalls.endAll({ reason: "serverStopping", status: "completed", message: "bye" });
  assert.deepEqual([slow.left(), await slow.written()], [NOTHING_LEFT, ["failed serverStopping"]]);
  accept("CA7");
  await order;
  assert.deepEqual(await slow.written(), ["hang up CA7 ringing", "failed serverStopping"]);
});

test("numbers that the organization may not reach are not called, nor is a foreign number used as caller id", async () => {
  for (const [changes, code, message] of [
    [
      { dialTargets: { mayReach: async () => false, listOf: async () => [] } },
      "target_not_allowed",
      /^to: expected a number/,
    ],
    [
      { phoneNumbers: { isAllowed: async () => false, listOf: async () => [] } },
      "caller_number_not_allowed",
      /^from: expected a number/,
    ],
  ] as const) {
    const { place, left } = placing(changes);
    await assert.rejects(place(), { code, message });
    assert.deepEqual(left(), NOTHING_LEFT);
  }
  const { place } = placing({
    dialTargets: { mayReach: async () => true, listOf: async () => [] },
  });
  assert.equal((await place()).status, "queued");
});
