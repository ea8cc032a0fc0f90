import type { Insertable, Kysely } from "kysely";
import type { JsonObject } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import { jsonObject, readJson, writeJson } from "../statements/json-column.js";
import { UniqueViolationError } from "../statements/unique-violation.js";
import type { Tables } from "../tables.js";

/** Rows removed per statement, so that a large purge does not delay other requests. */
const PURGED_PER_STEP = 500;

/** A request that its organization sends again, with the same key, if it has got no answer. */
export interface IdempotencyKey {
  readonly orgId: string;
  /** The SHA-256 of the key that the client chose. */
  readonly key: string;
  /** The SHA-256 of what is requested. */
  readonly fingerprint: string;
  readonly createdAtMs: number;
}

/** What a request with a key has created, stored in the same commit. */
export interface KeyedAnswer {
  readonly subjectId: string;
  readonly answer: JsonObject;
  /** The request may still be refused until then, which removes its key; 0: the answer is final. */
  readonly pendingUntilMs: number;
}

export type StoredIdempotencyKey = IdempotencyKey & KeyedAnswer;

/** Keys of requests that must have their effect once, and the first answer to each. */
export class IdempotencyStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /** The organization's key, if it is not older than `sinceMs`, and how many such keys it has; an older one is removed. */
  async find(
    orgId: string,
    key: string,
    sinceMs: number,
  ): Promise<{ readonly stored: StoredIdempotencyKey | undefined; readonly count: number }> {
    const [, found, counted] = await this.#atomic.run([
      this.#db
        .deleteFrom("idempotencyKeys")
        .where("orgId", "=", orgId)
        .where("key", "=", key)
        .where("createdAtMs", "<", sinceMs),
      this.#db
        .selectFrom("idempotencyKeys")
        .selectAll()
        .where("orgId", "=", orgId)
        .where("key", "=", key),
      this.#db
        .selectFrom("idempotencyKeys")
        .select((its) => its.fn.countAll<number>().as("count"))
        .where("orgId", "=", orgId)
        .where("createdAtMs", ">=", sinceMs),
    ]);
    const [row] = found.rows;
    const stored = row && {
      ...row,
      answer: readJson("idempotencyKeys.answer", jsonObject, row.answer),
    };
    return { stored, count: Number(counted.rows[0]?.count ?? 0) };
  }

  /** The answer is final. */
  async settle({ orgId, key }: Pick<IdempotencyKey, "orgId" | "key">): Promise<void> {
    await this.#db
      .updateTable("idempotencyKeys")
      .set({ pendingUntilMs: 0 })
      .where("orgId", "=", orgId)
      .where("key", "=", key)
      .execute();
  }

  /** Removes older keys of all organizations. Returns their number. */
  async purge(beforeMs: number): Promise<number> {
    let purged = 0;
    for (;;) {
      const old = this.#db
        .selectFrom("idempotencyKeys")
        .select(["orgId", "key"])
        .where("createdAtMs", "<", beforeMs)
        .limit(PURGED_PER_STEP);
      const { numDeletedRows } = await this.#db
        .deleteFrom("idempotencyKeys")
        .where((its) => its(its.refTuple("orgId", "key"), "in", old.$asTuple("orgId", "key")))
        .executeTakeFirstOrThrow();
      purged += Number(numDeletedRows);
      if (numDeletedRows < PURGED_PER_STEP) return purged;
    }
  }
}

/** The statement that stores the key beside what its request creates; `UniqueViolationError` if another request has it. */
export function idempotencyKeyInsert(db: Kysely<Tables>, key: IdempotencyKey, made: KeyedAnswer) {
  const { subjectId, answer, pendingUntilMs } = made;
  const row: Insertable<Tables["idempotencyKeys"]> = {
    ...key,
    subjectId,
    answer: writeJson(answer),
    pendingUntilMs,
  };
  return db.insertInto("idempotencyKeys").values(row);
}

/** The statement that frees the key again, since its request has created nothing. */
export function idempotencyKeyRemoval(
  db: Kysely<Tables>,
  { orgId, key }: IdempotencyKey,
  subjectId: string,
) {
  return db
    .deleteFrom("idempotencyKeys")
    .where("orgId", "=", orgId)
    .where("key", "=", key)
    .where("subjectId", "=", subjectId);
}

/** Another request with the same key has come first. */
export function isKeyTaken(error: unknown): boolean {
  return error instanceof UniqueViolationError && error.table === "idempotencyKeys";
}
