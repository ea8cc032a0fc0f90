import assert from "node:assert/strict";
import { test } from "node:test";
import { eventStreamAnswer } from "../../../api/http/endpoints/api-endpoint.js";
import { CallEventStreams } from "../../../api/routes/call-routes.js";
import type { CallEvent } from "../../../engine/calls/call-events.js";
import type { Watcher } from "../../../engine/calls/topic-subscribers.js";
import { NO_METRICS } from "../../../engine/conversation/effects.js";

const PAGES = 50;

/** Pages that watch, and the events that each of them receives. */
async function watching(count: number) {
  const streams = new CallEventStreams();
  const watchers: Watcher[] = [];
  const sent: string[] = [];
  for (let page = 0; page < count; page += 1) {
    sent.push("");
    const run = (watcher: Watcher) => {
      watchers.push(watcher);
      return Promise.resolve();
    };
    const { produce } = eventStreamAnswer(200, streams.of({ run }));
    await produce((text) => (sent[page] += text), new AbortController().signal);
  }
  return { watchers, sent };
}

test("an event for many watchers is serialized once, and each of them receives all of it", async () => {
  const { watchers, sent } = await watching(PAGES);
  let madeCount = 0;
  const metrics = {
    ...NO_METRICS,
    turnCount: 7,
    toJSON: () => {
      madeCount += 1;
      return { turnCount: 7 };
    },
  };
  const news: readonly CallEvent[] = [
    { type: "turn", callId: "a", metrics },
    { type: "ended", callId: "a", status: "completed", endReason: "callerLeft" },
  ];
  for (const watcher of watchers) watcher.news(news);
  assert.equal(madeCount, 1);
  const text = [
    "event: watching\ndata: {}\n\n",
    'event: turn\ndata: {"callId":"a","metrics":{"turnCount":7}}\n\n',
    'event: ended\ndata: {"callId":"a","status":"completed","endReason":"callerLeft"}\n\n',
  ].join("");
  assert.deepEqual(new Set(sent), new Set([text]));
});

test("each kind of event has its name, and a heartbeat is sent if there was none", async () => {
  const { watchers, sent } = await watching(1);
  const [watcher = assert.fail()] = watchers;
  watcher.news([
    { type: "began", callId: "a", agentId: "b", channel: "phone", startedAtMs: 0 },
    { type: "words", callId: "a", role: "user", text: "Two\nlines.", isFinal: true },
    { type: "bargeIn", callId: "a", turn: 2, action: "interrupt", reason: "words", atMs: 900 },
    { type: "endOfTurn", callId: "a", turn: 3, reason: "vendor", waitedMs: 250 },
    {
      type: "endOfTurn",
      callId: "a",
      turn: 4,
      reason: "maxEndpointingDelay",
      waitedMs: 1_500,
      waitedFor: "dictating",
    },
  ]);
  watcher.pulse();
  assert.equal(
    sent[0],
    [
      "event: watching\ndata: {}\n\n",
      'event: began\ndata: {"callId":"a","agentId":"b","channel":"phone","startedAt":"1970-01-01T00:00:00.000Z"}\n\n',
      'event: words\ndata: {"callId":"a","role":"user","text":"Two\\nlines.","isFinal":true}\n\n',
      'event: bargeIn\ndata: {"callId":"a","turn":2,"action":"interrupt","reason":"words","atMs":900}\n\n',
      'event: endOfTurn\ndata: {"callId":"a","turn":3,"reason":"vendor","waitedMs":250}\n\n',
      'event: endOfTurn\ndata: {"callId":"a","turn":4,"reason":"maxEndpointingDelay","waitedMs":1500,"waitedFor":"dictating"}\n\n',
      "event: pulse\ndata: {}\n\n",
    ].join(""),
  );
});
