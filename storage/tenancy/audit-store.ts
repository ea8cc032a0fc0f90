import type { Compilable, Insertable, Kysely, Selectable } from "kysely";
import { type AtomicRequests, afterChange } from "../statements/atomic-requests.js";
import { readJson, stringList, writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "./audit-record.js";

/** Rows removed per statement, so that the purge of a long trail does not delay other requests. */
const PURGED_PER_STEP = 500;

export interface AuditPage {
  readonly skip: number;
  readonly limit: number;
}

/** The audit trail. Entries are stored with the change that they describe: see `auditOf`. */
export class AuditStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /** Adds an entry about an action that changes no stored data. */
  async add(entry: AuditRecord): Promise<void> {
    await this.#db.insertInto("auditEntries").values(rowOf(entry)).execute();
  }

  /** Returns the newest first, with the organization's total number. */
  async list(
    orgId: string,
    page: AuditPage,
  ): Promise<{ readonly items: AuditRecord[]; readonly total: number }> {
    const [entries, totals] = await this.#atomic.run([
      auditPage(this.#db, orgId, page),
      auditTotal(this.#db, orgId),
    ]);
    return { items: entries.rows.map(recordOf), total: totals.rows[0]?.entries ?? 0 };
  }

  /** Returns the newest entries of all organizations and of the platform itself, in the order of their insertion. */
  async listNewest(limit: number): Promise<AuditRecord[]> {
    const rows = await this.#db
      .selectFrom("auditEntries")
      .selectAll()
      .orderBy("sequence", "desc")
      .limit(limit)
      .execute();
    return rows.map(recordOf);
  }

  /** Removes older entries. Returns their number. */
  async purge(beforeMs: number): Promise<number> {
    let purged = 0;
    for (;;) {
      const { numDeletedRows } = await auditPurge(this.#db, beforeMs).executeTakeFirstOrThrow();
      purged += Number(numDeletedRows);
      if (numDeletedRows < PURGED_PER_STEP) return purged;
    }
  }
}

/**
 * Returns the statements, for the end of a batch, that record the change made by the statement before them if that
 * affected a row. So a change and its entry are stored together or not at all.
 */
export function auditOf(db: Kysely<Tables>, entry: AuditRecord | undefined): Compilable[] {
  if (entry === undefined) return [];
  return [afterChange(db.insertInto("auditEntries").values(rowOf(entry)))];
}

export function auditPage(db: Kysely<Tables>, orgId: string, { skip, limit }: AuditPage) {
  return db
    .selectFrom("auditEntries")
    .selectAll()
    .where("orgId", "=", orgId)
    .orderBy("atMs", "desc")
    .orderBy("sequence", "desc")
    .limit(limit)
    .offset(skip);
}

export function auditTotal(db: Kysely<Tables>, orgId: string) {
  return db.selectFrom("auditTotals").select("entries").where("orgId", "=", orgId);
}

export function auditPurge(db: Kysely<Tables>, beforeMs: number) {
  const old = db
    .selectFrom("auditEntries")
    .select("sequence")
    .where("atMs", "<", beforeMs)
    .limit(PURGED_PER_STEP);
  return db.deleteFrom("auditEntries").where("sequence", "in", old);
}

function rowOf({ actor, changes, ...entry }: AuditRecord): Insertable<Tables["auditEntries"]> {
  return { ...entry, actorType: actor.type, actorId: actor.id, changes: writeJson(changes) };
}

function recordOf(row: Selectable<Tables["auditEntries"]>): AuditRecord {
  return {
    id: row.id,
    orgId: row.orgId,
    atMs: row.atMs,
    actor: { type: row.actorType, id: row.actorId },
    action: row.action,
    targetType: row.targetType,
    targetId: row.targetId,
    targetName: row.targetName,
    changes: readJson("auditEntries.changes", stringList, row.changes),
  };
}
