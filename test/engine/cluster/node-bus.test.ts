import assert from "node:assert/strict";
import { test } from "node:test";
import type { LocalServer } from "../../../engine/cluster/coordination.js";
import { NODE_ANSWERS, NodeBus } from "../../../engine/cluster/node-bus.js";
import { END_REASONS } from "../../../engine/conversation/call-end.js";
import type { BusListener, BusMessages } from "../../../storage/nodes/message-bus.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const HANDLERS: LocalServer["handlers"] = {
  isRinging: () => false,
  handOver: () => undefined,
  report: () => false,
  endCall: () => false,
  controlCall: () => "elsewhere",
  hasCall: () => false,
};

/** A node whose database lets it listen when the test says so. */
function newNode(handlers: Partial<LocalServer["handlers"]> = {}) {
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const listeners: BusListener[] = [];
  const begun: (() => void)[] = [];
  const refused: (() => void)[] = [];
  const told = { ends: 0, changes: 0, listening: 0 };
  const heard: string[] = [];
  const way = {
    fault: undefined as Error | undefined,
    held: Promise.resolve(),
    channels: [] as readonly string[],
  };
  const posted: { readonly channel: string; readonly text: string }[] = [];
  const messageBus: BusMessages = {
    post: async (channel, text) => {
      await way.held;
      if (way.fault !== undefined) throw way.fault;
      posted.push({ channel, text });
    },
    postToAll: () => Promise.resolve(),
    listen: (channels, listener) =>
      new Promise((resolve, reject) => {
        way.channels = channels;
        refused.push(() => reject(new Error("away")));
        listeners.push(listener);
        const end = () => {
          told.ends += 1;
          return Promise.resolve();
        };
        begun.push(() => resolve(end));
      }),
  };
  const node = new NodeBus({
    messageBus,
    startId: "one",
    handlers: { ...HANDLERS, ...handlers },
    onChange: () => {
      told.changes += 1;
    },
    onRecordsChanged: () => heard.push("records"),
    channels: new Map([["further", (text) => heard.push(`further ${text}`)]]),
    onListening: () => {
      told.listening += 1;
    },
    clock,
    log,
  });
  return { clock, log, node, listeners, begun, refused, told, heard, way, posted };
}

test("a node that closes while it starts to listen leaves no listener behind", async () => {
  const { node, begun, told } = newNode();
  const opened = node.open();
  await node.close();
  begun[0]?.();
  await opened;
  assert.deepEqual(told, { ends: 1, changes: 0, listening: 0 });
});

test("a node that is closed does not listen again when its way breaks", async () => {
  const { node, begun, listeners, told, clock } = newNode();
  const opened = node.open();
  begun[0]?.();
  await opened;
  await node.close();
  listeners[0]?.onLost();
  assert.equal(clock.pendingTimerCount, 0);
  assert.deepEqual(told, { ends: 1, changes: 0, listening: 1 });
});

/** A node that listens. */
async function openNode(handlers: Partial<LocalServer["handlers"]> = {}) {
  const parts = newNode(handlers);
  const opened = parts.node.open();
  parts.begun[0]?.();
  await opened;
  const { listeners, posted } = parts;
  const hear = (message: unknown, channel = "parley one") =>
    listeners[0]?.onMessages(
      channel,
      typeof message === "string" ? message : JSON.stringify(message),
    );
  /** The messages since the last time, once all requested work is done. */
  const answers = async () => {
    await new Promise(setImmediate);
    return posted.splice(0).map(({ channel, text }) => [channel, JSON.parse(text)]);
  };
  return { ...parts, hear, answers };
}

const RINGS = { name: "isRinging", asks: "a" } as const;

test("a question goes to its node, and the answer of that number comes back, once", async () => {
  const { clock, node, hear, answers } = await openNode();
  const first = node.request("two", RINGS, NODE_ANSWERS.isRinging);
  const second = node.request("two", RINGS, NODE_ANSWERS.isRinging);
  const letterOf = (id: number) => [
    "parley two",
    { kind: "question", id, from: "one", question: RINGS },
  ];
  assert.deepEqual(await answers(), [letterOf(1), letterOf(2)]);
  hear({ kind: "answer", id: 2, value: true });
  hear({ kind: "answer", id: 2, value: false });
  hear({ kind: "answer", id: 1, value: false });
  assert.deepEqual(await Promise.all([first, second]), [false, true]);
  assert.equal(clock.pendingTimerCount, 0);
});

test("a failing request is rejected: after two seconds, or when the other node fails, stops or is unreachable", async () => {
  const { clock, node, hear, way } = await openNode();
  const ask = () => node.request("two", RINGS, NODE_ANSWERS.isRinging);
  const state = { isOver: false };
  const late = assert.rejects(
    ask().finally(() => (state.isOver = true)),
    { name: "RequestError", code: "unavailable", message: /timed out/ },
  );
  clock.advance(1_999);
  await new Promise(setImmediate);
  assert.equal(state.isOver, false);
  clock.advance(1);
  await late;
  const failed = assert.rejects(ask(), /could not answer/);
  hear({ kind: "failed", id: 2 });
  await failed;
  const odd = assert.rejects(ask(), { name: "ValiError" });
  hear({ kind: "answer", id: 3, value: "yes" });
  await odd;
  way.fault = new Error("the database is away");
  await assert.rejects(ask(), /the database is away/);
  assert.equal(clock.pendingTimerCount, 0, "nobody waits for its answer");
  way.fault = undefined;
  const stopped = assert.rejects(ask(), /this server is stopping/);
  await node.close();
  await stopped;
  assert.equal(clock.pendingTimerCount, 0);
});

test("a request through a database that hangs is rejected as too late, once the database continues", async () => {
  const { clock, node, way } = await openNode();
  let goOn = () => {};
  way.held = new Promise((resolve) => (goOn = resolve));
  const asked = assert.rejects(node.request("two", RINGS, NODE_ANSWERS.isRinging), /timed out/);
  clock.advance(2_000);
  // An error that nobody hears would fail the test by now.
  await new Promise(setImmediate);
  goOn();
  await asked;
});

test("each request is answered by the responsible node, and a failure reaches its requester", async () => {
  const { log, hear, answers } = await openNode({
    isRinging: (callId) => callId === "a",
    handOver: ({ callId, orgId }) => ({
      claims: { callId, orgId, agentId: "agent", vendor: "twilio", ownAccount: true },
      callRef: undefined,
      answeredBy: "human",
    }),
    // The account that placed the call is the one that is asked about it.
    report: ({ claims, report: { status } }) =>
      status === "completed" && claims.ownAccount === true,
    hasCall: () => Promise.reject(new Error("it is not known")),
  });
  const call = { callId: "a", orgId: "org" };
  const claims = { ...call, agentId: "agent", vendor: "twilio", ownAccount: true };
  const questions = [
    [RINGS, true],
    [
      { name: "handOver", asks: call },
      { claims, answeredBy: "human" },
    ],
    [{ name: "report", asks: { claims, report: { status: "completed", answeredBy: "" } } }, true],
  ] as const;
  for (const [id, [question, value]] of questions.entries()) {
    hear({ kind: "question", id, from: "two", question });
    assert.deepEqual(await answers(), [["parley two", { kind: "answer", id, value }]]);
  }
  const unknown = { name: "hasCall", asks: "a" };
  hear({ kind: "question", id: 6, from: "two", question: unknown });
  assert.deepEqual(await answers(), [["parley two", { kind: "failed", id: 6 }]]);
  hear({ kind: "question", from: "two", question: unknown });
  hear("no message");
  assert.deepEqual(await answers(), []);
  assert.equal(log.ofLevel("warn").length, 3);
});

test("a call can be ended for every reason that there is, and for no other", async () => {
  const endings: string[] = [];
  const { hear, answers } = await openNode({
    endCall: ({ ending: { reason } }) => {
      endings.push(reason);
      return true;
    },
  });
  for (const reason of [...END_REASONS, "bored"]) {
    const ending = { reason, status: "failed", message: "" };
    hear({
      kind: "question",
      from: "two",
      question: { name: "endCall", asks: { callId: "a", ending } },
    });
  }
  await answers();
  assert.deepEqual(endings, END_REASONS);
});

test("each channel's messages reach their own handler", async () => {
  const { hear, heard, told, way } = await openNode();
  assert.deepEqual(way.channels, ["parley one", "parley nodes", "parley records", "further"]);
  hear("text", "further");
  hear("", "parley nodes");
  hear("two", "parley records");
  hear("one", "parley records");
  assert.deepEqual([heard, told.changes], [["further text", "records"], 1]);
});

test("a node that cannot hear the others listens again, less and less often, and looks what it has missed", async () => {
  const { clock, listeners, begun, refused, told } = await openNode();
  listeners[0]?.onLost();
  const waits: number[] = [];
  for (let count = 1; count <= 7; count += 1) {
    let waitedMs = 0;
    while (listeners.length === count) {
      clock.advance(100);
      waitedMs += 100;
    }
    waits.push(waitedMs);
    if (count < 7) refused.at(-1)?.();
    else begun.at(-1)?.();
    await new Promise(setImmediate);
  }
  assert.deepEqual(waits, [200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  assert.deepEqual([told.changes, told.listening], [1, 2]);
});

test("a node with too many requests answers a thousand, and others later", async () => {
  const held: ((answer: boolean) => void)[] = [];
  const { log, hear, answers } = await openNode({
    isRinging: () => new Promise<boolean>((resolve) => held.push(resolve)),
  });
  const ask = (id: number) => hear({ kind: "question", id, from: "two", question: RINGS });
  for (let id = 1; id <= 1_001; id += 1) ask(id);
  assert.deepEqual([held.length, log.ofLevel("warn").length], [1_000, 1]);
  for (const answer of held.splice(0)) answer(true);
  assert.equal((await answers()).length, 1_000);
  ask(1_002);
  held[0]?.(true);
  assert.equal((await answers()).length, 1);
});

test("a thousand questions wait for other servers, and no more", async () => {
  const { clock, node, hear } = await openNode();
  const ask = () => node.request("two", RINGS, NODE_ANSWERS.isRinging);
  const asked = Array.from({ length: 1_000 }, () => assert.rejects(ask()));
  await assert.rejects(ask(), /answer too slowly/);
  clock.advance(2_000);
  await Promise.all(asked);
  const next = ask();
  hear({ kind: "answer", id: 1_001, value: true });
  assert.equal(await next, true, "there is room again");
});
