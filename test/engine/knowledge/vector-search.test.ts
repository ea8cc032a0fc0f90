import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  type EmbeddingOutcome,
  QUESTIONS_PER_ORGANIZATION_MAX,
  VectorSearch,
} from "../../../engine/knowledge/vector-search.js";
import { type EmbeddingModel, VendorError } from "../../../engine/vendors/contracts.js";
import type { ProviderRecord } from "../../../storage/records.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { insertOrganizations, NOON_MS } from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";

const PROVIDER: ProviderRecord = {
  id: "own",
  orgId: "org",
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
const ENTRY = {
  id: "entry",
  orgId: "org",
  atMs: NOON_MS,
  actor: { type: "user", id: "user" },
  action: "organization.setEmbeddings",
  targetType: "organization",
  targetId: "org",
  targetName: "Org",
  changes: [],
} as const;

/** `request`: what the vendor does. */
async function opened(context: TestContext, request: EmbeddingModel["request"]) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  await database.providers.insertOwned(PROVIDER, 5);
  const choice = {
    orgId: "org",
    providerId: "own",
    modelId: "model",
    requestedDimensions: null,
    dimensions: 2,
    setId: "set",
    createdAtMs: NOON_MS,
    updatedAtMs: NOON_MS,
  };
  const job = {
    id: "job",
    orgId: "org",
    kind: "embedding",
    queue: "embedding:org",
    payload: {},
    runAfterMs: NOON_MS,
    createdAtMs: NOON_MS,
  } as const;
  await database.embeddings.save(choice, ENTRY, job);
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const outcomes: EmbeddingOutcome[] = [];
  const search = new VectorSearch({
    database,
    clients: { embeddings: () => ({ request }) },
    sets: { load: async () => undefined, search: async () => [] },
    platformModels: new Set(),
    clock,
    log,
    onOutcome: (outcome) => void outcomes.push(outcome),
  });
  return { database, search, clock, log, outcomes };
}

const away = () => Promise.reject(new VendorError("openai", "unavailable", "openai: status 503"));

test("a vendor that fails is left alone for a while, with one line in the log", async (context) => {
  let asked = 0;
  let isAway = true;
  const { search, clock, log, outcomes } = await opened(context, () => {
    asked += 1;
    return isAway ? away() : Promise.resolve(new Uint8Array());
  });
  const vectors = await search.open("org");
  const ask = () => vectors?.nearest("question", ["document"]);
  for (let at = 0; at < 10; at += 1) assert.equal(await ask(), undefined);
  assert.equal(asked, 3);
  assert.deepEqual(outcomes.slice(0, 4), ["failed", "failed", "failed", "skipped"]);
  clock.advance(5_000);
  await ask();
  await ask();
  assert.equal(asked, 4);
  const lines = log.lines.filter(({ message }) => message.startsWith("embeddings fail"));
  assert.equal(lines.length, 1);
  isAway = false;
  clock.advance(10_000);
  assert.deepEqual(await ask(), []);
  assert.equal(outcomes.at(-1), "ok");
});

test("only a limited number of questions of an organization are embedded at the same time", async (context) => {
  const pending: ((answer: Uint8Array) => void)[] = [];
  const { search, outcomes } = await opened(
    context,
    () => new Promise((resolve) => void pending.push(resolve)),
  );
  const vectors = await search.open("org");
  assert.ok(vectors);
  const max = QUESTIONS_PER_ORGANIZATION_MAX;
  const asked = Array.from({ length: max }, () => vectors.nearest("question", ["document"]));
  assert.equal(await vectors.nearest("question", ["document"]), undefined);
  assert.deepEqual(outcomes, ["skipped"]);
  for (const resolve of pending) resolve(new Uint8Array());
  await Promise.all(asked);
  assert.equal(outcomes.filter((outcome) => outcome === "ok").length, max);
});

test("without a usable provider of its own an organization has no vectors", async (context) => {
  const { search, database } = await opened(context, away);
  assert.equal(await search.open("other"), undefined);
  assert.ok(await search.open("org"));
  await database.providers.update("own", "org", { active: false }, NOON_MS + 1);
  assert.equal(await search.open("org"), undefined);
});
