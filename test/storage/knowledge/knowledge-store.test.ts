import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { recallTrial, storeTrialDocuments } from "../../../bench/knowledge/recall-trial.js";
import { knowledgeJob } from "../../../storage/jobs/job-record.js";
import {
  type DocumentRecord,
  EARLY_SEARCHES_MAX,
  type KnowledgeStore,
  SEARCHES_PER_ORGANIZATION_MAX,
  type SearchUrgency,
} from "../../../storage/knowledge/knowledge-store.js";
import { joinRanges, TERM_PASSAGES_MAX } from "../../../storage/knowledge/passage-search.js";
import { insertOrganizations, NOON_MS } from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

function documentRecord(fields: Partial<DocumentRecord> = {}): DocumentRecord {
  return {
    id: "document",
    orgId: "org",
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
    ...fields,
  };
}

const passage = (...terms: string[]) => ({ text: terms.join(" "), terms });

function content(...passages: readonly { readonly text: string; readonly terms: string[] }[]) {
  return { sizeBytes: 10, characters: 20, text: null, passages };
}

type Searched = Pick<KnowledgeStore, "search">;
type Query = Parameters<KnowledgeStore["search"]>[1];

/** What is found while no other search runs. */
async function found(knowledge: Searched, orgId: string, query: Query) {
  const passages = await knowledge.search(orgId, query, "turn");
  assert.ok(passages !== undefined);
  return passages;
}

async function opened(context: TestContext, ...documents: readonly Partial<DocumentRecord>[]) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  for (const each of documents) {
    await database.knowledge.insertWithin(documentRecord(each), 100, undefined);
  }
  return database;
}

test("passages that share more and rarer terms come first", async (context) => {
  const { knowledge } = await opened(context, {});
  const passages = [
    passage("common", "blue"),
    passage("common", "rare"),
    passage("common", "green"),
    passage("other"),
  ];
  assert.equal(await knowledge.finish(documentRecord(), content(...passages), NOON_MS), true);
  const best = await found(knowledge, "org", {
    documentIds: ["document"],
    terms: ["rare", "common", "missing"],
    limit: 2,
  });
  assert.deepEqual(best[0], {
    documentId: "document",
    documentName: "prices.md",
    position: 1,
    text: "common rare",
  });
  assert.equal(best.length, 2);
});

test("a search finds only passages of the named documents of its organization", async (context) => {
  const { knowledge } = await opened(
    context,
    {},
    { id: "second" },
    { id: "foreign", orgId: "other" },
  );
  for (const [orgId, id] of [
    ["org", "document"],
    ["org", "second"],
    ["other", "foreign"],
  ] as const) {
    await knowledge.finish({ orgId, id }, content(passage("secret", id)), NOON_MS);
  }
  const ask = async (orgId: string, ...documentIds: string[]) =>
    (await found(knowledge, orgId, { documentIds, terms: ["secret"], limit: 5 })).map(
      ({ documentId }) => documentId,
    );
  assert.deepEqual(await ask("org", "document", "foreign"), ["document"]);
  assert.deepEqual(await ask("other", "document", "second"), []);
  assert.deepEqual(await ask("other", "foreign"), ["foreign"]);
  assert.deepEqual(await knowledge.forCall("org", ["foreign"]), []);
  assert.equal(await knowledge.find("org", "foreign"), undefined);
  assert.deepEqual([...(await knowledge.known("org", ["foreign", "second"]))], ["second"]);
  assert.equal(await knowledge.fail({ orgId: "org", id: "foreign" }, "x", NOON_MS), false);
});

test("passages of other documents neither lengthen a search nor change its order", async (context) => {
  const { knowledge } = await opened(context, {}, { id: "second" }, { id: "third" });
  const other = Array.from({ length: 40 }, () => passage("hours", "other"));
  for (const [id, passages] of [
    ["second", other],
    ["document", [passage("hours", "shop"), passage("hours"), passage("shop"), passage("shop")]],
    ["third", other],
  ] as const) {
    await knowledge.finish({ orgId: "org", id }, content(...passages), NOON_MS);
  }
  const query = { documentIds: ["document"], terms: ["hours", "shop"], limit: 2 };
  const ask = async () =>
    (await found(knowledge, "org", query)).map(({ documentId, position }) => [
      documentId,
      position,
    ]);
  // "hours" is the rarer word of this document, though not of all documents.
  assert.deepEqual(await ask(), [
    ["document", 0],
    ["document", 1],
  ]);
  const entire = { ...query, documentIds: ["second", "document", "third"], limit: 200 };
  assert.equal((await found(knowledge, "org", entire)).length, 84);
});

test("a term of too many passages is left out where rarer terms are enough", async (context) => {
  const { knowledge } = await opened(context, {});
  const passages = Array.from({ length: TERM_PASSAGES_MAX + 1 }, (_each, index) =>
    passage("common", ...(index % 400 === 3 ? ["rare", "scarce"] : [])),
  );
  await knowledge.finish(documentRecord(), content(...passages), NOON_MS);
  const ask = async (...terms: string[]) =>
    (await found(knowledge, "org", { documentIds: ["document"], terms, limit: 5 })).map(
      ({ position }) => position,
    );
  assert.deepEqual(await ask("common", "rare", "scarce"), [3, 403]);
  assert.deepEqual(await ask("common"), [0, 1, 2, 3, 4]);
});

test("a search reads few ranges of the index, and leaves the widest gaps out", () => {
  const range = (first: number, last: number) => ({ first, last });
  const ranges = [range(50, 59), range(1, 9), range(10, 20), range(100, 110), range(30, 35)];
  assert.deepEqual(joinRanges(ranges, 4), [
    range(1, 20),
    range(30, 35),
    range(50, 59),
    range(100, 110),
  ]);
  assert.deepEqual(joinRanges(ranges, 2), [range(1, 59), range(100, 110)]);
  assert.deepEqual(joinRanges([range(1, 90), range(20, 30)], 2), [range(1, 90)]);
  assert.deepEqual(joinRanges([], 2), []);
});

test("only a limited number of searches run at the same time, and turns find more room than early searches", async (context) => {
  const { knowledge } = await opened(context, {});
  await knowledge.finish(documentRecord(), content(passage("hours")), NOON_MS);
  const query = { documentIds: ["document"], terms: ["hours"], limit: 5 };
  const start = (orgId: string, urgency: SearchUrgency) => knowledge.search(orgId, query, urgency);
  const early = Array.from({ length: EARLY_SEARCHES_MAX }, () => start("org", "early"));
  assert.equal(await start("org", "early"), undefined);
  const left = SEARCHES_PER_ORGANIZATION_MAX - EARLY_SEARCHES_MAX;
  const turns = Array.from({ length: left }, () => start("org", "turn"));
  assert.equal(await start("org", "turn"), undefined);
  const other = start("other", "turn");
  assert.equal(await start("third", "turn"), undefined);
  for (const passages of await Promise.all([...early, ...turns])) assert.equal(passages?.length, 1);
  assert.deepEqual(await other, []);
  assert.equal((await found(knowledge, "org", query)).length, 1);
});

test("newly read content replaces the earlier content", async (context) => {
  const { knowledge } = await opened(context, {});
  const many = Array.from({ length: 50 }, (_each, index) => passage("old", `n${index}`));
  await knowledge.finish(documentRecord(), content(...many), NOON_MS);
  await knowledge.finish(documentRecord(), content(passage("new")), NOON_MS + 1);
  const ask = async (term: string) =>
    (await found(knowledge, "org", { documentIds: ["document"], terms: [term], limit: 5 })).map(
      ({ position }) => position,
    );
  assert.deepEqual(await ask("old"), []);
  assert.deepEqual(await ask("new"), [0]);
  await knowledge.fail(documentRecord(), "the page is gone", NOON_MS + 2);
  assert.deepEqual(await ask("new"), [0]);
  assert.equal((await knowledge.find("org", "document"))?.error, "the page is gone");
});

test("nothing of a removed document can be found", async (context) => {
  const database = await opened(context, {});
  const { knowledge } = database;
  await knowledge.finish(documentRecord(), content(passage("word"), passage("word")), NOON_MS);
  const entry = {
    id: "entry",
    orgId: "org",
    atMs: NOON_MS,
    actor: { type: "user", id: "user" },
    action: "document.delete",
    targetType: "document",
    targetId: "document",
    targetName: "prices.md",
    changes: [],
  } as const;
  assert.equal(await knowledge.remove("other", "document", entry), false);
  const query = { documentIds: ["document"], terms: ["word"], limit: 5 };
  assert.equal((await found(knowledge, "org", query)).length, 2);
  assert.equal(await knowledge.remove("org", "document", entry), true);
  assert.deepEqual(await found(knowledge, "org", query), []);
});

test("an organization's documents are limited", async (context) => {
  const { knowledge } = await opened(context, {});
  const job = knowledgeJob("org", "second", NOON_MS, "first");
  assert.equal(
    await knowledge.insertWithin(documentRecord({ id: "second" }), 1, undefined, job),
    false,
  );
  assert.equal(
    await knowledge.insertWithin(documentRecord({ id: "second" }), 2, undefined, job),
    true,
  );
});

test("the job that fetches a page is stored with the document, and only then", async (context) => {
  const database = await opened(context);
  const job = knowledgeJob("org", "document", NOON_MS, "first");
  assert.equal(await database.knowledge.insertWithin(documentRecord(), 0, undefined, job), false);
  const queued = { state: "queued", skip: 0, limit: 5 } as const;
  assert.deepEqual(await database.jobs.list("org", queued), []);
  await database.knowledge.insertWithin(documentRecord(), 1, undefined, job);
  assert.equal((await database.jobs.list("org", queued)).length, 1);
});

test("a page that is fetched again has at most one queued job", async (context) => {
  const database = await opened(context);
  const { knowledge, jobs } = database;
  await knowledge.insertWithin(
    documentRecord(),
    1,
    undefined,
    knowledgeJob("org", "document", NOON_MS, "first"),
  );
  await knowledge.insertWithin(
    documentRecord({ id: "other" }),
    2,
    undefined,
    knowledgeJob("org", "other", NOON_MS, "first"),
  );
  const again = knowledgeJob("org", "document", NOON_MS + 1, "second");
  assert.equal(await knowledge.refresh(documentRecord(), again, NOON_MS + 1), true);
  const next = knowledgeJob("org", "document", NOON_MS + 2, "third");
  await knowledge.fail(documentRecord(), "failed", NOON_MS + 2, next);
  const queued = await jobs.list("org", { state: "queued", skip: 0, limit: 5 });
  assert.deepEqual(queued.map(({ id }) => id).toSorted(), [
    "knowledge_document_third",
    "knowledge_other_first",
  ]);
});

test("uploads that were lost with their process are marked as failed", async (context) => {
  const { knowledge } = await opened(context, {}, { id: "page", source: "url" });
  assert.equal(await knowledge.failAbandoned(NOON_MS, "lost"), 0);
  assert.equal(await knowledge.failAbandoned(NOON_MS + 1, "lost"), 1);
  assert.equal((await knowledge.find("org", "document"))?.status, "failed");
});

test("half of the questions find their passage among the first five, in both languages", async (context) => {
  const database = await opened(context);
  const ids = await storeTrialDocuments(database, "org", NOON_MS);
  const results = await recallTrial(database, "org", ids);
  assert.equal(
    results.reduce((sum, { questions }) => sum + questions, 0),
    100,
  );
  for (const { fifth, questions, language } of results) {
    assert.ok(fifth / questions >= 0.5, `${language}: ${fifth} of ${questions}`);
  }
});
