import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallEvent, PublishedEvent } from "../../../engine/calls/call-events.js";
import { eventChannelOf, NodeEvents, WATCHES } from "../../../engine/cluster/node-events.js";
import { NO_METRICS } from "../../../engine/conversation/effects.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const LEASE_MS = 25_000;
const EVENTS_WAITING_MAX = 1_000;
const TOGETHER_MS = 100;
const RENEW_MS = 10_000;
const TURN: CallEvent = { type: "turn", callId: "a", metrics: NO_METRICS };
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function words(text: string, isFinal = false, callId = "a"): CallEvent {
  return { type: "words", callId, role: "assistant", text, isFinal };
}

/** Two servers of a database that delivers messages immediately, for as long as it works. */
function newServers() {
  const clock = new VirtualClock(0);
  const posts: { readonly channels: readonly string[]; readonly text: string }[] = [];
  const listening: ReadonlyMap<string, (text: string) => void>[] = [];
  const database = { fault: undefined as Error | undefined, held: Promise.resolve() };
  const postToAll = async (channels: readonly string[], text: string) => {
    posts.push({ channels, text });
    await database.held;
    if (database.fault !== undefined) throw database.fault;
    for (const each of listening) {
      for (const channel of channels) each.get(channel)?.(text);
    }
  };
  const messageBus = {
    post: (channel: string, text: string) => postToAll([channel], text),
    postToAll,
  };
  const join = (startId: string) => {
    const log = new RecordingLogger();
    const watched = new Set<string>();
    const wanted: string[] = [];
    const told: PublishedEvent[] = [];
    const events = new NodeEvents({
      messageBus,
      startId,
      watchedTopics: () => [...watched],
      onSubscription: ({ topic, isWanted }) => wanted.push(`${topic} ${isWanted}`),
      onEvent: (sent) => told.push(sent),
      clock,
      log,
    });
    listening.push(events.channels);
    const watch = async (topic: string) => {
      watched.add(topic);
      events.subscribe(topic);
      await settled();
    };
    return { events, log, watched, watch, wanted, told };
  };
  return { clock, posts, database, has: join("has"), watches: join("watches") };
}

test("events watched at another server are sent there, batched, and while they are watched", async () => {
  const { clock, posts, has, watches } = newServers();
  has.events.publish({ topic: "org", event: TURN });
  await watches.watch("org");
  await watches.watch("org");
  assert.deepEqual([has.wanted, watches.wanted], [["org true"], []]);
  assert.equal(posts.length, 1, "nobody watched the first one");
  has.events.publish({ topic: "org", event: TURN });
  has.events.publish({ topic: "other", event: TURN });
  has.events.publish({ topic: "org", event: TURN });
  assert.equal(posts.length, 1);
  clock.advance(TOGETHER_MS);
  await settled();
  assert.deepEqual(
    posts.slice(1).map(({ channels }) => channels),
    [[eventChannelOf("watches")]],
  );
  assert.equal(clock.pendingTimerCount, 2, "both look again at what is watched, and no more");
  assert.deepEqual(watches.told, [
    { topic: "org", event: TURN },
    { topic: "org", event: TURN },
  ]);
  assert.deepEqual(has.told, []);
  for (let ms = 0; ms < 3 * LEASE_MS; ms += RENEW_MS) {
    clock.advance(RENEW_MS);
    await settled();
  }
  assert.deepEqual(has.wanted, ["org true"]);
  const askedCount = posts.length;
  await watches.watch("org");
  assert.equal(posts.length, askedCount, "it was asked for just now");
  watches.watched.clear();
  clock.advance(LEASE_MS + RENEW_MS);
  assert.deepEqual(has.wanted, ["org true", "org false"]);
  const count = posts.length;
  has.events.publish({ topic: "org", event: TURN });
  clock.advance(RENEW_MS);
  await settled();
  assert.equal(posts.length, count, "nobody is asked or told any more");
  await watches.watch("org");
  assert.equal(has.wanted.at(-1), "org true");
  has.events.close();
  watches.events.close();
  has.events.publish({ topic: "org", event: TURN });
  assert.equal(clock.pendingTimerCount, 0);
});

test("of growing words the last state is sent, and final words stay", async () => {
  const { clock, has, watches } = newServers();
  await watches.watch("org/a");
  const all = [words("One"), words("One two"), TURN, words("Three"), words("Three.", true)];
  const asked = { type: "words", callId: "a", role: "user", text: "Six?", isFinal: false } as const;
  const others = [words("Four"), words("Five", false, "b"), words("Five", false, "a"), asked];
  for (const event of [...all, ...others]) has.events.publish({ topic: "org/a", event });
  clock.advance(TOGETHER_MS);
  await settled();
  assert.deepEqual(
    watches.told.map(({ event }) => event),
    [words("One two"), TURN, words("Three.", true), ...others],
  );
});

test("a thousand news go together, and how many more there were is said", async () => {
  const { clock, has, watches } = newServers();
  await watches.watch("org");
  for (let count = 0; count < EVENTS_WAITING_MAX + 1; count += 1) {
    has.events.publish({ topic: "org", event: TURN });
  }
  clock.advance(TOGETHER_MS);
  await settled();
  assert.equal(watches.told.length, EVENTS_WAITING_MAX);
  assert.deepEqual(
    has.log.ofLevel("warn").map(({ fields }) => fields),
    [{ count: 1 }],
  );
});

test("events that are no longer watched when their message is due are dropped", async () => {
  const { clock, posts, has, watches } = newServers();
  await watches.watch("org");
  watches.watched.clear();
  clock.advance(3 * RENEW_MS - 50);
  has.events.publish({ topic: "org", event: TURN });
  clock.advance(50);
  assert.deepEqual(has.wanted, ["org true", "org false"]);
  const count = posts.length;
  clock.advance(TOGETHER_MS);
  await settled();
  assert.equal(posts.length, count);
});

test("if the database is slow, a limited number of events wait, and later ones go next", async () => {
  const { clock, posts, database, has, watches } = newServers();
  await watches.watch("org");
  let goOn = () => {};
  database.held = new Promise((resolve) => (goOn = resolve));
  has.events.publish({ topic: "org", event: TURN });
  clock.advance(TOGETHER_MS);
  for (let count = 0; count < EVENTS_WAITING_MAX + 5; count += 1) {
    has.events.publish({ topic: "org", event: TURN });
  }
  clock.advance(TOGETHER_MS);
  assert.equal(posts.length, 2, "one message at a time");
  goOn();
  await settled();
  clock.advance(TOGETHER_MS);
  await settled();
  assert.equal(watches.told.length, 1 + EVENTS_WAITING_MAX);
  has.events.publish({ topic: "org", event: TURN });
  clock.advance(TOGETHER_MS);
  await settled();
  assert.deepEqual(
    has.log.ofLevel("warn").map(({ fields }) => fields["count"]),
    [5],
    "said once",
  );
  assert.match(has.log.ofLevel("warn")[0]?.message ?? "", /too many were waiting/);
});

test("events that the database refuses are lost and logged, and the next are sent", async () => {
  const { clock, database, has, watches } = newServers();
  await watches.watch("org");
  database.fault = new Error("away");
  has.events.publish({ topic: "org", event: TURN });
  await watches.watch("org/a");
  clock.advance(TOGETHER_MS);
  await settled();
  assert.match(has.log.ofLevel("warn")[0]?.message ?? "", /failed to send call events/);
  assert.match(watches.log.ofLevel("warn")[0]?.message ?? "", /failed to subscribe/);
  database.fault = undefined;
  clock.advance(RENEW_MS);
  await settled();
  assert.deepEqual(has.wanted, ["org true", "org/a true"], "asked again");
  has.events.publish({ topic: "org/a", event: words("Hi.", true) });
  clock.advance(TOGETHER_MS);
  await settled();
  assert.equal(watches.told.length, 1);
});

test("an invalid event message is ignored", () => {
  const { has } = newServers();
  for (const channel of [WATCHES, eventChannelOf("has")]) has.events.channels.get(channel)?.("{}");
  assert.equal(has.log.ofLevel("warn").length, 2);
  assert.deepEqual([has.wanted, has.told], [[], []]);
});

function sound(callId: string, isLast = false): CallEvent {
  return { type: "audio", callId, sampleRateHz: 8_000, audio: "AAAA", isLast };
}

test("sound that waits takes no room from other events, nor from another organization's; its end always goes", async () => {
  const { clock, posts, database, has, watches } = newServers();
  for (const topic of ["loud/a/audio", "quiet/b/audio", "quiet"]) await watches.watch(topic);
  const before = posts.length;
  let goOn = () => {};
  database.held = new Promise((resolve) => (goOn = resolve));
  has.events.publish({ topic: "loud/a/audio", event: sound("a") });
  clock.advance(TOGETHER_MS);
  for (let count = 0; count < 2_000; count += 1) {
    has.events.publish({ topic: "loud/a/audio", event: sound("a") });
  }
  has.events.publish({ topic: "loud/a/audio", event: sound("a", true) });
  has.events.publish({ topic: "quiet/b/audio", event: sound("b") });
  has.events.publish({ topic: "quiet", event: TURN });
  clock.advance(TOGETHER_MS);
  assert.equal(posts.length, before + 2, "the turn does not wait for the sound");
  goOn();
  await settled();
  clock.advance(TOGETHER_MS);
  await settled();
  const told = (topic: string) => watches.told.filter((each) => each.topic === topic);
  assert.deepEqual(
    ["loud/a/audio", "quiet/b/audio", "quiet"].map((topic) => told(topic).length),
    [1 + 100 + 1, 1, 1],
  );
  assert.deepEqual(told("loud/a/audio").at(-1)?.event, sound("a", true));
  assert.match(has.log.ofLevel("warn")[0]?.message ?? "", /dropped pieces of sound/);
});
