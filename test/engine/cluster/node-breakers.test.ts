import assert from "node:assert/strict";
import { test } from "node:test";
import { BREAKERS, NodeBreakers } from "../../../engine/cluster/node-breakers.js";
import type { BreakerEvent } from "../../../engine/vendors/chain/breakers.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const MAIL_BYTES_MAX = 7_900;
const BREAKERS_TOLD_MAX = 200;
const BREAKERS_WAITING_MAX = 1_000;
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function open(id: string, leftMs = 5_000): BreakerEvent {
  return {
    id,
    version: 1_800_000_000_000,
    category: "tts",
    vendor: "elevenlabs",
    phase: "open",
    changeCount: 1,
    pauseMs: 5_000,
    leftMs,
    lastFault: { fault: "timeout", agoMs: 10 },
  };
}

/** Servers of a database that delivers messages immediately, for as long as it works. */
function newServers() {
  const clock = new VirtualClock(0);
  const posts: { readonly channel: string; readonly text: string }[] = [];
  const listening: ReadonlyMap<string, (text: string) => void>[] = [];
  const database = { fault: undefined as Error | undefined, held: Promise.resolve() };
  const post = async (channel: string, text: string) => {
    posts.push({ channel, text });
    await database.held;
    if (database.fault !== undefined) throw database.fault;
    for (const each of listening) each.get(channel)?.(text);
  };
  const join = (startId: string) => {
    const log = new RecordingLogger();
    const known: BreakerEvent[] = [];
    const told: BreakerEvent[] = [];
    const toldCounts: number[] = [];
    const breakers = new NodeBreakers({
      messageBus: { post },
      startId,
      known: () => known,
      onBreakers: (all) => {
        toldCounts.push(all.length);
        told.push(...all);
      },
      clock,
      log,
    });
    listening.push(breakers.channels);
    return { breakers, log, known, told, toldCounts };
  };
  return { clock, posts, database, one: join("one"), other: join("other"), third: join("third") };
}

test("a server's event goes to all others immediately, and not to itself", async () => {
  const { posts, one, other, third } = newServers();
  one.breakers.publish(open("a"));
  await settled();
  assert.deepEqual([one.told, other.told, third.told], [[], [open("a")], [open("a")]]);
  one.breakers.publish({ ...open("a"), phase: "closed", lastFault: undefined });
  await settled();
  assert.deepEqual(other.told.at(-1), { ...open("a"), phase: "closed", lastFault: undefined });
  assert.equal(posts.length, 2);
});

test("a server that starts to listen gets the newest state of each other, and no other server does", async () => {
  const { posts, one, other, third } = newServers();
  for (let index = 0; index < BREAKERS_TOLD_MAX + 5; index += 1) {
    other.known.push(open(`${index}`, 3_000));
  }
  third.known.push(open("b"));
  await one.breakers.requestState();
  await settled();
  assert.equal(one.told.length, BREAKERS_TOLD_MAX + 1);
  const told = new Set(one.told.map(({ id }) => id));
  assert.deepEqual(
    ["0", "4", "5", "204", "b"].map((id) => told.has(id)),
    [false, false, true, true, true],
  );
  assert.deepEqual([other.toldCounts, third.toldCounts], [[], []], "a question tells nothing");
  for (const { text } of posts) assert.ok(Buffer.byteLength(text) <= MAIL_BYTES_MAX);
});

test("if the database is slow, the newest events of a limited number of credentials wait, with their remaining pause", async () => {
  const { clock, posts, database, one, other } = newServers();
  let goOn = () => {};
  database.held = new Promise((resolve) => (goOn = resolve));
  clock.advance(100);
  one.breakers.publish(open("first"));
  for (let index = 0; index < BREAKERS_WAITING_MAX + 1; index += 1) {
    one.breakers.publish(open(`${index}`, 60_000));
  }
  one.breakers.publish(open("0"));
  assert.equal(posts.length, 1, "one message at a time");
  clock.advance(2_000);
  goOn();
  await settled();
  assert.equal(other.told.length, 1 + BREAKERS_WAITING_MAX);
  const [, zero] = other.told;
  assert.deepEqual(zero, { ...open("0", 3_000), lastFault: { fault: "timeout", agoMs: 2_010 } });
  const [line, ...more] = one.log.ofLevel("warn");
  assert.match(line?.message ?? "", /too many were waiting/);
  assert.deepEqual([line?.fields, more], [{ count: 1 }, []]);
  one.breakers.publish(open("next"));
  await settled();
  assert.equal(one.log.ofLevel("warn").length, 1, "said once");
});

test("an event that the database refuses is lost and logged, and the next is sent", async () => {
  const { database, one, other } = newServers();
  database.fault = new Error("away");
  one.breakers.publish(open("a"));
  await one.breakers.requestState();
  await settled();
  assert.equal(one.log.ofLevel("warn").length, 2);
  database.fault = undefined;
  one.breakers.publish(open("b"));
  await settled();
  assert.deepEqual(other.told, [open("b")]);
});

test("an invalid breaker message is ignored, and no pause exceeds a minute", () => {
  const { one } = newServers();
  const hear = one.breakers.channels.get(BREAKERS);
  const message = (changes: object) =>
    hear?.(JSON.stringify({ from: "x", breakers: [{ ...open("a"), ...changes }] }));
  hear?.("{}");
  for (const wrong of [
    { phase: "ajar" },
    { leftMs: -1 },
    { leftMs: null },
    { id: "a".repeat(101) },
    { changeCount: 0.5 },
    { lastFault: { fault: "boredom", agoMs: 0 } },
  ]) {
    message(wrong);
  }
  assert.deepEqual(one.told, []);
  assert.equal(one.log.ofLevel("warn").length, 7);
  message({ leftMs: 3_600_000 });
  const lowest = { version: 0, changeCount: 0, pauseMs: 0, leftMs: 0 };
  const lastFault = { fault: "timeout", agoMs: 0 } as const;
  message({ ...lowest, lastFault });
  assert.deepEqual(one.told, [open("a", 60_000), { ...open("a"), ...lowest, lastFault }]);
});

test("a breaker event is not answered with an own one: only requests are answered", async () => {
  const { posts, one, other } = newServers();
  other.known.push(open("its own"));
  one.breakers.publish(open("a"));
  await settled();
  assert.deepEqual([posts.length, one.told], [1, []]);
});
