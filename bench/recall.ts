import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Database, openDatabase } from "../storage/database.js";
import { EmbeddingStand } from "./knowledge/embedding-stand.js";
import { fullLoad, fullLoadLine } from "./knowledge/full-load.js";
import { type Recall, recallTrial, storeTrialDocuments } from "./knowledge/recall-trial.js";
import { type SpokenTurn, spokenTurns } from "./knowledge/turn-waits.js";
import { quantile } from "./quantile.js";

/**
 * Asks 100 questions about 30 documents and says how many find their passage: `npm run bench:recall`. With `-- --embeddings`
 * also by the sandbox's vectors, or by those of a real model: `--url http://127.0.0.1:11434/v1 --model nomic-embed-text`.
 * `--turns` says the questions word by word and measures how long the turns wait. `--full` measures the search among as many
 * documents as an organization may have. `--missed` lists the questions.
 */
const { values } = parseArgs({
  options: {
    embeddings: { type: "boolean", default: false },
    turns: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    missed: { type: "boolean", default: false },
    url: { type: "string" },
    model: { type: "string", default: "text-embedding-3-small" },
    key: { type: "string", default: "sandbox" },
  },
});
const CALLS_AT_ONCE = 10;
/** A model on the same machine, one far away, and one that is too slow for most turns. */
const DELAYS_MS = [20, 150, 1_500];

const folder = await mkdtemp(join(tmpdir(), "parley-recall-"));
const url = process.env["DATABASE_URL"];
const database = await openDatabase({ filePath: join(folder, "parley.db"), url });
const nowMs = Date.now();
const orgId = randomUUID();
const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
try {
  await database.plans.insertIfAbsent({
    id: "recall",
    slug: "recall",
    name: "Recall",
    description: "",
    custom: false,
    public: false,
    pricing: { monthly: 0, annual: 0, maxDiscountPercent: 0 },
    limits: { maxAgents: 0, maxConcurrentCalls: 0, maxCallDurationSec: 0, maxMonthlyMinutes: 0 },
    models: { llm: [], tts: [], stt: [] },
    features: { customProviders: false, maxCustomProviders: 0 },
    ...times,
  });
  const ownerEmail = `${orgId}@example.com`;
  await database.organizations.insertWithOwner(
    { id: orgId, name: "Recall", planId: "recall", status: "active", ownerEmail, ...times },
    {
      id: orgId,
      orgId,
      email: ownerEmail,
      passwordHash: "",
      name: "",
      role: "admin",
      isOperator: false,
      createdAtMs: nowMs,
    },
  );
  const ids = await storeTrialDocuments(database, orgId, nowMs);
  print("Full text", await recallTrial(database, orgId, ids));
  if (values.full) console.log(fullLoadLine(await fullLoad(database, orgId, ids)));
  if (values.embeddings) {
    const { model, key, url: address } = values;
    const { organization, plan } = await tenantOf(database, orgId);
    const tenant = { organization, plan, userId: "bench", apiKeyId: undefined, scopes: [] };
    const stand = await EmbeddingStand.start(database, tenant, { url: address, key, model });
    try {
      const vectors = await stand.search.open(orgId);
      print(`Full text and ${model}`, await recallTrial(database, orgId, ids, vectors));
      if (values.turns) {
        printTurns("Full text", await spokenTurns(database, orgId, ids, undefined, CALLS_AT_ONCE));
        for (const delayMs of DELAYS_MS) {
          await stand.delay(delayMs);
          const turns = await spokenTurns(database, orgId, ids, stand.search, CALLS_AT_ONCE);
          printTurns(`With embeddings after ${delayMs} ms`, turns);
        }
        console.log(`Questions embedded: ${JSON.stringify(Object.fromEntries(stand.outcomes))}`);
      }
    } finally {
      await stand.close();
    }
  }
} finally {
  await database.close();
  await rm(folder, { recursive: true });
}

function print(title: string, results: readonly Recall[]): void {
  console.log(title);
  for (const { language, questions, first, fifth, searchMs, missed } of results) {
    const share = (count: number) => `${Math.round((100 * count) / questions)} %`;
    console.log(
      `  ${language}: ${questions} questions, recall@1 ${share(first)}, recall@5 ${share(fifth)}, search p95 ${searchMs.toFixed(1)} ms`,
    );
    for (const question of values.missed ? missed : []) console.log(`    missed: ${question}`);
  }
}

function printTurns(title: string, turns: readonly SpokenTurn[]): void {
  const waits = turns.map(({ waitMs }) => waitMs);
  const found = turns.filter(({ isFound }) => isFound).length;
  console.log(
    `${title}: ${turns.length} spoken turns, wait p50 ${quantile(waits, 0.5)} ms, p95 ${quantile(waits, 0.95)} ms, most ${Math.max(...waits)} ms, recall@5 ${found} %`,
  );
}

async function tenantOf(from: Database, id: string) {
  const organization = await from.organizations.findById(id);
  const plan = organization && (await from.plans.findById(organization.planId));
  if (organization === undefined || plan === undefined) throw new Error("there is no organization");
  return { organization, plan };
}
