import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallEvent } from "../../../engine/calls/call-events.js";
import type { PublishedEvent } from "../../../engine/cluster/ipc-messages.js";
import { eventChannelOf, NodeEvents, WATCHES } from "../../../engine/cluster/node-events.js";
import { NO_METRICS } from "../../../engine/conversation/effects.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const LEASE_MS = 25_000;
const NEWS_WAITING_MAX = 1_000;
const TOGETHER_MS = 100;
const RENEW_MS = 10_000;
const TURN: CallEvent = { type: "turn", callId: "a", metrics: NO_METRICS };
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function words(text: string, isFinal = false, callId = "a"): CallEvent {
  return { type: "words", callId, role: "assistant", text, isFinal };
}

/** Two servers of a database that passes letters on at once, for as long as it does. */
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
  const mail = {
    post: (channel: string, text: string) => postToAll([channel], text),
    postToAll,
  };
  const join = (startId: string) => {
    const log = new RecordingLogger();
    const watched = new Set<string>();
    const wanted: string[] = [];
    const told: PublishedEvent[] = [];
    const news = new NodeEvents({
      mail,
      startId,
      watchedTopics: () => [...watched],
      onWanted: ({ topic, isWanted }) => wanted.push(`${topic} ${isWanted}`),
      onEvent: (sent) => told.push(sent),
      clock,
      log,
    });
    listening.push(news.channels);
    const watch = async (topic: string) => {
      watched.add(topic);
      news.watch(topic);
      await settled();
    };
    return { news, log, watched, watch, wanted, told };
  };
  return { clock, posts, database, has: join("has"), watches: join("watches") };
}

test("what is watched at another server is told there, together, and for as long as it is watched", async () => {
  const { clock, posts, has, watches } = newServers();
  has.news.send({ topic: "org", news: TURN });
  await watches.watch("org");
  await watches.watch("org");
  assert.deepEqual([has.wanted, watches.wanted], [["org true"], []]);
  assert.equal(posts.length, 1, "nobody watched the first one");
  has.news.send({ topic: "org", news: TURN });
  has.news.send({ topic: "other", news: TURN });
  has.news.send({ topic: "org", news: TURN });
  assert.equal(posts.length, 1);
  clock.advance(TOGETHER_MS);
  await settled();
  assert.deepEqual(
    posts.slice(1).map(({ channels }) => channels),
    [[eventChannelOf("watches")]],
  );
  assert.equal(clock.pendingTimerCount, 2, "both look again at what is watched, and no more");
  assert.deepEqual(watches.told, [
    { topic: "org", news: TURN },
    { topic: "org", news: TURN },
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
  has.news.send({ topic: "org", news: TURN });
  clock.advance(RENEW_MS);
  await settled();
  assert.equal(posts.length, count, "nobody is asked or told any more");
  await watches.watch("org");
  assert.equal(has.wanted.at(-1), "org true");
  has.news.close();
  watches.news.close();
  has.news.send({ topic: "org", news: TURN });
  assert.equal(clock.pendingTimerCount, 0);
});

test("of words that grow, the last state is told, and what is settled stays", async () => {
  const { clock, has, watches } = newServers();
  await watches.watch("org/a");
  const all = [words("One"), words("One two"), TURN, words("Three"), words("Three.", true)];
  const asked = { type: "words", callId: "a", role: "user", text: "Six?", isFinal: false } as const;
  const others = [words("Four"), words("Five", false, "b"), words("Five", false, "a"), asked];
  for (const news of [...all, ...others]) has.news.send({ topic: "org/a", news });
  clock.advance(TOGETHER_MS);
  await settled();
  assert.deepEqual(
    watches.told.map(({ news }) => news),
    [words("One two"), TURN, words("Three.", true), ...others],
  );
});

test("a thousand news go together, and how many more there were is said", async () => {
  const { clock, has, watches } = newServers();
  await watches.watch("org");
  for (let count = 0; count < NEWS_WAITING_MAX + 1; count += 1) {
    has.news.send({ topic: "org", news: TURN });
  }
  clock.advance(TOGETHER_MS);
  await settled();
  assert.equal(watches.told.length, NEWS_WAITING_MAX);
  assert.deepEqual(
    has.log.ofLevel("warn").map(({ fields }) => fields),
    [{ count: 1 }],
  );
});

test("news that nobody watches any more when their message is due go to nobody", async () => {
  const { clock, posts, has, watches } = newServers();
  await watches.watch("org");
  watches.watched.clear();
  clock.advance(3 * RENEW_MS - 50);
  has.news.send({ topic: "org", news: TURN });
  clock.advance(50);
  assert.deepEqual(has.wanted, ["org true", "org false"]);
  const count = posts.length;
  clock.advance(TOGETHER_MS);
  await settled();
  assert.equal(posts.length, count);
});

test("where the database is slow, so many news wait and no more, and what comes meanwhile goes next", async () => {
  const { clock, posts, database, has, watches } = newServers();
  await watches.watch("org");
  let goOn = () => {};
  database.held = new Promise((resolve) => (goOn = resolve));
  has.news.send({ topic: "org", news: TURN });
  clock.advance(TOGETHER_MS);
  for (let count = 0; count < NEWS_WAITING_MAX + 5; count += 1) {
    has.news.send({ topic: "org", news: TURN });
  }
  clock.advance(TOGETHER_MS);
  assert.equal(posts.length, 2, "one message at a time");
  goOn();
  await settled();
  clock.advance(TOGETHER_MS);
  await settled();
  assert.equal(watches.told.length, 1 + NEWS_WAITING_MAX);
  has.news.send({ topic: "org", news: TURN });
  clock.advance(TOGETHER_MS);
  await settled();
  assert.deepEqual(
    has.log.ofLevel("warn").map(({ fields }) => fields["count"]),
    [5],
    "said once",
  );
  assert.match(has.log.ofLevel("warn")[0]?.message ?? "", /left out: too many/);
});

test("what the database does not take is lost and logged, and the next news are told", async () => {
  const { clock, database, has, watches } = newServers();
  await watches.watch("org");
  database.fault = new Error("away");
  has.news.send({ topic: "org", news: TURN });
  await watches.watch("org/a");
  clock.advance(TOGETHER_MS);
  await settled();
  assert.match(has.log.ofLevel("warn")[0]?.message ?? "", /was not told of news/);
  assert.match(watches.log.ofLevel("warn")[0]?.message ?? "", /could not be asked/);
  database.fault = undefined;
  clock.advance(RENEW_MS);
  await settled();
  assert.deepEqual(has.wanted, ["org true", "org/a true"], "asked again");
  has.news.send({ topic: "org/a", news: words("Hi.", true) });
  clock.advance(TOGETHER_MS);
  await settled();
  assert.equal(watches.told.length, 1);
});

test("what is no message of news is left alone", () => {
  const { has } = newServers();
  for (const channel of [WATCHES, eventChannelOf("has")]) has.news.channels.get(channel)?.("{}");
  assert.equal(has.log.ofLevel("warn").length, 2);
  assert.deepEqual([has.wanted, has.told], [[], []]);
});
