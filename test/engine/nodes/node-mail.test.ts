import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeBox } from "../../../engine/box/other-nodes.js";
import { NodeMail } from "../../../engine/nodes/node-mail.js";
import { CALLER_LEFT } from "../../../engine/session/ending.js";
import type { Mail, MailListener } from "../../../storage/mail.js";
import { SilentLogger } from "../../doubles/silent-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const HANDLERS: NodeBox["handlers"] = {
  isRinging: () => false,
  handOver: () => undefined,
  report: () => false,
  endCall: () => false,
  hasCall: () => false,
};

/** A node whose database lets it listen when the test says so. */
function newNode() {
  const clock = new VirtualClock();
  const listeners: MailListener[] = [];
  const begun: (() => void)[] = [];
  const told = { ends: 0, changes: 0, listening: 0 };
  const posted: { readonly channel: string; readonly text: string }[] = [];
  const mail: Mail = {
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
  const node = new NodeMail({
    mail,
    startId: "one",
    handlers: HANDLERS,
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
  return { clock, node, listeners, begun, told, posted };
}

test("a node that closes while it begins to listen leaves nothing behind that listens", async () => {
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

test("what needs no answer is told to the other node, and gets none", async () => {
  const { node, listeners, begun, posted } = newNode();
  const opened = node.open();
  begun[0]?.();
  await opened;
  const question = { name: "endCall", asks: { callId: "a", ending: CALLER_LEFT } } as const;
  await node.tell("two", question);
  const [told] = posted;
  assert.ok(told);
  assert.deepEqual(JSON.parse(told.text), { kind: "question", from: "one", question });
  for (const text of [
    told.text,
    JSON.stringify({ kind: "question", from: "two", id: 1, question }),
  ]) {
    listeners[0]?.onMail(told.channel, text);
    await new Promise(setImmediate);
  }
  assert.deepEqual(
    posted.slice(1).map(({ text }) => JSON.parse(text)),
    [{ kind: "answer", id: 1, value: false }],
  );
});
