import type { Compilable, Kysely } from "kysely";
import * as v from "valibot";
import type { HistoryMessage } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import { readJson, writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";

/** The order of the fields is that of the stored text, which `replacementOf` compares. */
const messages = v.array(
  v.object({
    role: v.picklist(["user", "assistant"]),
    content: v.string(),
    tools: v.exactOptional(
      v.array(v.object({ name: v.string(), argumentsJson: v.string(), result: v.string() })),
    ),
  }),
);

/** The history of a conversation under its key; the caller decides how much is kept and for how long. */
export class HistoryStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /** Returns undefined if this organization has no such key, or it was last saved before `notBeforeMs`. */
  async load(
    orgId: string,
    key: string,
    notBeforeMs: number,
  ): Promise<HistoryMessage[] | undefined> {
    const row = await this.#db
      .selectFrom("sessionHistory")
      .select("messages")
      .where("orgId", "=", orgId)
      .where("key", "=", key)
      .where("savedAtMs", ">=", notBeforeMs)
      .executeTakeFirst();
    return row && readJson("sessionHistory.messages", messages, row.messages);
  }

  /**
   * Replaces the stored history of the key if it is still `known` (empty: none was stored). Returns false, and
   * changes nothing, if another call has saved meanwhile. A rejected request has changed nothing and may be
   * retried.
   */
  replace(
    id: HistoryKey,
    known: readonly HistoryMessage[],
    kept: readonly HistoryMessage[],
    savedAtMs: number,
  ): Promise<boolean> {
    const change = replacementOf(this.#db, { id, known, kept, savedAtMs });
    // Several statements, not one: the outcome of a single statement would be unknown after a lost connection, and a
    // retry could store messages twice.
    return this.#atomic.runIf(change, []);
  }

  /** An earlier call's summary of the messages that are no longer stored; undefined if there is none. */
  async loadSummary({ orgId, key }: HistoryKey, notBeforeMs: number): Promise<string | undefined> {
    const row = await this.#db
      .selectFrom("sessionHistory")
      .select("summary")
      .where("orgId", "=", orgId)
      .where("key", "=", key)
      .where("savedAtMs", ">=", notBeforeMs)
      .executeTakeFirst();
    return row?.summary ?? undefined;
  }

  /** A conversation without messages gets no summary. Of two concurrent calls, the later summary is kept. */
  async saveSummary({ orgId, key }: HistoryKey, summary: string): Promise<void> {
    await this.#db
      .updateTable("sessionHistory")
      .set({ summary })
      .where("orgId", "=", orgId)
      .where("key", "=", key)
      .execute();
  }

  /** Removes conversations that were last saved before this time. Returns their number. */
  async purge(beforeMs: number): Promise<number> {
    const result = await this.#db
      .deleteFrom("sessionHistory")
      .where("savedAtMs", "<", beforeMs)
      .executeTakeFirst();
    return Number(result.numDeletedRows);
  }
}

/** One conversation of one organization. */
export interface HistoryKey {
  readonly orgId: string;
  readonly key: string;
}

/** The arguments of `HistoryStore.replace`, for a caller that stores it together with other changes. */
export interface HistoryChange {
  readonly id: HistoryKey;
  readonly known: readonly HistoryMessage[];
  readonly kept: readonly HistoryMessage[];
  readonly savedAtMs: number;
}

/** Changes one row, or none if another call has saved meanwhile. */
export function replacementOf(
  db: Kysely<Tables>,
  { id: { orgId, key }, known, kept, savedAtMs }: HistoryChange,
): Compilable {
  const messages = writeJson(kept);
  return db
    .insertInto("sessionHistory")
    .values({ orgId, key, messages, savedAtMs })
    .onConflict((conflict) =>
      conflict
        .columns(["orgId", "key"])
        .doUpdateSet({ messages, savedAtMs })
        .where("sessionHistory.messages", "=", writeJson(known)),
    );
}
