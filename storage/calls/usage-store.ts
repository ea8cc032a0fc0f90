import { type Compilable, type Kysely, sql } from "kysely";
import type { UsageRecord } from "../records.js";
import type { Tables } from "../tables.js";

const FIELDS = [
  "orgId",
  "date",
  "calls",
  "minutes",
  "ttsChars",
  "llmTokens",
  "sttSeconds",
] as const;

/** One record per organization and day; ranges of dates include both ends. */
export class UsageStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** The days that have calls, oldest first. */
  list(orgId: string, fromDate: string, toDate: string): Promise<UsageRecord[]> {
    return this.#db
      .selectFrom("dailyUsage")
      .select(FIELDS)
      .where("orgId", "=", orgId)
      .where("date", ">=", fromDate)
      .where("date", "<=", toDate)
      .orderBy("date")
      .execute();
  }

  /** Tokens that LLMs have used for calls that are over. */
  async addTokens(orgId: string, date: string, llmTokens: number): Promise<void> {
    const none = { calls: 0, minutes: 0, ttsChars: 0, sttSeconds: 0 };
    await this.#db.executeQuery(addUsage(this.#db, { orgId, date, llmTokens, ...none }));
  }

  async minutesBetween(orgId: string, fromDate: string, toDate: string): Promise<number> {
    const { minutes } = await this.#db
      .selectFrom("dailyUsage")
      .select(sql<number>`coalesce(sum(${sql.ref("minutes")}), 0)`.as("minutes"))
      .where("orgId", "=", orgId)
      .where("date", ">=", fromDate)
      .where("date", "<=", toDate)
      .executeTakeFirstOrThrow();
    return minutes;
  }
}

/** Returns the statement that adds to the day's record, for a batch with the end of the call. */
export function addUsage(db: Kysely<Tables>, usage: UsageRecord): Compilable {
  return db
    .insertInto("dailyUsage")
    .values(usage)
    .onConflict((conflict) =>
      conflict.columns(["orgId", "date"]).doUpdateSet((update) => ({
        calls: update("dailyUsage.calls", "+", update.ref("excluded.calls")),
        minutes: update("dailyUsage.minutes", "+", update.ref("excluded.minutes")),
        ttsChars: update("dailyUsage.ttsChars", "+", update.ref("excluded.ttsChars")),
        llmTokens: update("dailyUsage.llmTokens", "+", update.ref("excluded.llmTokens")),
        sttSeconds: update("dailyUsage.sttSeconds", "+", update.ref("excluded.sttSeconds")),
      })),
    );
}
