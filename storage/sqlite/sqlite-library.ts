import { createRequire } from "node:module";
import type BetterSqlite3 from "better-sqlite3";

const FIRST_NODE_OF_VERSION_13 = 22;

/**
 * Version 13 includes its binaries, and crashes Node 20 with a segmentation fault; version 12 has to be compiled
 * (docs/decisions/010-front-ends.md).
 */
const PACKAGE =
  Number.parseInt(process.versions.node, 10) >= FIRST_NODE_OF_VERSION_13
    ? "better-sqlite3"
    : "better-sqlite3-node20";

export const Sqlite: typeof BetterSqlite3 = createRequire(import.meta.url)(PACKAGE);
export const { SqliteError } = Sqlite;
