import type { Kysely } from "kysely";
import * as v from "valibot";
import type { RegistryRecord } from "../records.js";
import { providerModels, readJson, writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";

const settings = v.array(
  v.object({ key: v.string(), label: v.string(), type: v.string(), required: v.boolean() }),
);

export class RegistryStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** An entry of the same category and vendor keeps its position, and its creation time. */
  async put(entry: RegistryRecord): Promise<void> {
    const release = {
      displayName: entry.displayName,
      requiresKey: Number(entry.requiresKey),
      models: writeJson(entry.models),
      settings: writeJson(entry.settings),
    };
    await this.#db
      .insertInto("registry")
      .values({
        category: entry.category,
        providerKey: entry.providerKey,
        ...release,
        createdAtMs: entry.createdAtMs,
      })
      .onConflict((conflict) => conflict.columns(["category", "providerKey"]).doUpdateSet(release))
      .execute();
  }

  /** Lists the records in the order of their insertion. */
  async list(): Promise<RegistryRecord[]> {
    const rows = await this.#db.selectFrom("registry").selectAll().orderBy("sequence").execute();
    return rows.map((row) => ({
      category: row.category,
      providerKey: row.providerKey,
      displayName: row.displayName,
      requiresKey: row.requiresKey === 1,
      models: readJson("registry.models", providerModels, row.models),
      settings: readJson("registry.settings", settings, row.settings),
      createdAtMs: row.createdAtMs,
    }));
  }
}
