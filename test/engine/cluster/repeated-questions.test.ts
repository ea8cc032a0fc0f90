import assert from "node:assert/strict";
import { test } from "node:test";
import type { LocalServer } from "../../../engine/cluster/coordination.js";
import { NODE_ANSWERS, NodeBus } from "../../../engine/cluster/node-bus.js";
import { CALLER_LEFT } from "../../../engine/conversation/call-end.js";
import type { BusListener, BusMessages } from "../../../storage/nodes/message-bus.js";
import { SilentLogger } from "../../doubles/silent-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const ASKED_AGAIN_MS = 700;
const HANDLERS: LocalServer["handlers"] = {
  isRinging: () => false,
  handOver: () => undefined,
  report: () => false,
  endCall: () => false,
  controlCall: () => "elsewhere",
  hasCall: () => false,
};

/** A node whose database lets it listen when the test says so. */
function newNode() {
  /** The calls that it was asked to end. */
  const asked: string[] = [];
  const clock = new VirtualClock();
  const listeners: BusListener[] = [];
  const begun: (() => void)[] = [];
  const told = { ends: 0, changes: 0, listening: 0 };
  const posted: { readonly channel: string; readonly text: string }[] = [];
  const messageBus: BusMessages = {
    post: async (channel, text) => void posted.push({ channel, text }),
    postToAll: () => Promise.resolve(),
    listen: (_channels, listener) =>
      new Promise((resolve) => {
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
    handlers: {
      ...HANDLERS,
      endCall: async ({ callId }) => {
        asked.push(callId);
        return false;
      },
    },
    onChange: () => {
      told.changes += 1;
    },
    onRecordsChanged: () => undefined,
    onListening: () => {
      told.listening += 1;
    },
    clock,
    log: new SilentLogger(),
  });
  return { clock, node, listeners, begun, told, posted, asked };
}

const QUESTION = {
  name: "endCall",
  asks: { callId: "a", ending: CALLER_LEFT },
} as const;

test("an earlier version's message without a number is executed each time, and not answered", async () => {
  const { node, listeners, begun, posted, asked } = newNode();
  const opened = node.open();
  begun[0]?.();
  await opened;
  const told = JSON.stringify({ kind: "question", from: "two", question: QUESTION });
  for (let time = 0; time < 2; time += 1) listeners[0]?.onMessages("parley one", told);
  await new Promise(setImmediate);
  assert.deepEqual([asked, posted], [["a", "a"], []]);
});

test("a request without a response is repeated under its number", async () => {
  const { node, listeners, begun, posted, clock } = newNode();
  const opened = node.open();
  begun[0]?.();
  await opened;
  const answer = node.request("two", QUESTION, NODE_ANSWERS.endCall);
  await new Promise(setImmediate);
  clock.advance(ASKED_AGAIN_MS - 1);
  assert.equal(posted.length, 1);
  clock.advance(1);
  const question = { kind: "question", id: 1, from: "one", question: QUESTION };
  assert.deepEqual(
    posted.map(({ channel, text }) => [channel, JSON.parse(text)]),
    [
      ["parley two", question],
      ["parley two", question],
    ],
  );
  const reply = JSON.stringify({ kind: "answer", id: 1, value: true });
  for (let time = 0; time < 2; time += 1) listeners[0]?.onMessages("parley one", reply);
  assert.equal(await answer, true);
  assert.equal(clock.pendingTimerCount, 0);
});

test("a question that comes again is done once, and answered each time", async () => {
  const { node, listeners, begun, posted, asked, clock } = newNode();
  const opened = node.open();
  begun[0]?.();
  await opened;
  const question = JSON.stringify({ kind: "question", id: 7, from: "two", question: QUESTION });
  const come = async () => {
    listeners[0]?.onMessages("parley one", question);
    await new Promise(setImmediate);
  };
  // The second one while the first is under way.
  await Promise.all([come(), come()]);
  await come();
  const answer = { kind: "answer", id: 7, value: false };
  assert.deepEqual(
    posted.map(({ channel, text }) => [channel, JSON.parse(text)]),
    [
      ["parley two", answer],
      ["parley two", answer],
    ],
  );
  assert.deepEqual(asked, ["a"]);
  clock.advance(3_999);
  await come();
  assert.deepEqual(asked, ["a"], "who asked may still ask again");
  clock.advance(1);
  await come();
  assert.deepEqual(asked, ["a", "a"], "who asked has long given up");
});
