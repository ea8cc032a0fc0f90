import {
  type Compilable,
  type Expression,
  type Insertable,
  type Kysely,
  type SqlBool,
  sql,
} from "kysely";
import type { Tables } from "./tables.js";

/**
 * Inserts the row if the condition holds, in one statement, so that nothing can come between the question and the insert.
 * Whether it did is in the changes of the outcome.
 */
export function insertWhen<Table extends keyof Tables>(
  db: Kysely<Tables>,
  table: Table,
  row: Insertable<Tables[Table]>,
  condition: Expression<SqlBool>,
): Compilable {
  const columns = sql.join(Object.keys(row).map((column) => sql.ref(column)));
  const values = sql.join(Object.values(row));
  const insert = sql`insert into ${sql.table(table)} (${columns}) select ${values} where ${condition}`;
  return { compile: () => insert.compile(db) };
}
