import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CallEvent,
  callsTopic,
  callTopic,
  type PublishedEvent,
  type TranscriptWords,
} from "../../../engine/calls/call-events.js";
import { CallFeed, type Watched } from "../../../engine/calls/call-feed.js";
import { NO_METRICS } from "../../../engine/conversation/effects.js";
import { RequestError } from "../../../engine/request-error.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const WATCHERS_PER_TURN = 4;
const TOGETHER_MS = 250;
const PULSE_MS = 5_000;
const WATCH_MAX_MS = 60_000;
const WATCHERS_MAX = 1_000;
const WATCHERS_PER_ORGANIZATION_MAX = 100;
const TURN: CallEvent = { type: "turn", callId: "a", metrics: NO_METRICS };
const WORDS = { type: "words", callId: "a", role: "user", text: "Hi.", isFinal: true } as const;

function watching(feed: CallFeed, watched: Watched) {
  const abort = new AbortController();
  const told: CallEvent[] = [];
  const watch = { told, pulses: 0, isOver: false, stop: () => abort.abort() };
  const watcher = {
    news: (news: readonly CallEvent[]) => told.push(...news),
    pulse: () => (watch.pulses += 1),
  };
  const over = feed.watch(watched, watcher, abort.signal).then(() => (watch.isOver = true));
  return Object.assign(watch, { over });
}

test("a watcher of all calls gets them without words, a watcher of one with them, and no one gets others' calls", () => {
  const clock = new VirtualClock();
  const feed = new CallFeed(clock);
  const all = watching(feed, { orgId: "org" });
  const one = watching(feed, { orgId: "org", callId: "a" });
  const otherCall = watching(feed, { orgId: "org", callId: "b" });
  const others = watching(feed, { orgId: "other" });
  const prying = watching(feed, { orgId: "other", callId: "a" });
  feed.publish("org", WORDS);
  feed.publish("org", TURN);
  feed.publish("org", TURN);
  assert.deepEqual(all.told, [], "together, in a moment");
  clock.advance(TOGETHER_MS);
  assert.deepEqual(all.told, [TURN, TURN]);
  assert.deepEqual(one.told, [WORDS, TURN, TURN]);
  assert.deepEqual([...otherCall.told, ...others.told, ...prying.told], []);
});

test("decisions about turns are events of the call that is watched by itself", () => {
  const feed = new CallFeed(new VirtualClock());
  const all = watching(feed, { orgId: "org" });
  const one = watching(feed, { orgId: "org", callId: "a" });
  const ofTurn = { callId: "a", turn: 1 } as const;
  const events: readonly CallEvent[] = [
    { type: "endOfTurn", ...ofTurn, reason: "endpointing", waitedMs: 100 },
    { type: "bargeIn", ...ofTurn, action: "interrupt", reason: "words", atMs: 900 },
  ];
  for (const event of events) feed.publish("org", event);
  assert.deepEqual(one.told, events);
  assert.deepEqual(all.told, []);
});

test("a watch ends when its reader goes, after its time, and when the server stops; then its place is free", async () => {
  const clock = new VirtualClock();
  const feed = new CallFeed(clock);
  const gone = watching(feed, { orgId: "org" });
  gone.stop();
  await gone.over;
  const late = watching(feed, { orgId: "org" });
  clock.advance(WATCH_MAX_MS - 1);
  assert.equal(late.isOver, false);
  assert.equal(late.pulses, Math.floor((WATCH_MAX_MS - 1) / PULSE_MS));
  clock.advance(1);
  await late.over;
  const last = watching(feed, { orgId: "org" });
  feed.close();
  await last.over;
  assert.equal(feed.watcherCount, 0);
  assert.equal(clock.pendingTimerCount, 0);
  feed.publish("org", TURN);
  assert.deepEqual([...gone.told, ...late.told, ...last.told], []);
  await watching(feed, { orgId: "org" }).over;
});

test("the number of watchers per organization and per server is limited", async () => {
  const feed = new CallFeed(new VirtualClock());
  const isRefused = (error: unknown) =>
    error instanceof RequestError &&
    error.code === "concurrency_limit_reached" &&
    error.retryAfterSec === 60;
  const fill = (orgId: string, count: number) =>
    Array.from({ length: count }, () => watching(feed, { orgId }));
  const [gone] = fill("org 0", WATCHERS_PER_ORGANIZATION_MAX);
  assert.throws(() => feed.requireRoom("org 0"), isRefused);
  gone?.stop();
  feed.requireRoom("org 0");
  const [first] = fill("org 0", 1);
  await watching(feed, { orgId: "org 0" }).over;
  for (let org = 1; org < WATCHERS_MAX / WATCHERS_PER_ORGANIZATION_MAX; org += 1) {
    feed.requireRoom(`org ${org}`);
    fill(`org ${org}`, WATCHERS_PER_ORGANIZATION_MAX);
  }
  assert.equal(feed.watcherCount, WATCHERS_MAX);
  assert.throws(() => feed.requireRoom("one more"), isRefused);
  first?.stop();
  feed.requireRoom("one more");
});

test("with other processes, subscriptions go in both directions, and so do events", () => {
  const wants: [string, boolean][] = [];
  const sent: [string, CallEvent][] = [];
  const elsewhere = new Set<string>();
  let receive = (_published: PublishedEvent) => {};
  let wantedElsewhere = (_topic: string) => {};
  const clock = new VirtualClock();
  const feed = new CallFeed(clock, {
    hasSubscribers: (topic) => elsewhere.has(topic),
    subscribe: ({ topic, isWanted }) => wants.push([topic, isWanted]),
    publish: ({ topic, event }) => sent.push([topic, event]),
    onEvent: (given) => (receive = given),
    onSubscribed: (given) => (wantedElsewhere = given),
  });
  const one = watching(feed, { orgId: "org" });
  const other = watching(feed, { orgId: "org" });
  receive({ topic: callsTopic("org"), event: TURN });
  clock.advance(TOGETHER_MS);
  assert.deepEqual([one.told, other.told], [[TURN], [TURN]]);
  one.stop();
  other.stop();
  assert.deepEqual(wants, [
    ["org", true],
    ["org", false],
  ]);
  feed.publish("org", TURN);
  assert.deepEqual(sent, []);
  elsewhere.add(callTopic("org", "a"));
  feed.publish("org", WORDS);
  assert.deepEqual(sent, [[callTopic("org", "a"), WORDS]]);
  const words = [{ role: "user", text: "Hi.", isFinal: true }] as const;
  const present: CallEvent = { type: "present", callId: "a", words, isMuted: true };
  feed.callBegins("org", "a", () => ({ words, isMuted: true }));
  for (const callId of ["a", "b"]) wantedElsewhere(callTopic("org", callId));
  assert.deepEqual(sent.slice(1), [[callTopic("org", "a"), present]]);
  const late = watching(feed, { orgId: "org", callId: "b" });
  const later = watching(feed, { orgId: "org", callId: "b" });
  assert.deepEqual(wants.slice(2), [
    [callTopic("org", "b"), true],
    [callTopic("org", "b"), true],
  ]);
  receive({ topic: callTopic("org", "b"), event: { ...present, callId: "b" } });
  const news = [{ ...present, callId: "b" }];
  assert.deepEqual([late.told, later.told], [news, news]);
});

test("a new watcher of a call gets the words of turns that are not stored, and no one else does", () => {
  const feed = new CallFeed(new VirtualClock());
  const said: TranscriptWords[] = [];
  feed.callBegins("org", "a", () => ({ words: [...said], isMuted: false }));
  const early = watching(feed, { orgId: "org", callId: "a" });
  const { callId, type, ...words } = WORDS;
  said.push(words);
  feed.publish("org", WORDS);
  const late = watching(feed, { orgId: "org", callId: "a" });
  const others = watching(feed, { orgId: "other", callId: "a" });
  const all = watching(feed, { orgId: "org" });
  assert.deepEqual(early.told, [
    { type: "present", callId, words: [], isMuted: false },
    { type, callId, ...words },
  ]);
  assert.deepEqual(late.told, [{ type: "present", callId, words: [words], isMuted: false }]);
  feed.callIsOver("org", "a");
  const last = watching(feed, { orgId: "org", callId: "a" });
  assert.deepEqual([...others.told, ...all.told, ...last.told], []);
});

test("words that wait for their round are not sent twice to a watcher who already has them", () => {
  const clock = new VirtualClock();
  const feed = new CallFeed(clock);
  const said: TranscriptWords[] = [];
  feed.callBegins("org", "a", () => ({ words: [...said], isMuted: false }));
  const early = Array.from({ length: 2 * WATCHERS_PER_TURN }, () =>
    watching(feed, { orgId: "org", callId: "a" }),
  );
  for (const text of ["One.", "Two."]) {
    const words = { ...WORDS, text };
    said.push(words);
    feed.publish("org", words);
  }
  const late = watching(feed, { orgId: "org", callId: "a" });
  clock.advance(TOGETHER_MS);
  assert.deepEqual(
    early.map(({ told }) => told.length),
    early.map(() => 3),
  );
  assert.deepEqual(
    late.told.map((news) => (news.type === "present" ? news.words.length : news.type)),
    [2],
  );
});
