import { type Compilable, type Kysely, type RawBuilder, type Selectable, sql } from "kysely";
import { embeddingJob, type NewJob } from "../jobs/job-record.js";
import type { JobsAdded } from "../jobs/job-store.js";
import { jobInsert } from "../jobs/job-store.js";
import { type AtomicRequests, afterChange } from "../statements/atomic-requests.js";
import type { StatementPort } from "../statements/statement-port.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "../tenancy/audit-record.js";
import { auditOf } from "../tenancy/audit-store.js";
import { embeddingJobInsert, revisionBump } from "./embedding-store.js";
import type { FoundPassage } from "./found-passage.js";
import {
  documentRanges,
  joinRanges,
  type PassageQuery,
  searchPostgres,
  searchSqlite,
  WITH_INDEX,
} from "./passage-search.js";

/**
 * Passages written or removed per statement, so that a large document does not delay other requests. PostgreSQL, where they
 * do not wait, has a row for each term of a statement.
 */
const PASSAGES_PER_STEP = { one: 20, many: 400 } as const;

export interface DocumentRecord {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly source: "upload" | "url";
  readonly url: string | null;
  readonly status: "processing" | "ready" | "failed";
  /** Why the document could not be read, or not be refreshed. */
  readonly error: string | null;
  readonly sizeBytes: number;
  readonly characters: number;
  readonly passages: number;
  /** 0 if the document is fetched only once. */
  readonly refreshHours: number;
  readonly fetchedAtMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The fields of a document that a call needs. */
export interface DocumentForCall {
  readonly id: string;
  readonly name: string;
  readonly characters: number;
  /** The whole text of a small document; null for a larger one. */
  readonly text: string | null;
}

export interface NewPassage {
  readonly text: string;
  /** Hashed terms of lower-case letters and digits. */
  readonly terms: readonly string[];
}

/** The content read from a document. */
export interface DocumentContent {
  readonly sizeBytes: number;
  readonly characters: number;
  readonly text: string | null;
  readonly passages: readonly NewPassage[];
}

const COLUMNS = [
  "id",
  "orgId",
  "name",
  "source",
  "url",
  "status",
  "error",
  "sizeBytes",
  "characters",
  "passages",
  "refreshHours",
  "fetchedAtMs",
  "createdAtMs",
  "updatedAtMs",
] as const;

/** Searches that may run at the same time: each occupies the database, and calls in progress write to it. */
export const SEARCHES_AT_ONCE_MAX = 4;
/** Searches that one organization may run at the same time, so that the others' turns find room. */
export const SEARCHES_PER_ORGANIZATION_MAX = 3;
/** A search that no turn waits for starts only while fewer searches than this are running. */
export const EARLY_SEARCHES_MAX = 2;

/** `turn`: a reply waits for the result. `early`: none does yet. */
export type SearchUrgency = "turn" | "early";

/** Documents of organizations and their passages; both databases search them by the same terms. */
export class KnowledgeStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;
  readonly #added: JobsAdded;
  readonly #writers: StatementPort["writers"];
  /** The organizations of the running searches. */
  readonly #running: string[] = [];

  constructor(
    db: Kysely<Tables>,
    atomic: AtomicRequests,
    added: JobsAdded,
    writers: StatementPort["writers"],
  ) {
    this.#db = db;
    this.#atomic = atomic;
    this.#added = added;
    this.#writers = writers;
  }

  /** Returns false, and nothing is inserted, if the organization already has `max` documents. */
  async insertWithin(
    document: DocumentRecord,
    max: number,
    entry: AuditRecord | undefined,
    job?: NewJob,
  ): Promise<boolean> {
    const { orgId } = document;
    const row = { ...document, text: null, firstPosition: 0 };
    const more = job === undefined ? [] : [afterChange(jobInsert(this.#db, job))];
    const limited = { table: "knowledgeDocuments", row, orgId, max } as const;
    const queries = [...auditOf(this.#db, entry), ...more];
    const isInserted = await this.#atomic.insertWithin(this.#db, limited, queries);
    if (isInserted && job !== undefined) this.#added.notify();
    return isInserted;
  }

  /** Returns the oldest first. */
  list(orgId: string): Promise<DocumentRecord[]> {
    return this.#documents().where("orgId", "=", orgId).orderBy("sequence").execute();
  }

  find(orgId: string, id: string): Promise<DocumentRecord | undefined> {
    return this.#documents().where("id", "=", id).where("orgId", "=", orgId).executeTakeFirst();
  }

  /** Returns those of the ids that are documents of the organization. */
  async known(orgId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const rows = await this.#db
      .selectFrom("knowledgeDocuments")
      .select("id")
      .where("orgId", "=", orgId)
      .where("id", "in", ids)
      .execute();
    return new Set(rows.map(({ id }) => id));
  }

  /** Lists the documents that have been read, in the order of their creation. */
  forCall(orgId: string, ids: readonly string[]): Promise<DocumentForCall[]> {
    return this.#db
      .selectFrom("knowledgeDocuments")
      .select(["id", "name", "characters", "text"])
      .where("orgId", "=", orgId)
      .where("id", "in", ids)
      .where("passages", ">", 0)
      .orderBy("sequence")
      .execute();
  }

  /** Returns the total number of characters of the organization's documents. */
  async characters(orgId: string): Promise<number> {
    const { total } = await this.#db
      .selectFrom("knowledgeDocuments")
      .select((select) =>
        select.fn.coalesce(select.fn.sum<number>("characters"), sql.lit(0)).as("total"),
      )
      .where("orgId", "=", orgId)
      .executeTakeFirstOrThrow();
    return Number(total);
  }

  /**
   * Replaces the document's content atomically for searches. The job that embeds it, if the organization has embeddings,
   * is stored in the same transaction. Returns false if the document was removed meanwhile.
   */
  async finish(
    { orgId, id }: Pick<DocumentRecord, "orgId" | "id">,
    content: DocumentContent,
    atMs: number,
    next?: NewJob,
  ): Promise<boolean> {
    const { passages, ...facts } = content;
    const { last } = await this.#db
      .selectFrom("knowledgePassages")
      .select((select) => select.fn.max("position").as("last"))
      .where("documentId", "=", id)
      .executeTakeFirstOrThrow();
    const firstPosition = last === null ? 0 : Number(last) + 1;
    const step = PASSAGES_PER_STEP[this.#writers];
    for (let start = 0; start < passages.length; start += step) {
      const rows = passages.slice(start, start + step).map(({ text, terms }, index) => ({
        orgId,
        documentId: id,
        position: firstPosition + start + index,
        text,
        terms: terms.join(" "),
      }));
      await this.#db.insertInto("knowledgePassages").values(rows).execute();
    }
    const columns = {
      ...facts,
      status: "ready" as const,
      error: null,
      passages: passages.length,
      firstPosition,
      fetchedAtMs: atMs,
      updatedAtMs: atMs,
    };
    const embedding = embeddingJob(orgId, atMs, `${id}_${atMs}`);
    const isFinished = await this.#update({ orgId, id }, next, columns, [
      embeddingJobInsert(this.#db, embedding),
    ]);
    this.#added.notify();
    await this.#removePassages(id, firstPosition);
    return isFinished;
  }

  /**
   * Marks the document as failed; its earlier content, if any, can still be searched. Returns false if it was removed
   * meanwhile.
   */
  fail(
    { orgId, id }: Pick<DocumentRecord, "orgId" | "id">,
    error: string,
    atMs: number,
    next?: NewJob,
  ): Promise<boolean> {
    return this.#update({ orgId, id }, next, { status: "failed", error, updatedAtMs: atMs });
  }

  /** Fetches a document again. Returns false if there is none. */
  refresh(
    { orgId, id }: Pick<DocumentRecord, "orgId" | "id">,
    job: NewJob,
    atMs: number,
  ): Promise<boolean> {
    return this.#update({ orgId, id }, job, { status: "processing", updatedAtMs: atMs });
  }

  /** Marks uploads whose process ended before they were read as failed: their bytes are lost. Returns their number. */
  async failAbandoned(beforeMs: number, error: string): Promise<number> {
    const { numUpdatedRows } = await this.#db
      .updateTable("knowledgeDocuments")
      .set({ status: "failed", error })
      .where("status", "=", "processing")
      .where("source", "=", "upload")
      .where("updatedAtMs", "<", beforeMs)
      .executeTakeFirstOrThrow();
    return Number(numUpdatedRows);
  }

  /** Returns false if the organization has no such document. */
  async remove(orgId: string, id: string, entry: AuditRecord): Promise<boolean> {
    await this.#removePassages(id, Number.MAX_SAFE_INTEGER, orgId);
    const [{ changes }] = await this.#atomic.change([
      this.#db.deleteFrom("knowledgeDocuments").where("id", "=", id).where("orgId", "=", orgId),
      ...auditOf(this.#db, entry),
      revisionBump(this.#db, orgId),
    ]);
    return changes > 0;
  }

  /**
   * Returns the passages of the organization's documents that share most with the terms, best first. Returns undefined,
   * without a search, if too many searches are running for one of this urgency.
   */
  async search(
    orgId: string,
    query: PassageQuery,
    urgency: SearchUrgency,
  ): Promise<FoundPassage[] | undefined> {
    if (query.terms.length === 0 || query.documentIds.length === 0) return [];
    const own = this.#running.filter((each) => each === orgId).length;
    const max = urgency === "turn" ? SEARCHES_AT_ONCE_MAX : EARLY_SEARCHES_MAX;
    if (this.#running.length >= max || own >= SEARCHES_PER_ORGANIZATION_MAX) return undefined;
    this.#running.push(orgId);
    try {
      return await this.#search(orgId, query);
    } finally {
      this.#running.splice(this.#running.indexOf(orgId), 1);
    }
  }

  async #search(orgId: string, query: PassageQuery): Promise<FoundPassage[]> {
    if (this.#writers === "one") {
      const wanted = this.#compilable(documentRanges(orgId, query.documentIds));
      const [ranges] = await this.#atomic.read([wanted]);
      const search = searchSqlite(orgId, query, joinRanges(ranges.rows));
      const [{ rows }] = await this.#atomic.read([this.#compilable(search)]);
      return [...rows];
    }
    const [, { rows }] = await this.#atomic.read([
      this.#compilable(WITH_INDEX),
      this.#compilable(searchPostgres(orgId, query)),
    ]);
    return [...rows];
  }

  #compilable<Row>(query: RawBuilder<Row>): Compilable<Row> {
    return { compile: () => query.compile(this.#db) };
  }

  async #update(
    { orgId, id }: Pick<DocumentRecord, "orgId" | "id">,
    job: NewJob | undefined,
    columns: Partial<Selectable<Tables["knowledgeDocuments"]>>,
    also: readonly Compilable[] = [],
  ): Promise<boolean> {
    const update = this.#db
      .updateTable("knowledgeDocuments")
      .set(columns)
      .where("id", "=", id)
      .where("orgId", "=", orgId);
    if (job === undefined) {
      const [updated] = await this.#atomic.run([update, ...also]);
      return updated.changes > 0;
    }
    // A document has at most one queued job: otherwise earlier refreshes would make it be fetched
    // more and more often.
    const queued = this.#db
      .deleteFrom("jobs")
      .where("state", "=", sql.lit("queued" as const))
      .where("queue", "=", job.queue)
      .where("id", "like", `knowledge_${id}_%`);
    const [, updated] = await this.#atomic.run([
      queued,
      update,
      afterChange(jobInsert(this.#db, job)),
      ...also,
    ]);
    this.#added.notify();
    return updated.changes > 0;
  }

  /** Removes the passages before the position. */
  async #removePassages(documentId: string, position: number, orgId?: string): Promise<void> {
    const step = PASSAGES_PER_STEP[this.#writers];
    for (;;) {
      const old = this.#db
        .selectFrom("knowledgePassages")
        .select("sequence")
        .where("documentId", "=", documentId)
        .where("position", "<", position)
        .$if(orgId !== undefined, (its) => its.where("orgId", "=", orgId ?? ""))
        .orderBy("position")
        .limit(step);
      const { numDeletedRows } = await this.#db
        .deleteFrom("knowledgePassages")
        .where("sequence", "in", old)
        .executeTakeFirstOrThrow();
      if (numDeletedRows < step) return;
    }
  }

  #documents() {
    return this.#db.selectFrom("knowledgeDocuments").select(COLUMNS);
  }
}
