import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { openDatabase } from "../../storage/database.js";
import { insertOrganizations, NOON_MS } from "../storage/sample-records.js";
import { temporaryFile } from "../storage/temporary-file.js";

const cluster = await PostgresCluster.start();
/** More than PostgreSQL gets in one statement. */
const PASSAGES = 1_000;
const DOCUMENT = { orgId: "org", id: "document" };
const REMOVAL = {
  id: "entry",
  orgId: "org",
  atMs: NOON_MS,
  actor: { type: "user", id: "user" },
  action: "document.delete",
  targetType: "document",
  targetId: DOCUMENT.id,
  targetName: "prices.md",
  changes: [],
} as const;

/** A document whose passages all have the term `every`, and each its own. */
async function opened(context: TestContext) {
  const url = await cluster.makeDatabase();
  const open = () => openDatabase({ filePath: temporaryFile(), url, connectionsMax: 4 });
  const database = await open();
  context.after(() => database.close());
  await insertOrganizations(database);
  const { knowledge } = database;
  await knowledge.insertWithin(
    {
      ...DOCUMENT,
      name: "prices.md",
      source: "upload",
      url: null,
      status: "processing",
      error: null,
      sizeBytes: 10,
      characters: 0,
      passages: 0,
      refreshHours: 0,
      fetchedAtMs: null,
      createdAtMs: NOON_MS,
      updatedAtMs: NOON_MS,
    },
    100,
    undefined,
  );
  const write = async (...own: readonly string[]) => {
    const passages = own.map((term) => ({ text: term, terms: ["every", term] }));
    const content = { sizeBytes: 10, characters: 20, text: null, passages };
    assert.equal(await knowledge.finish(DOCUMENT, content, NOON_MS), true);
  };
  const find = async (term: string, from = knowledge) =>
    (
      await from.search("org", { documentIds: [DOCUMENT.id], terms: [term], limit: 2_000 }, "turn")
    )?.map(({ position }) => position);
  const postings = async () => {
    const { rows } = await cluster.query(
      `select count(*)::integer as rows, coalesce(sum(cardinality("positions")), 0)::integer as positions
       from "knowledgePostings"`,
      url,
    );
    return rows[0];
  };
  return { url, open, database, knowledge, write, find, postings };
}

const terms = Array.from({ length: PASSAGES }, (_each, index) => `term${index}`);

test("the postings of a long document follow its content", async (context) => {
  const { knowledge, write, find, postings } = await opened(context);
  await write(...terms);
  assert.deepEqual(await find("every"), [...terms.keys()]);
  assert.deepEqual(await find("term999"), [999]);
  // The term of all passages has a row for each of three statements.
  assert.deepEqual(await postings(), { rows: PASSAGES + 3, positions: 2 * PASSAGES });

  await write("new", "newer");
  assert.deepEqual(await find("every"), [0, 1]);
  assert.deepEqual(await find("term999"), []);
  assert.deepEqual(await postings(), { rows: 3, positions: 4 });

  assert.equal(await knowledge.remove("org", DOCUMENT.id, REMOVAL), true);
  assert.deepEqual(await postings(), { rows: 0, positions: 0 });
});

test("a document that is deleted with its passages leaves no postings", async (context) => {
  const { url, write, postings } = await opened(context);
  await write("one", "other");
  await cluster.query(`delete from "knowledgeDocuments"`, url);
  assert.deepEqual(await postings(), { rows: 0, positions: 0 });
});

test("passages of a database without postings get them when it is brought up to date", async (context) => {
  const { url, open, write, find } = await opened(context);
  await write(...terms);
  await cluster.query(`drop table "knowledgePostings"`, url);
  for (const change of [
    `drop trigger "knowledgePostingsOnInsert" on "knowledgePassages"`,
    `drop trigger "knowledgePostingsOnDelete" on "knowledgePassages"`,
    `delete from kysely_migration where name = '042-postings-of-passages'`,
    `update "schemaState" set "version" = "version" - 1`,
  ]) {
    await cluster.query(change, url);
  }
  const upgraded = await open();
  context.after(() => upgraded.close());
  assert.deepEqual(await find("every", upgraded.knowledge), [...terms.keys()]);
  await write("new");
  assert.deepEqual(await find("every", upgraded.knowledge), [0]);
  assert.deepEqual(await find("new", upgraded.knowledge), [0]);
});
