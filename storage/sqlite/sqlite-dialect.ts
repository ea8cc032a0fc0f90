import { type Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { StatementDialect } from "../statements/statement-dialect.js";
import type { StatementPort } from "../statements/statement-port.js";

/** Lets Kysely build SQL for SQLite, which is run by whoever has the file. */
export function sqliteDialect(port: Pick<StatementPort, "send">): StatementDialect {
  return new StatementDialect(port, {
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
  });
}
