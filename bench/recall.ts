import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../storage/database.js";
import { recallTrial } from "./knowledge/recall-trial.js";

/** Asks 100 questions about 30 documents and says how many find their passage: `npm run bench:recall`. */

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
  const results = await recallTrial(database, orgId, nowMs);
  for (const { language, questions, first, fifth, searchMs, missed } of results) {
    const share = (count: number) => `${Math.round((100 * count) / questions)} %`;
    console.log(
      `${language}: ${questions} questions, recall@1 ${share(first)}, recall@5 ${share(fifth)}, search p95 ${searchMs.toFixed(1)} ms`,
    );
    for (const question of missed) console.log(`  missed: ${question}`);
  }
} finally {
  await database.close();
  await rm(folder, { recursive: true });
}
