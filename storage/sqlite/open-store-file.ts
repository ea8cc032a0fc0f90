import { statSync } from "node:fs";
import { StorageUnavailableError } from "../statements/storage-error.js";
import { ServerClaim } from "./server-claim.js";
import { openReader, openSqliteFile, type SqliteFile } from "./sqlite-file.js";
import { Sqlite } from "./sqlite-library.js";

/** How a file is opened. */
export interface FileSettings {
  readonly filePath: string;
  /** Refuses to start if another server uses the file. */
  readonly isServer?: boolean;
  /** Refuses a file that is missing, or has no tables. */
  readonly mustExist?: boolean;
  /** For statements that only read, of a file that the process has open already. */
  readonly isReader?: boolean;
}

export interface StoreFile {
  readonly file: SqliteFile;
  /** The lock that a server holds for as long as it runs. */
  readonly claim: ServerClaim | undefined;
}

/**
 * Opens the database for a server, or for a command next to it. Throws `StorageUnavailableError` if another server
 * has it, if it is not what was expected, or if a command would update the schema under an older server.
 */
export async function openStoreFile(settings: FileSettings): Promise<StoreFile> {
  const { filePath, isServer = false, mustExist = false, isReader = false } = settings;
  if (isReader) return { claim: undefined, file: openReader(filePath) };
  const claim = isServer ? ServerClaim.take(filePath) : undefined;
  try {
    if (mustExist) requireTables(filePath, isServer);
    const file = await openSqliteFile(filePath, isServer ? undefined : () => claimFrom(filePath));
    return { claim, file };
  } catch (error) {
    claim?.close();
    throw error;
  }
}

/**
 * Refuses a missing database that was restored or existed before: creating a new one would only hide that it is
 * missing.
 */
function requireTables(filePath: string, isServer: boolean): void {
  const lack = missingParts(filePath);
  if (lack === undefined) return;
  const advice = isServer
    ? "DATABASE_START says that there is one: put a whole copy there, look whether the disk of DATA_DIR is mounted, or leave DATABASE_START away to begin with a new one"
    : "start the server once (npm start), or put a whole copy there";
  throw new StorageUnavailableError(`the database ${filePath} ${lack}; ${advice}`);
}

/** The schema of a database in use by a server is never updated: the server knows its own schema only. */
function claimFrom(filePath: string): ServerClaim {
  try {
    return ServerClaim.take(filePath);
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) throw error;
    throw new StorageUnavailableError(
      `the database ${filePath} is of an earlier version, and a server runs on it: restart the server with this version first, or use the command of the server's own version`,
      { cause: error },
    );
  }
}

/** Tables that every release has. */
const TABLES = ["organizations", "calls"];

/**
 * Describes what a file lacks of a Parley database, as the end of a sentence. Returns undefined if it has everything.
 */
export function missingParts(filePath: string): string | undefined {
  if (statSync(filePath, { throwIfNoEntry: false }) === undefined) return "is not there";
  const missing = missingTables(filePath);
  return missing.length === 0 ? undefined : `is empty: it has no table ${missing.join(", ")}`;
}

function missingTables(filePath: string): readonly string[] {
  const file = new Sqlite(filePath, { readonly: true });
  try {
    return missingIn((name) => file.prepare(HAS_TABLE).get(name) !== undefined);
  } finally {
    file.close();
  }
}

const HAS_TABLE = "select 1 from sqlite_schema where type = 'table' and name = ?";

/** Returns the tables of every Parley database that this one lacks. */
export function missingIn(hasTable: (name: string) => boolean): readonly string[] {
  return TABLES.filter((name) => !hasTable(name));
}
