import { createRequire } from "node:module";
import type BetterSqlite3 from "better-sqlite3";

const FIRST_OF_NEW = 24;

/**
 * Two versions of one library: 12 aborts Node 24.19 when a statement is collected as garbage, and 13 ends Node 20 with a
 * segmentation fault (docs/decisions/010-front-ends.md).
 */
const PACKAGE =
  Number.parseInt(process.versions.node, 10) >= FIRST_OF_NEW
    ? "better-sqlite3-node24"
    : "better-sqlite3";

export const Sqlite: typeof BetterSqlite3 = createRequire(import.meta.url)(PACKAGE);
export const { SqliteError } = Sqlite;
