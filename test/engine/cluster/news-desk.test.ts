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
const SENT = { topic: "org", news: ENDED };

test("other servers are one more who watches and tells: asked for what the box watches, told what they watch", () => {
  const said: string[] = [];
  const member = (name: number) => ({
    link: {
      tell: (what: string, asks: unknown) =>
        said.push(`${name} ${what} ${String(Object(asks).isWanted ?? "")}`.trim()),
    },
  });
  const members = new Map([1, 2].map((name) => [name, member(name)]));
  const desk = new EventRelay(members, {
    watch: (topic) => said.push(`others: ${topic}?`),
    publish: ({ news }) => said.push(`others: ${news.callId}`),
  });
  const others = desk.asNode;
  const heard = (act: () => void) => {
    act();
    return said.splice(0);
  };
  const note = (isWanted: boolean) => others.onWanted({ topic: "org", isWanted });
  assert.deepEqual(
    heard(() => note(true)),
    ["1 subscribed true", "2 subscribed true"],
  );
  assert.deepEqual(others.watchedTopics(), []);
  assert.deepEqual(
    heard(() => desk.passOn(1, SENT)),
    ["others: a"],
  );
  assert.deepEqual(
    heard(() => desk.want(2, { topic: "org", isWanted: true })),
    ["1 subscribed true", "2 subscribed true", "others: org?"],
    "who has the call tells one more what was said in it",
  );
  assert.deepEqual(others.watchedTopics(), ["org"]);
  assert.deepEqual(
    heard(() => desk.passOn(1, SENT)),
    ["others: a", "2 news"],
  );
  assert.deepEqual(
    heard(() => others.onEvent(SENT)),
    ["2 news"],
    "not back to where it came from",
  );
  assert.deepEqual(
    heard(() => note(false)),
    [],
  );
  assert.deepEqual(
    heard(() => desk.leave(2)),
    ["1 subscribed false", "2 subscribed false"],
  );
  assert.deepEqual([desk.topics, others.watchedTopics()], [[], []]);
  heard(() => desk.want(1, { topic: "org", isWanted: true }));
  assert.deepEqual(
    heard(() => desk.want(1, { topic: "org", isWanted: false })),
    ["1 subscribed false", "2 subscribed false"],
    "other servers are not asked for what nobody wants any more",
  );
});
