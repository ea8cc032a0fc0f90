import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallEvent } from "../../../engine/calls/call-events.js";
import { EventRelay } from "../../../engine/cluster/primary.js";

const ENDED: CallEvent = {
  type: "ended",
  callId: "a",
  status: "completed",
  endReason: "callerLeft",
};
const SENT = { topic: "org", event: ENDED };

test("other servers are one more subscriber and publisher: they get this server's topics, and their own topics' events", () => {
  const said: string[] = [];
  const worker = (name: number) => ({
    link: {
      notify: (what: string, asks: unknown) =>
        said.push(`${name} ${what} ${String(Object(asks).isWanted ?? "")}`.trim()),
    },
  });
  const workers = new Map([1, 2].map((name) => [name, worker(name)]));
  const relay = new EventRelay(workers, {
    subscribe: ({ topic, isWanted }) => said.push(`others: ${topic} ${isWanted}`),
    publish: ({ event }) => said.push(`others: ${event.callId}`),
  });
  const others = relay.asNode;
  const heard = (act: () => void) => {
    act();
    return said.splice(0);
  };
  const note = (isWanted: boolean) => others.onSubscription({ topic: "org", isWanted });
  assert.deepEqual(
    heard(() => note(true)),
    ["1 subscribed true", "2 subscribed true"],
  );
  assert.deepEqual(others.watchedTopics(), []);
  assert.deepEqual(
    heard(() => relay.publish(1, SENT)),
    ["others: a"],
  );
  assert.deepEqual(
    heard(() => relay.subscribe(2, { topic: "org", isWanted: true })),
    ["1 subscribed true", "2 subscribed true", "others: org true"],
    "who has the call tells one more what was said in it",
  );
  assert.deepEqual(others.watchedTopics(), ["org"]);
  assert.deepEqual(
    heard(() => relay.publish(1, SENT)),
    ["others: a", "2 published"],
  );
  assert.deepEqual(
    heard(() => others.onEvent(SENT)),
    ["2 published"],
    "not back to where it came from",
  );
  assert.deepEqual(
    heard(() => note(false)),
    [],
  );
  assert.deepEqual(
    heard(() => relay.leave(2)),
    ["1 subscribed false", "2 subscribed false"],
  );
  assert.deepEqual([relay.topics, others.watchedTopics()], [[], []]);
  heard(() => relay.subscribe(1, { topic: "org", isWanted: true }));
  assert.deepEqual(
    heard(() => relay.subscribe(1, { topic: "org", isWanted: false })),
    ["1 subscribed false", "2 subscribed false", "others: org false"],
  );
});
