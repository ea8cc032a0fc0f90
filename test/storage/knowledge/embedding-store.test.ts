import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Database } from "../../../storage/database.js";
import { embeddingJob } from "../../../storage/jobs/job-record.js";
import type { EmbeddingChoice } from "../../../storage/knowledge/embedding-store.js";
import type { ProviderRecord } from "../../../storage/records.js";
import type { AuditRecord } from "../../../storage/tenancy/audit-record.js";
import { insertOrganizations, NOON_MS } from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

function entry(orgId: string, action: AuditRecord["action"]): AuditRecord {
  return {
    id: crypto.randomUUID(),
    orgId,
    atMs: NOON_MS,
    actor: { type: "user", id: "user" },
    action,
    targetType: "organization",
    targetId: orgId,
    targetName: orgId,
    changes: [],
  };
}

function provider(orgId: string): ProviderRecord {
  return {
    id: `provider of ${orgId}`,
    orgId,
    category: "llm",
    providerKey: "openai",
    name: "Own",
    sealedCredentials: null,
    models: [],
    settings: {},
    active: true,
    createdAtMs: NOON_MS,
    updatedAtMs: NOON_MS,
  };
}

function choice(orgId: string, setId: string): EmbeddingChoice {
  return {
    orgId,
    providerId: provider(orgId).id,
    modelId: "model",
    requestedDimensions: null,
    dimensions: 2,
    setId,
    createdAtMs: NOON_MS,
    updatedAtMs: NOON_MS,
  };
}

async function choose(database: Database, orgId: string, setId: string) {
  const job = embeddingJob(orgId, NOON_MS, setId);
  const saved = entry(orgId, "organization.setEmbeddings");
  await database.embeddings.save(choice(orgId, setId), saved, job);
}

async function addDocument(database: Database, orgId: string, id: string, texts: string[]) {
  const document = {
    id,
    orgId,
    name: `${id}.md`,
    source: "upload",
    url: null,
    status: "processing",
    error: null,
    sizeBytes: 1,
    characters: 0,
    passages: 0,
    refreshHours: 0,
    fetchedAtMs: null,
    createdAtMs: NOON_MS,
    updatedAtMs: NOON_MS,
  } as const;
  await database.knowledge.insertWithin(document, 100, undefined);
  await setContent(database, orgId, id, texts);
}

async function setContent(
  database: Database,
  orgId: string,
  id: string,
  texts: string[],
  atMs = 0,
) {
  const passages = texts.map((text) => ({ text, terms: [text] }));
  const content = { sizeBytes: 1, characters: 9_000, text: null, passages };
  await database.knowledge.finish({ orgId, id }, content, NOON_MS + atMs);
}

async function opened(context: TestContext) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  for (const orgId of ["org", "other"]) {
    await database.providers.insertOwned(provider(orgId), 5);
    await addDocument(database, orgId, `of-${orgId}`, ["one", "two"]);
  }
  return database;
}

const VECTOR = new Uint8Array(Float32Array.of(0.6, 0.8).buffer);

async function embed(database: Database, orgId: string, setId: string) {
  const { embeddings } = database;
  const passages = await embeddings.passagesWithout({ orgId, setId }, [`of-${orgId}`], 10);
  const vectors = passages.map(({ passage }) => ({ passage, vector: VECTOR }));
  return embeddings.add({ orgId, setId }, vectors, 5);
}

async function jobIds({ jobs }: Database, orgId: string): Promise<readonly string[]> {
  const queued = await jobs.list(orgId, { state: "queued", skip: 0, limit: 10 });
  return queued.map(({ id }) => id).toSorted();
}

test("vectors are stored for passages without one, and come back as they were", async (context) => {
  const database = await opened(context);
  const { embeddings } = database;
  await choose(database, "org", "first");
  const set = { orgId: "org", setId: "first" };
  const asked = await embeddings.passagesWithout(set, ["of-org", "of-other"], 10);
  assert.deepEqual(
    asked.map(({ documentName, text }) => `${documentName} ${text}`),
    ["of-org.md one", "of-org.md two"],
  );
  assert.equal(await embed(database, "org", "first"), true);
  assert.deepEqual(await embeddings.passagesWithout(set, ["of-org"], 10), []);
  assert.deepEqual([...(await embeddings.counts(set))], [["of-org", 2]]);
  const [first, second] = await embeddings.vectors(set, -1, 10);
  assert.deepEqual(new Uint8Array(first?.vector ?? []), VECTOR);
  assert.equal(first?.documentId, "of-org");
  assert.deepEqual(await embeddings.vectors(set, first?.passage ?? 0, 10), [second]);
  const stored = await embeddings.find("org");
  assert.deepEqual([stored?.tokens, stored?.revision, stored?.error], [5, 1, null]);
});

test("no organization reads another one's passages or vectors", async (context) => {
  const database = await opened(context);
  const { embeddings } = database;
  await choose(database, "org", "same");
  await choose(database, "other", "same");
  await embed(database, "org", "same");
  await embed(database, "other", "same");
  const [own] = await embeddings.vectors({ orgId: "org", setId: "same" }, -1, 1);
  const passage = own?.passage ?? 0;
  const both = ["of-org", "of-other"];
  assert.deepEqual(await embeddings.passages("other", both, [passage]), []);
  assert.deepEqual(await embeddings.passages("org", ["of-other"], [passage]), []);
  assert.deepEqual(await embeddings.passages("org", both, [passage]), [
    { passage, documentId: "of-org", documentName: "of-org.md", position: 0, text: "one" },
  ]);
  assert.deepEqual(
    await embeddings.passagesWithout({ orgId: "other", setId: "x" }, ["of-org"], 5),
    [],
  );
  // A vector for a passage of another organization is not stored.
  await embeddings.purge("org", undefined);
  await embeddings.add({ orgId: "other", setId: "same" }, [{ passage, vector: VECTOR }], 0);
  assert.equal((await embeddings.vectors({ orgId: "other", setId: "same" }, -1, 10)).length, 2);
  assert.deepEqual([...(await embeddings.counts({ orgId: "org", setId: "same" }))], []);
});

test("after another choice nothing of the earlier one is stored, and its vectors are removed", async (context) => {
  const database = await opened(context);
  const { embeddings } = database;
  await choose(database, "org", "first");
  await embed(database, "org", "first");
  await choose(database, "org", "second");
  assert.equal(await embed(database, "org", "first"), false);
  assert.equal(await embed(database, "org", "second"), true);
  await embeddings.purge("org", "second");
  assert.deepEqual(await embeddings.vectors({ orgId: "org", setId: "first" }, -1, 10), []);
  assert.equal((await embeddings.vectors({ orgId: "org", setId: "second" }, -1, 10)).length, 2);
  const job = embeddingJob("org", NOON_MS, "off");
  const removal = () => embeddings.remove("org", entry("org", "organization.clearEmbeddings"), job);
  assert.deepEqual([await removal(), await removal()], [true, false]);
  await embeddings.purge("org", undefined);
  assert.deepEqual(await embeddings.vectors({ orgId: "org", setId: "second" }, -1, 10), []);
});

test("new content and a removed document take their vectors with them, and change the revision", async (context) => {
  const database = await opened(context);
  const { embeddings, knowledge } = database;
  await choose(database, "org", "first");
  await embed(database, "org", "first");
  const set = { orgId: "org", setId: "first" };
  await setContent(database, "org", "of-org", ["three"], 1);
  assert.deepEqual(await embeddings.vectors(set, -1, 10), []);
  const without = await embeddings.passagesWithout(set, ["of-org"], 10);
  assert.deepEqual(
    without.map(({ text }) => text),
    ["three"],
  );
  await embed(database, "org", "first");
  const removed = { ...entry("org", "document.delete"), targetType: "document" as const };
  await knowledge.remove("org", "of-org", removed);
  assert.deepEqual(await embeddings.vectors(set, -1, 10), []);
  assert.equal((await embeddings.find("org"))?.revision, 3);
});

test("content that was read brings its job, only where the organization has embeddings", async (context) => {
  const database = await opened(context);
  assert.deepEqual(await jobIds(database, "org"), []);
  await choose(database, "org", "first");
  await setContent(database, "org", "of-org", ["three"], 1);
  await setContent(database, "other", "of-other", ["three"], 1);
  assert.deepEqual(await jobIds(database, "org"), [
    "embedding_org_first",
    `embedding_org_of-org_${NOON_MS + 1}`,
  ]);
  assert.deepEqual(await jobIds(database, "other"), []);
  await database.embeddings.retry(embeddingJob("other", NOON_MS, "again"));
  assert.deepEqual(await jobIds(database, "other"), []);
});

test("a provider that embeds cannot be removed", async (context) => {
  const database = await opened(context);
  await choose(database, "org", "first");
  assert.equal(await database.providers.removeUnused(provider("org").id, "org"), "inUse");
  assert.equal(await database.providers.removeUnused(provider("other").id, "other"), "removed");
});
