import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CallWrite,
  CallWrites,
  type CallWritesOptions,
} from "../../../engine/calls/write-queue.js";
import { StorageUnwritableError } from "../../../storage/statements/storage-error.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const RETRY_MS = 1_000;
/** A store that refuses on request, and lists what it has accepted. */
class Store {
  isFull = false;
  tries = 0;
  readonly taken: string[] = [];

  write(callId: string, kind: CallWrite["kind"], words = "", fault?: Error): CallWrite {
    return {
      callId,
      kind,
      chars: words.length,
      lossMessage: `${kind} lost`,
      store: async (lostTurns, withWords) => {
        this.tries += 1;
        if (fault !== undefined) throw fault;
        if (this.isFull)
          throw new StorageUnwritableError("SQLITE_FULL", "database or disk is full");
        const lost = lostTurns === 0 || kind !== "end" ? "" : ` without ${lostTurns} turns`;
        this.taken.push(`${callId} ${kind} ${withWords ? words : "-"}${lost}`);
      },
    };
  }
}

function surroundings(options: Partial<CallWritesOptions> = {}) {
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  return { clock, log, store: new Store(), writes: new CallWrites({ clock, log, ...options }) };
}

/** Everything that can continue without time passing. */
function goOn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

test("a working store gets every write immediately, each call's in order", async () => {
  const { writes, store, log } = surroundings();
  void writes.add(store.write("a", "turn", "one"));
  void writes.add(store.write("a", "end", "two"));
  void writes.add(store.write("b", "turn", "three"));
  assert.equal(store.tries, 2, "the first of each call without any waiting");
  assert.equal(writes.has("a"), true);
  await writes.settled();
  assert.deepEqual(store.taken.toSorted(), ["a end two", "a turn one", "b turn three"]);
  assert.ok(store.taken.indexOf("a turn one") < store.taken.indexOf("a end two"));
  assert.equal(writes.has("a"), false);
  assert.deepEqual(log.lines, []);
});

test("what the store refuses is kept and tried again until it is stored, in order", async () => {
  const { writes, store, log, clock } = surroundings();
  store.isFull = true;
  void writes.add(store.write("a", "turn", "one"));
  await goOn();
  void writes.add(store.write("a", "end", "two"));
  void writes.add(store.write("b", "end", "three"));
  assert.equal(writes.keptCount, 3);
  for (let retry = 0; retry < 100; retry += 1) {
    clock.advance(RETRY_MS);
    await goOn();
  }
  assert.equal(store.tries, 101, "one try at a time, whatever waits");
  assert.equal(writes.keptCount, 3);
  store.isFull = false;
  clock.advance(RETRY_MS);
  await writes.settled();
  assert.deepEqual(store.taken, ["a turn one", "a end two", "b end three"]);
  const [told] = log.ofLevel("info");
  assert.deepEqual([told?.fields["count"], told?.fields["afterMs"]], [1, 101 * RETRY_MS]);
  assert.equal(writes.keptCount, 0);
  assert.equal(clock.pendingTimerCount, 0);
  assert.deepEqual(
    log.lines.map(({ level }) => level),
    ["error", "info"],
    "said once, and when it is over",
  );
});

test("a write refused for its own content is logged with its call, and blocks no other", async () => {
  const { writes, store, log, clock } = surroundings();
  store.isFull = true;
  const broken = writes.add(store.write("a", "turn", "", new Error("the call is not active")));
  const end = writes.add(store.write("a", "end"));
  await goOn();
  store.isFull = false;
  clock.advance(RETRY_MS);
  await writes.settled();
  assert.deepEqual(store.taken, ["a end  without 1 turns"]);
  assert.deepEqual(await Promise.all([broken, end]), [false, true]);
  const lost = log.lines.find(({ message }) => message === "turn lost");
  assert.equal(lost?.fields["callId"], "a");
});

test("beyond the limit turns are dropped, ends keep their facts, and the record says what it lacks", async () => {
  const { writes, store, log, clock } = surroundings({ keptWritesMax: 2 });
  store.isFull = true;
  void writes.add(store.write("a", "turn", "one"));
  await goOn();
  void writes.add(store.write("b", "turn", "two"));
  void writes.add(store.write("b", "turn", "three"));
  void writes.add(store.write("c", "turn", "four"));
  void writes.add(store.write("b", "end", "five"));
  void writes.add(store.write("c", "end", "six"));
  assert.deepEqual(
    log.lines.filter(({ message }) => message === "turn lost").map(({ fields }) => fields),
    ["b", "c"].map((callId) => ({ callId, reason: "write queue full" })),
  );
  store.isFull = false;
  clock.advance(RETRY_MS);
  await writes.settled();
  assert.deepEqual(store.taken.toSorted(), [
    "a turn one",
    "b end - without 1 turns",
    "b turn two",
    "c end - without 1 turns",
  ]);
});

test("the words that are kept are bounded, and so are the ends", async () => {
  const { writes, store, log, clock } = surroundings({ keptCharsMax: 10, keptEndsMax: 1 });
  store.isFull = true;
  void writes.add(store.write("a", "turn", "12345678"));
  await goOn();
  void writes.add(store.write("a", "turn", "123"));
  void writes.add(store.write("a", "end", "123"));
  void writes.add(store.write("b", "end", "123"));
  assert.deepEqual(log.lines.map(({ message }) => message).slice(1), ["turn lost", "end lost"]);
  store.isFull = false;
  clock.advance(RETRY_MS);
  await writes.settled();
  assert.deepEqual(store.taken, ["a turn 12345678", "a end - without 1 turns"]);
});

test("where nothing else is said, 20,000 writes of 32 MiB of words are kept, and as many ends", async () => {
  const keptOf = async (kind: CallWrite["kind"], chars: number, count: number) => {
    const { writes, store } = surroundings();
    store.isFull = true;
    const write = { ...store.write("a", kind), chars };
    void writes.add(write);
    await goOn();
    for (let added = 1; added < count; added += 1) void writes.add(write);
    return writes.keptCount;
  };
  const mebibyte = 1_048_576;
  assert.equal(await keptOf("turn", 1, 20_001), 20_000);
  assert.equal(await keptOf("turn", mebibyte, 33), 32);
  assert.equal(await keptOf("end", 32 * mebibyte + 1, 20_001), 20_000);
});

test("a server that stops says what it could not store, and waits for nothing", async () => {
  const { writes, store, log, clock } = surroundings();
  store.isFull = true;
  void writes.add(store.write("a", "turn"));
  void writes.add(store.write("a", "end"));
  await goOn();
  writes.dropAll();
  assert.equal(clock.pendingTimerCount, 0);
  const last = log.lines.at(-1);
  assert.deepEqual([last?.level, last?.fields], ["error", { count: 2, calls: 1 }]);
});

test("a write that a call adds during the retry of another's does not wait forever", async () => {
  const { writes, store, clock } = surroundings();
  store.isFull = true;
  void writes.add(store.write("a", "turn", "one"));
  await goOn();
  store.isFull = false;
  let letGo = (): void => undefined;
  const slow: CallWrite = {
    ...store.write("a", "end", "two"),
    store: () =>
      new Promise<void>((resolve) => {
        letGo = resolve;
      }),
  };
  void writes.add(slow);
  clock.advance(RETRY_MS);
  await goOn();
  void writes.add(store.write("b", "end", "three"));
  letGo();
  await goOn();
  assert.equal(writes.has("b"), false);
  assert.deepEqual(store.taken, ["a turn one", "b end three"]);
  assert.equal(writes.keptCount, 0);
});

test("a server that has stored everything stops without a word", async () => {
  const { writes, log, clock } = surroundings();
  writes.dropAll();
  assert.deepEqual([log.lines, clock.pendingTimerCount], [[], 0]);
});

test("a write that fails while the server stops is dropped and logged", async () => {
  const { writes, store, log, clock } = surroundings();
  store.isFull = true;
  writes.dropAll();
  await writes.add(store.write("a", "end"));
  assert.deepEqual(
    log.lines.map(({ level, message, fields }) => [level, message, fields["callId"]]),
    [["error", "end lost", "a"]],
  );
  assert.deepEqual([writes.has("a"), writes.keptCount, clock.pendingTimerCount], [false, 0, 0]);
});

test("a call whose turns were lost is forgotten with its end, and its next one has lost none", async () => {
  const { writes, store, clock } = surroundings({ keptWritesMax: 1 });
  store.isFull = true;
  void writes.add(store.write("a", "note", "one"));
  await goOn();
  await writes.add(store.write("b", "turn", "two"));
  store.isFull = false;
  clock.advance(RETRY_MS);
  await writes.settled();
  await writes.add(store.write("b", "turn", "three"));
  await writes.add(store.write("b", "end", "four"));
  await writes.add(store.write("b", "end", "five"));
  assert.deepEqual(store.taken, [
    "a note one",
    "b turn three",
    "b end four without 1 turns",
    "b end five",
  ]);
});
