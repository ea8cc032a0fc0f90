import type { Insertable, Kysely, Selectable } from "kysely";
import * as v from "valibot";
import type { PlanRecord } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import { readJson, stringList, writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";

const pricing = v.object({
  monthly: v.number(),
  annual: v.number(),
  maxDiscountPercent: v.number(),
});
const limits = v.object({
  maxAgents: v.number(),
  maxConcurrentCalls: v.number(),
  maxCallDurationSec: v.number(),
  maxMonthlyMinutes: v.number(),
});
const models = v.object({ llm: stringList, tts: stringList, stt: stringList });
const features = v.object({ customProviders: v.boolean(), maxCustomProviders: v.number() });

export class PlanStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /** Returns false if a plan already has this slug; that plan stays unchanged. */
  async insertIfAbsent(plan: PlanRecord): Promise<boolean> {
    const result = await this.#db
      .insertInto("plans")
      .values(rowOf(plan))
      .onConflict((conflict) => conflict.column("slug").doNothing())
      .executeTakeFirst();
    return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
  }

  /** Does nothing if there is no such plan. */
  async setModels(
    id: string,
    planModels: PlanRecord["models"],
    updatedAtMs: number,
  ): Promise<void> {
    await this.#atomic.change([
      this.#db
        .updateTable("plans")
        .set({ models: writeJson(planModels), updatedAtMs })
        .where("id", "=", id),
    ]);
  }

  /** Replaces everything but the id, the slug and the creation time. Does nothing if there is no such plan. */
  async replaceTerms(plan: PlanRecord): Promise<void> {
    const { id, slug: _slug, createdAtMs: _createdAtMs, ...terms } = rowOf(plan);
    await this.#atomic.change([this.#db.updateTable("plans").set(terms).where("id", "=", id)]);
  }

  async findById(id: string): Promise<PlanRecord | undefined> {
    const row = await this.#plans().where("id", "=", id).executeTakeFirst();
    return row && planRecordOf(row);
  }

  async findBySlug(slug: string): Promise<PlanRecord | undefined> {
    const row = await this.#plans().where("slug", "=", slug).executeTakeFirst();
    return row && planRecordOf(row);
  }

  /** Lists plans in the order of their creation. */
  async list(): Promise<PlanRecord[]> {
    const rows = await this.#plans().orderBy("createdAtMs").orderBy("sequence").execute();
    return rows.map(planRecordOf);
  }

  #plans() {
    return this.#db.selectFrom("plans").selectAll();
  }
}

function rowOf(plan: PlanRecord): Insertable<Tables["plans"]> {
  return {
    id: plan.id,
    slug: plan.slug,
    name: plan.name,
    description: plan.description,
    custom: Number(plan.custom),
    public: Number(plan.public),
    pricing: writeJson(plan.pricing),
    limits: writeJson(plan.limits),
    models: writeJson(plan.models),
    features: writeJson(plan.features),
    createdAtMs: plan.createdAtMs,
    updatedAtMs: plan.updatedAtMs,
  };
}

export function planRecordOf(row: Omit<Selectable<Tables["plans"]>, "sequence">): PlanRecord {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    custom: row.custom === 1,
    public: row.public === 1,
    pricing: readJson("plans.pricing", pricing, row.pricing),
    limits: readJson("plans.limits", limits, row.limits),
    models: readJson("plans.models", models, row.models),
    features: readJson("plans.features", features, row.features),
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
  };
}
