import { type Compilable, type Kysely, sql } from "kysely";
import type { NewJob } from "../jobs/job-record.js";
import { type JobsAdded, jobInsert } from "../jobs/job-store.js";
import { type AtomicRequests, afterChange } from "../statements/atomic-requests.js";
import { writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "../tenancy/audit-record.js";
import { auditOf } from "../tenancy/audit-store.js";
import { type FoundPassage, IS_CURRENT } from "./found-passage.js";

/** Vectors removed per statement, so that a change of the model does not delay other requests. */
const VECTORS_PER_STEP = 100;

/** The model that embeds the passages of an organization. */
export interface EmbeddingChoice {
  readonly orgId: string;
  readonly providerId: string;
  readonly modelId: string;
  /** The dimensions that the model is asked for; null for its own number. */
  readonly requestedDimensions: number | null;
  readonly dimensions: number;
  /** Vectors of another set belong to an earlier choice and are never compared with these. */
  readonly setId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface StoredChoice extends EmbeddingChoice {
  /** Grows with each change of the vectors. */
  readonly revision: number;
  /** Tokens that the model has counted for passages. */
  readonly tokens: number;
  /** Why passages could not be embedded; null while they can. */
  readonly error: string | null;
}

/** Names the vectors of one choice. */
export type VectorSet = Pick<EmbeddingChoice, "orgId" | "setId">;

export interface PassageToEmbed {
  readonly passage: number;
  readonly documentName: string;
  readonly text: string;
}

/** Float32 values in little-endian order. */
export interface PassageVector {
  readonly passage: number;
  readonly vector: Uint8Array;
}

export interface StoredVector extends PassageVector {
  readonly documentId: string;
}

/** The choice of an embedding model by organizations, and the vectors of their passages. */
export class EmbeddingStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;
  readonly #added: JobsAdded;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests, added: JobsAdded) {
    this.#db = db;
    this.#atomic = atomic;
    this.#added = added;
  }

  find(orgId: string): Promise<StoredChoice | undefined> {
    return this.#db
      .selectFrom("knowledgeEmbeddings")
      .selectAll()
      .where("orgId", "=", orgId)
      .executeTakeFirst();
  }

  /** Replaces an earlier choice of the organization. The job embeds all passages and removes the earlier vectors. */
  async save(choice: EmbeddingChoice, entry: AuditRecord, job: NewJob): Promise<void> {
    const { orgId, createdAtMs, ...columns } = choice;
    const fresh = { ...columns, revision: 0, tokens: 0, error: null };
    await this.#atomic.run([
      this.#db
        .insertInto("knowledgeEmbeddings")
        .values({ ...fresh, orgId, createdAtMs })
        .onConflict((conflict) => conflict.column("orgId").doUpdateSet(fresh)),
      ...auditOf(this.#db, entry),
      jobInsert(this.#db, job),
    ]);
    this.#added.notify();
  }

  /** Starts the job for a choice that stays the same. */
  async retry(job: NewJob): Promise<void> {
    await this.#atomic.run([embeddingJobInsert(this.#db, job)]);
    this.#added.notify();
  }

  /** Returns false if the organization has no embeddings. The job removes the vectors. */
  async remove(orgId: string, entry: AuditRecord, job: NewJob): Promise<boolean> {
    const [{ changes }] = await this.#atomic.run([
      this.#db.deleteFrom("knowledgeEmbeddings").where("orgId", "=", orgId),
      ...auditOf(this.#db, entry),
      afterChange(jobInsert(this.#db, job)),
    ]);
    if (changes > 0) this.#added.notify();
    return changes > 0;
  }

  /** Stores why passages cannot be embedded; null if they can. Does nothing after another choice was made. */
  async noteError({ orgId, setId }: VectorSet, error: string | null): Promise<void> {
    await this.#db
      .updateTable("knowledgeEmbeddings")
      .set({ error })
      .where("orgId", "=", orgId)
      .where("setId", "=", setId)
      .execute();
  }

  /** Returns passages of the documents' current content that have no vector of the set, oldest first. */
  async passagesWithout(
    { orgId, setId }: VectorSet,
    documentIds: readonly string[],
    limit: number,
  ): Promise<PassageToEmbed[]> {
    if (documentIds.length === 0) return [];
    return this.#db
      .selectFrom("knowledgePassages as p")
      .innerJoin("knowledgeDocuments as d", "d.id", "p.documentId")
      .leftJoin("knowledgeVectors as v", (join) =>
        join.onRef("v.passage", "=", "p.sequence").on("v.setId", "=", setId),
      )
      .select(["p.sequence as passage", "d.name as documentName", "p.text"])
      .where("p.orgId", "=", orgId)
      .where("d.orgId", "=", orgId)
      .where("p.documentId", "in", documentIds)
      .where(IS_CURRENT)
      .where("v.passage", "is", null)
      .orderBy("p.sequence")
      .limit(limit)
      .execute();
  }

  /** Stores vectors of passages that still exist. Returns false, and stores nothing, after another choice was made. */
  async add(
    { orgId, setId }: VectorSet,
    vectors: readonly PassageVector[],
    tokens: number,
  ): Promise<boolean> {
    const current = this.#db
      .updateTable("knowledgeEmbeddings")
      .set((its) => ({
        revision: its("revision", "+", 1),
        tokens: its("tokens", "+", tokens),
        error: null,
      }))
      .where("orgId", "=", orgId)
      .where("setId", "=", setId);
    return this.#atomic.runIf(
      current,
      vectors.map(({ passage, vector }) => this.#vectorInsert({ orgId, setId }, passage, vector)),
    );
  }

  /** Returns how many passages of each document have a vector of the set. */
  async counts({ orgId, setId }: VectorSet): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#db
      .selectFrom("knowledgeVectors")
      .select((select) => ["documentId", select.fn.countAll<number>().as("count")])
      .where("orgId", "=", orgId)
      .where("setId", "=", setId)
      .groupBy("documentId")
      .execute();
    return new Map(rows.map(({ documentId, count }) => [documentId, Number(count)]));
  }

  /** Returns vectors of the set in the order of their passages, from the one after `after`. */
  vectors({ orgId, setId }: VectorSet, after: number, limit: number): Promise<StoredVector[]> {
    return this.#db
      .selectFrom("knowledgeVectors")
      .select(["passage", "documentId", "vector"])
      .where("passage", ">", after)
      .where("orgId", "=", orgId)
      .where("setId", "=", setId)
      .orderBy("passage")
      .limit(limit)
      .execute();
  }

  /** Returns those of the passages that belong to the current content of the organization's documents. */
  passages(
    orgId: string,
    documentIds: readonly string[],
    passages: readonly number[],
  ): Promise<(FoundPassage & { readonly passage: number })[]> {
    if (documentIds.length === 0 || passages.length === 0) return Promise.resolve([]);
    return this.#db
      .selectFrom("knowledgePassages as p")
      .innerJoin("knowledgeDocuments as d", "d.id", "p.documentId")
      .select((select) => [
        "p.sequence as passage",
        "p.documentId",
        "d.name as documentName",
        select("p.position", "-", select.ref("d.firstPosition")).as("position"),
        "p.text",
      ])
      .where("p.orgId", "=", orgId)
      .where("d.orgId", "=", orgId)
      .where("p.documentId", "in", documentIds)
      .where("p.sequence", "in", passages)
      .where(IS_CURRENT)
      .execute();
  }

  /** Removes the organization's vectors of other sets than this one; all of them without one. */
  async purge(orgId: string, setId: string | undefined): Promise<void> {
    for (;;) {
      const old = this.#db
        .selectFrom("knowledgeVectors")
        .select("passage")
        .where("orgId", "=", orgId)
        .$if(setId !== undefined, (its) => its.where("setId", "!=", setId ?? ""))
        .limit(VECTORS_PER_STEP);
      const { numDeletedRows } = await this.#db
        .deleteFrom("knowledgeVectors")
        .where("passage", "in", old)
        .executeTakeFirstOrThrow();
      if (numDeletedRows < VECTORS_PER_STEP) return;
    }
  }

  /** A passage that was removed since it was read gets no vector. */
  #vectorInsert({ orgId, setId }: VectorSet, passage: number, vector: Uint8Array): Compilable {
    const columns = sql.join(
      ["passage", "orgId", "documentId", "setId", "vector"].map((name) => sql.ref(name)),
    );
    const insert = sql`insert into ${sql.table("knowledgeVectors")} (${columns})
      select ${sql.ref("sequence")}, ${sql.ref("orgId")}, ${sql.ref("documentId")}, ${setId}, ${vector}
      from ${sql.table("knowledgePassages")}
      where ${sql.ref("sequence")} = ${passage} and ${sql.ref("orgId")} = ${orgId}
      on conflict (passage) do update set ${sql.ref("setId")} = excluded.${sql.ref("setId")},
        vector = excluded.vector`;
    return { compile: () => insert.compile(this.#db) };
  }
}

/** Stores the job only if its organization has embeddings. */
export function embeddingJobInsert(db: Kysely<Tables>, job: NewJob): Compilable {
  const row = { ...job, payload: writeJson(job.payload), state: "queued", attempts: 0, fence: 0 };
  const columns = sql.join(Object.keys(row).map((name) => sql.ref(name)));
  const insert = sql`insert into jobs (${columns}) select ${sql.join(Object.values(row))}
    where exists (select 1 from ${sql.table("knowledgeEmbeddings")} where ${sql.ref("orgId")} = ${job.orgId})
    on conflict (id) do nothing`;
  return { compile: () => insert.compile(db) };
}

/** The organization's vectors have changed. */
export function revisionBump(db: Kysely<Tables>, orgId: string): Compilable {
  return db
    .updateTable("knowledgeEmbeddings")
    .set((its) => ({ revision: its("revision", "+", 1) }))
    .where("orgId", "=", orgId);
}
