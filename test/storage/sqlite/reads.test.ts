import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { SqliteStore } from "../../../storage/sqlite/sqlite-store.js";
import { StorageStoppedError } from "../../../storage/statements/storage-error.js";
import { temporaryFile } from "../temporary-file.js";

const BEAT = { sql: "insert into runs (id, heartbeatAtMs) values (?, 0)" };
const IDS = { sql: "select id from runs order by id", parameters: [] };
/** Some hundred ms of work. */
const LONG = {
  sql: `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 3000000)
    select count(*) as count from numbers`,
  parameters: [],
};

async function opened(context: TestContext) {
  const store = await SqliteStore.open({ filePath: temporaryFile() }, assert.ifError);
  context.after(() => store.close());
  const write = (id: string) => store.send([{ ...BEAT, parameters: [id] }], false);
  return { store, write };
}

test("a read sees what was committed before it", async (context) => {
  const { store, write } = await opened(context);
  await write("a");
  assert.deepEqual(await store.read([IDS]), [{ rows: [{ id: "a" }], changes: 1 }]);
  await write("b");
  assert.deepEqual((await store.read([IDS]))?.[0]?.rows, [{ id: "a" }, { id: "b" }]);
});

test("a write does not wait for a long read, and a short read only for those before it", async (context) => {
  const { store, write } = await opened(context);
  await store.read([IDS]);
  const done: string[] = [];
  const note = (name: string) => () => void done.push(name);
  await Promise.all([
    store.read([LONG]).then(note("long read")),
    store.read([IDS]).then(note("short read")),
    store.read([LONG]).then(note("last read")),
    write("a").then(note("write")),
  ]);
  assert.deepEqual(done, ["write", "long read", "short read", "last read"]);
});

test("a read cannot write", async (context) => {
  const { store } = await opened(context);
  await assert.rejects(store.read([{ ...BEAT, parameters: ["a"] }]), /readonly/);
  assert.deepEqual((await store.read([IDS]))?.[0]?.rows, []);
  assert.equal(store.writeFault, undefined);
});

test("a store waits for its reads when it closes, and then starts none", async (context) => {
  const unread = await opened(context);
  await unread.store.close();
  await assert.rejects(unread.store.read([IDS]), StorageStoppedError);
  const { store } = await opened(context);
  const reading = store.read([LONG]);
  await store.close();
  assert.deepEqual((await reading)?.[0]?.rows, [{ count: 3_000_000 }]);
  await assert.rejects(store.read([IDS]), StorageStoppedError);
});
