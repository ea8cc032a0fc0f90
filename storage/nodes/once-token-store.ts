import { type Kysely, sql } from "kysely";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import type { Tables } from "../tables.js";
import { databaseNowMs } from "./node-store.js";

/** Rows deleted per statement. */
const PURGE_ROWS = 10_000;

/** Single-use keys shared by all servers of one PostgreSQL database, with a stored value for each use. */
export class OnceTokenStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /** Returns the value stored under the key, after storing `value` if there was none; it expires after `keptMs`. */
  async take(
    key: string,
    value: string | null,
    keptMs: number,
  ): Promise<{ readonly isFirst: boolean; readonly value: string | null }> {
    const row = { key, owner: "", value, untilMs: sql<number>`${databaseNowMs} + ${keptMs}` };
    const [first, known] = await this.#atomic.run([
      this.#db
        .insertInto("onceTokens")
        .values(row)
        .onConflict((conflict) =>
          conflict
            .column("key")
            .doUpdateSet({ value, untilMs: row.untilMs })
            .where("onceTokens.untilMs", "<=", databaseNowMs),
        ),
      this.#db.selectFrom("onceTokens").select("value").where("key", "=", key),
    ]);
    return { isFirst: first.changes > 0, value: known.rows[0]?.value ?? null };
  }

  /**
   * Stores the value under the key. Returns false if the owner already has the maximum number of values that were not
   * taken out.
   */
  async put(
    key: string,
    { owner, value }: { readonly owner: string; readonly value: string },
    keptMs: number,
    ownersMax: number,
  ): Promise<boolean> {
    const count = sql`(select count(*) from "onceTokens"
      where "owner" = ${owner} and "untilMs" > ${databaseNowMs})`;
    const insert = sql`insert into "onceTokens" ("key", "owner", "value", "untilMs")
      select ${key}, ${owner}, ${value}, ${databaseNowMs} + ${keptMs} where ${count} < ${ownersMax}`;
    const { numAffectedRows = 0n } = await insert.execute(this.#db);
    return numAffectedRows > 0n;
  }

  /** Returns and removes the value; undefined for a key that was never put, is too old, or was taken out. */
  async takeOut(key: string): Promise<string | undefined> {
    const row = await this.#db
      .deleteFrom("onceTokens")
      .where("key", "=", key)
      .where("untilMs", ">", databaseNowMs)
      .returning("value")
      .executeTakeFirst();
    return row?.value ?? undefined;
  }

  /** Returns the value without removing it; undefined for a key that was never put, or is too old. */
  async valueOf(key: string): Promise<string | undefined> {
    const row = await this.#db
      .selectFrom("onceTokens")
      .select("value")
      .where("key", "=", key)
      .where("untilMs", ">", databaseNowMs)
      .executeTakeFirst();
    return row?.value ?? undefined;
  }

  async remember(key: string, value: string): Promise<void> {
    await this.#db.updateTable("onceTokens").set({ value }).where("key", "=", key).execute();
  }

  /** Frees the key again, unless a value is stored for it. */
  async release(key: string): Promise<void> {
    await this.#db
      .deleteFrom("onceTokens")
      .where("key", "=", key)
      .where("value", "is", null)
      .execute();
  }

  /** Removes expired keys. */
  async purge(): Promise<void> {
    const old = this.#db
      .selectFrom("onceTokens")
      .select("key")
      .where("untilMs", "<=", databaseNowMs)
      .limit(PURGE_ROWS);
    await this.#db.deleteFrom("onceTokens").where("key", "in", old).execute();
  }
}
