import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type HistoryAccess, SharedHistory } from "../../../engine/calls/shared-history.js";
import type { HistoryChange } from "../../../storage/calls/history-store.js";
import type { HistoryMessage } from "../../../storage/records.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { insertOrganizations } from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";

const HISTORY_MESSAGES_MAX = 20;

const ID = { orgId: "org", key: "key" };
const EARLIER = exchange("hi", "hello");

function exchange(user: string, assistant: string): readonly HistoryMessage[] {
  return [
    { role: "user", content: user },
    { role: "assistant", content: assistant },
  ];
}

async function storeWithEarlier(context: TestContext) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const { history } = database;
  await history.replace(ID, [], EARLIER, 0);
  return { history, kept: () => history.load("org", "key", 0) };
}

test("two calls that continue one conversation lose none of each other's words", async (context) => {
  const { history, kept } = await storeWithEarlier(context);
  const log = new RecordingLogger();
  const [one, other] = [1, 2].map(() => new SharedHistory(history, ID, EARLIER, log));
  assert.ok(one && other);
  const first = one.add(exchange("from the telephone", "yes"));
  const second = other.add(exchange("from the browser", "no"));
  await Promise.all([one.storeUntil(first, 1), other.storeUntil(second, 1)]);
  await one.storeUntil(one.add(exchange("and then", "indeed")), 2);
  const said = (await kept())?.map(({ content }) => content).join(", ");
  assert.equal(said, "hi, hello, from the telephone, yes, from the browser, no, and then, indeed");
  assert.deepEqual(log.lines, []);
});

test("a turn includes its own messages, and only those that came in between are stored after it", async (context) => {
  const { history, kept } = await storeWithEarlier(context);
  const shared = new SharedHistory(history, ID, EARLIER, new RecordingLogger());
  const other = new SharedHistory(history, ID, EARLIER, new RecordingLogger());
  const withTurn: (HistoryChange | undefined)[] = [];
  const saveTurn = (change: HistoryChange | undefined) => {
    withTurn.push(change);
    return change === undefined
      ? Promise.resolve(true)
      : history.replace(change.id, change.known, change.kept, change.savedAtMs);
  };
  await shared.storeUntil(shared.add(exchange("one", "1")), 1, saveTurn);
  assert.deepEqual(await kept(), [...EARLIER, ...exchange("one", "1")]);
  await other.storeUntil(other.add(exchange("two", "2")), 2, saveTurn);
  assert.deepEqual(await kept(), [...EARLIER, ...exchange("one", "1"), ...exchange("two", "2")]);
  await other.storeUntil(1, 3, saveTurn);
  assert.deepEqual(
    withTurn.map((change) => change?.savedAtMs),
    [1, 2, undefined],
  );
});

test("what could not be stored is stored with what follows, once", async (context) => {
  const { history, kept } = await storeWithEarlier(context);
  let isFull = true;
  const store: HistoryAccess = {
    load: (...key) => history.load(...key),
    replace: (...what) => {
      if (isFull) throw new Error("the disk is full");
      return history.replace(...what);
    },
  };
  const shared = new SharedHistory(store, ID, EARLIER, new RecordingLogger());
  const first = shared.add(exchange("one", "1"));
  const second = shared.add(exchange("two", "2"));
  await assert.rejects(shared.storeUntil(first, 1), /full/);
  isFull = false;
  await shared.storeUntil(second, 2);
  await shared.storeUntil(first, 3);
  assert.deepEqual(await kept(), [...EARLIER, ...exchange("one", "1"), ...exchange("two", "2")]);
});

test("a conversation with constant concurrent writes is postponed, and that is logged", async () => {
  let tries = 0;
  const store: HistoryAccess = {
    load: () => Promise.resolve(EARLIER.slice()),
    replace: () => {
      tries += 1;
      return Promise.resolve(false);
    },
  };
  const log = new RecordingLogger();
  const shared = new SharedHistory(store, ID, [], log);
  await shared.storeUntil(shared.add(exchange("one", "1")), 1);
  assert.equal(tries, 5);
  assert.deepEqual(
    log.lines.map(({ level }) => level),
    ["warn"],
  );
});

test("the end of a long conversation is kept", async (context) => {
  const { history, kept } = await storeWithEarlier(context);
  const shared = new SharedHistory(history, ID, EARLIER, new RecordingLogger());
  for (let turn = 1; turn <= 15; turn += 1) {
    await shared.storeUntil(shared.add(exchange(`question ${turn}`, `answer ${turn}`)), turn);
  }
  const messages = (await kept()) ?? [];
  assert.equal(messages.length, HISTORY_MESSAGES_MAX);
  assert.equal(messages.at(-1)?.content, "answer 15");
});
