import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { DocumentReader } from "../../../engine/knowledge/document-reader.js";
import {
  formatOf,
  Knowledge,
  ORGANIZATION_CHARACTERS_MAX,
  storeContent,
} from "../../../engine/knowledge/knowledge.js";
import { KnowledgeJob } from "../../../engine/knowledge/knowledge-job.js";
import { QUESTION_TERMS_MAX, questionTerms } from "../../../engine/knowledge/search-terms.js";
import { RequestError } from "../../../engine/request-error.js";
import { SERVER_ACTOR } from "../../../engine/tenancy/audit-entry.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { knowledgeJob } from "../../../storage/jobs/job-record.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { insertOrganizations } from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";
import { refusal } from "../tenancy/seeded-platform.js";

const CONTENT = { sizeBytes: 10, characters: 20, text: null, passages: [] };
const busy: Pick<DocumentReader, "read"> = {
  read: () => Promise.reject(new RequestError("overloaded", "too many documents are being read")),
};

async function opened(context: TestContext, reader: Pick<DocumentReader, "read"> = busy) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const clock = new VirtualClock();
  const newId = () => crypto.randomUUID();
  const options = { database, reader, allowPrivateAddresses: true, clock, newId };
  return { ...options, knowledge: new Knowledge(options) };
}

test("an upload that is refused because the queue is full leaves no document", async (context) => {
  const { knowledge, database } = await opened(context);
  const upload = knowledge.upload(
    "org",
    { name: "hours.md", bytes: Buffer.from("# Hours") },
    SERVER_ACTOR,
  );
  await assert.rejects(upload, refusal("overloaded"));
  assert.deepEqual(await database.knowledge.list("org"), []);
});

test("inherited property names are not accepted as file extensions", () => {
  assert.equal(formatOf("x.constructor"), undefined);
  assert.equal(formatOf("x.PDF"), "pdf");
});

test("content beyond the organization's limit is not stored", async (context) => {
  const { knowledge, database } = await opened(context);
  const input = { url: "https://a.example/", name: "page" };
  const { id } = await knowledge.addUrl("org", input, SERVER_ACTOR);
  const document = await database.knowledge.find("org", id);
  assert.ok(document);
  const tooMuch = { ...CONTENT, characters: ORGANIZATION_CHARACTERS_MAX + 1 };
  await storeContent(database.knowledge, document, tooMuch, 1);
  assert.match((await knowledge.get("org", id)).error ?? "", /^"page" does not fit: .*10,000,000/);
  await storeContent(database.knowledge, document, { ...CONTENT, characters: 5 }, 2);
  assert.equal((await knowledge.get("org", id)).status, "ready");
});

test("a page that crashed the server at each attempt is marked as failed", async (context) => {
  const { knowledge, database, clock, newId } = await opened(context);
  const { id } = await knowledge.addUrl(
    "org",
    { url: "https://a.example/", name: "page" },
    SERVER_ACTOR,
  );
  const connections = new Connections({ clock, allowPrivateAddresses: true });
  context.after(() => connections.close());
  const job = new KnowledgeJob({ database, connections, reader: busy, clock, newId });
  const claimed = {
    ...knowledgeJob("org", id, 0, "first"),
    state: "running",
    attempts: job.triesMax + 1,
    lane: null,
    lastError: null,
    failedAtMs: null,
    fence: 1,
  } as const;
  const outcome = await job.run(claimed, new AbortController().signal);
  assert.deepEqual(outcome, { kind: "done" });
  const { status, error } = await knowledge.get("org", id);
  assert.deepEqual([status, error], ["failed", '"page" stopped the server while it was read']);
});

test("a page whose fetch never finished can be fetched again half an hour later", async (context) => {
  const { knowledge, clock } = await opened(context);
  const { id } = await knowledge.addUrl("org", { url: "https://a.example/" }, SERVER_ACTOR);
  await assert.rejects(knowledge.refresh("org", id), refusal("conflict"));
  clock.advance(30 * 60 * 1_000);
  assert.equal((await knowledge.refresh("org", id)).status, "processing");
});

test("a long question is searched with its last words", () => {
  const words = Array.from({ length: 100 }, (_, n) => `word${n}`);
  const terms = questionTerms("org", words.join(" "));
  assert.equal(terms.length, QUESTION_TERMS_MAX);
  assert.equal(terms.at(-1), questionTerms("org", "word99").at(-1));
});
