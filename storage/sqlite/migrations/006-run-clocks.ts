import { type Kysely, sql } from "kysely";

/**
 * How far the clock of its run was when a call began, and at the run's last heartbeat: it never steps, as the machine's
 * own clock does, so it alone tells how long a call of a dead server lasted. Null for what an earlier release has written.
 */
const RUN_CLOCKS = [
  "alter table calls add column beganUptimeMs real",
  "alter table runs add column uptimeMs real",
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of RUN_CLOCKS) await sql.raw(statement).execute(db);
}
