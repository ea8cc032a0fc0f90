import { type Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { StatementDialect } from "../statements/statement-dialect.js";
import type { StatementPort } from "../statements/statement-port.js";

/** Lets Kysely build SQL for PostgreSQL, which is run by whoever has the connections. */
export function postgresDialect(port: Pick<StatementPort, "send">): StatementDialect {
  return new StatementDialect(port, {
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
  });
}
