import type { Compilable, Kysely } from "kysely";
import * as v from "valibot";
import { readJson, writeJson } from "./json-column.js";
import type { HistoryMessage } from "./records.js";
import type { Tables } from "./tables.js";

const messages = v.array(
  v.object({ role: v.picklist(["user", "assistant"]), content: v.string() }),
);

/** What is remembered of a conversation under its key; how much and for how long is for the caller to say. */
export class HistoryStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Undefined when this organization has no such key, or when it was saved last before `notBeforeMs`. */
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

  /** Replaces what was kept under the key. */
  async save(
    orgId: string,
    key: string,
    kept: readonly HistoryMessage[],
    atMs: number,
  ): Promise<void> {
    await saveHistory(this.#db, { orgId, key, messages: kept }, atMs).execute();
  }

  /** Removes what was saved last before this time; says how many. */
  async purge(beforeMs: number): Promise<number> {
    const result = await this.#db
      .deleteFrom("sessionHistory")
      .where("savedAtMs", "<", beforeMs)
      .executeTakeFirst();
    return Number(result.numDeletedRows);
  }
}

export interface KeptHistory {
  readonly orgId: string;
  readonly key: string;
  readonly messages: readonly HistoryMessage[];
}

/** The statement alone, for a batch with the turn that it belongs to. */
export function saveHistory(
  db: Kysely<Tables>,
  history: KeptHistory,
  atMs: number,
): Compilable & { execute(): Promise<unknown> } {
  return db
    .insertInto("sessionHistory")
    .values({
      orgId: history.orgId,
      key: history.key,
      messages: writeJson(history.messages),
      savedAtMs: atMs,
    })
    .onConflict((conflict) =>
      conflict.columns(["orgId", "key"]).doUpdateSet((update) => ({
        messages: update.ref("excluded.messages"),
        savedAtMs: update.ref("excluded.savedAtMs"),
      })),
    );
}
