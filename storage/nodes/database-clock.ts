import { type RawBuilder, sql } from "kysely";

/** The time as PostgreSQL shows it: servers whose own clocks differ agree on it. */
export const databaseNowMs: RawBuilder<number> = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
