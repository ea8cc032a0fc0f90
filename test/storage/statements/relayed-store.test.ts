import assert from "node:assert/strict";
import { test } from "node:test";
import { Kysely } from "kysely";
import {
  type RelayedOutcome,
  RelayedStore,
  runRelayed,
} from "../../../storage/statements/relayed-store.js";
import type {
  Results,
  StoreBackend,
  StoreCondition,
} from "../../../storage/statements/statement-port.js";
import { StorageError, StorageUnwritableError } from "../../../storage/statements/storage-error.js";
import type { Tables } from "../../../storage/tables.js";

const STATEMENT = { sql: "select 1", parameters: [] };
const RESULTS: Results = [{ rows: [], changes: 1 }];
const FULL = { reason: "the disk of the database is full", advice: "make room" };
const WELL: RelayedOutcome = { results: RESULTS, fault: undefined, writeFault: undefined };

/** The store of a worker; the test determines the responses of its primary. */
function newStore(writers: "one" | "many" = "one") {
  const owner = {
    outcome: WELL,
    condition: { fault: undefined, warning: undefined } as StoreCondition,
  };
  const asked: unknown[] = [];
  const store = new RelayedStore(writers, {
    run: async (request) => {
      asked.push(request);
      return owner.outcome;
    },
    checkHealth: async () => owner.condition,
  });
  return { owner, asked, store };
}

test("a request goes to the process that has the database, and its results come back", async () => {
  const { asked, store } = newStore("many");
  const sent = store.send([STATEMENT], true);
  assert.equal(store.stats.requestsWaiting, 1);
  assert.equal(await sent, RESULTS);
  assert.deepEqual(store.stats, { requestsWaiting: 0, lastGroupSize: 0, groupsCommitted: 0 });
  assert.deepEqual(asked, [{ statements: [STATEMENT], guarded: true }]);
  assert.deepEqual([store.writers, store.isSoleServer], ["many", true]);
});

test("a read stays a read in the process that has the database", async () => {
  const { asked, store } = newStore();
  assert.equal(await store.read([STATEMENT]), RESULTS);
  const request = { statements: [STATEMENT], guarded: false, isRead: true } as const;
  assert.deepEqual(asked, [request]);
  const backend = { read: async () => RESULTS, writeFault: undefined } as unknown as StoreBackend;
  assert.deepEqual(await runRelayed(backend, request), WELL);
});

test("queries are written for the kind of database that the other process has", () => {
  for (const [writers, sql] of [
    ["one", 'select "id" from "runs" where "id" = ?'],
    ["many", 'select "id" from "runs" where "id" = $1'],
  ] as const) {
    const db = new Kysely<Tables>({ dialect: newStore(writers).store.dialect });
    assert.equal(db.selectFrom("runs").select("id").where("id", "=", "a").compile().sql, sql);
  }
});

test("the reason of a failed write is known from the last response, and from the last health check", async () => {
  const { owner, store } = newStore();
  owner.outcome = {
    results: undefined,
    fault: { kind: "other", code: "SQLITE_FULL", message: "full" },
    writeFault: FULL,
  };
  await assert.rejects(store.send([STATEMENT], false), StorageUnwritableError);
  assert.deepEqual([store.writeFault, store.stats.requestsWaiting], [FULL, 0]);
  owner.outcome = WELL;
  await store.send([STATEMENT], false);
  assert.equal(store.writeFault, undefined);
  owner.condition = { fault: FULL, warning: "look at it" };
  assert.deepEqual(await store.checkHealth(), owner.condition);
  assert.equal(store.writeFault, FULL);
});

test("the outcome of a request is reported with the store's write fault", async () => {
  const failure = new StorageError("SQLITE_ERROR", "no such table: nowhere");
  const backendOf = (send: StoreBackend["send"]) => ({ send, writeFault: FULL }) as StoreBackend;
  const request = { statements: [STATEMENT], guarded: false };
  assert.deepEqual(
    await runRelayed(
      backendOf(async () => RESULTS),
      request,
    ),
    {
      ...WELL,
      writeFault: FULL,
    },
  );
  const refused = backendOf(() => Promise.reject(failure));
  assert.deepEqual(await runRelayed(refused, request), {
    results: undefined,
    fault: { kind: "other", code: failure.databaseCode, message: failure.message },
    writeFault: FULL,
  });
});
