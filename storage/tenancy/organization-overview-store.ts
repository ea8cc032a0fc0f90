import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import type { OrganizationRecord } from "../records.js";
import { isLike, wordPatterns } from "../statements/word-pattern.js";
import type { Tables } from "../tables.js";
import { OWNER_COLUMNS, type Owner, OwnerReader, type OwnerRow } from "./owner-columns.js";

/** An organization as the platform's operators see it. */
export interface OrganizationOverview extends Owner {
  /** The number of calls in progress. */
  readonly calls: number;
  /** The total of the requested days. */
  readonly minutes: number;
}

/** Days in UTC, `YYYY-MM-DD`, both included. */
export interface OverviewDays {
  readonly fromDate: string;
  readonly toDate: string;
}

export interface OverviewPage extends OverviewDays {
  /** Text in the organization's name or its owner's e-mail, case-insensitive. */
  readonly words?: string | undefined;
  readonly status?: OrganizationRecord["status"] | undefined;
  readonly skip: number;
  readonly limit: number;
}

type OverviewRow = OwnerRow & Pick<OrganizationOverview, "calls" | "minutes">;

/** Figures of all organizations. It reads stored totals, so the number of calls does not matter. */
export class OrganizationOverviewStore {
  readonly #db: Kysely<Tables>;
  readonly #owners = new OwnerReader();

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Returns the newest first. */
  async list(
    page: OverviewPage,
  ): Promise<{ readonly items: readonly OrganizationOverview[]; readonly total: number }> {
    const found = narrowed(this.#db.selectFrom("organizations"), page);
    const [rows, { count }] = await Promise.all([
      narrowed(this.#overviews(page), page)
        .orderBy("organizations.createdAtMs", "desc")
        .orderBy("organizations.sequence", "desc")
        .limit(page.limit)
        .offset(page.skip)
        .execute(),
      found.select(({ fn }) => fn.countAll<number>().as("count")).executeTakeFirstOrThrow(),
    ]);
    return { items: rows.map((row) => this.#overviewOf(row)), total: count };
  }

  async find(id: string, days: OverviewDays): Promise<OrganizationOverview | undefined> {
    const row = await this.#overviews(days).where("organizations.id", "=", id).executeTakeFirst();
    return row && this.#overviewOf(row);
  }

  /** The number of calls in progress, of all organizations. */
  async countCalls(): Promise<number> {
    const { calls } = await this.#db
      .selectFrom("callTotals")
      .select(sql<number>`coalesce(sum(${sql.ref("calls")}), 0)`.as("calls"))
      .where("status", "=", sql.lit("active" as const))
      .executeTakeFirstOrThrow();
    return calls;
  }

  #overviews({ fromDate, toDate }: OverviewDays) {
    return this.#db
      .selectFrom("organizations")
      .innerJoin("plans", "plans.id", "organizations.planId")
      .select(OWNER_COLUMNS)
      .select((its) => [
        its
          .selectFrom("callTotals")
          .select(sql<number>`coalesce(sum(${sql.ref("calls")}), 0)`.as("sum"))
          .whereRef("callTotals.orgId", "=", "organizations.id")
          .where("callTotals.status", "=", sql.lit("active" as const))
          .$asScalar()
          .$notNull()
          .as("calls"),
        its
          .selectFrom("dailyUsage")
          .select(sql<number>`coalesce(sum(${sql.ref("minutes")}), 0)`.as("sum"))
          .whereRef("dailyUsage.orgId", "=", "organizations.id")
          .where("dailyUsage.date", ">=", fromDate)
          .where("dailyUsage.date", "<=", toDate)
          .$asScalar()
          .$notNull()
          .as("minutes"),
      ]);
  }

  #overviewOf(row: OverviewRow): OrganizationOverview {
    return { ...this.#owners.ownerOf(row), calls: row.calls, minutes: row.minutes };
  }
}

function narrowed<Selected>(
  query: SelectQueryBuilder<Tables, "organizations", Selected>,
  { words, status }: OverviewPage,
) {
  let narrower = query;
  if (status !== undefined) narrower = narrower.where("organizations.status", "=", status);
  if (words === undefined) return narrower;
  const patterns = wordPatterns(words);
  return narrower.where((its) =>
    its.or(
      patterns.flatMap((pattern) => [
        isLike("organizations.name", pattern),
        isLike("organizations.ownerEmail", pattern),
      ]),
    ),
  );
}
