import { statSync } from "node:fs";
import { StorageUnavailableError } from "../statements/storage-error.js";
import { ServerClaim } from "./server-claim.js";
import { openSqliteFile, type SqliteFile } from "./sqlite-file.js";
import { Sqlite } from "./sqlite-library.js";

/** What a file is opened with. */
export interface FileSettings {
  readonly filePath: string;
  /** Refuses to start beside another server on the file. */
  readonly isServer?: boolean;
  /** Refuses a file that is not there, or has no tables. */
  readonly mustExist?: boolean;
}

export interface StoreFile {
  readonly file: SqliteFile;
  /** Held by a server for as long as it runs. */
  readonly claim: ServerClaim | undefined;
}

/**
 * Opens the database for a server, or for a command line beside it. Throws `StorageUnavailableError` where another server has
 * it, where it is not what was expected, and where a command line would bring it up to date under a server of before.
 */
export async function openStoreFile(settings: FileSettings): Promise<StoreFile> {
  const { filePath, isServer = false, mustExist = false } = settings;
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

/** Where a database was put back, or was there yesterday, a new one would only hide that it is gone. */
function requireTables(filePath: string, isServer: boolean): void {
  const lack = missingParts(filePath);
  if (lack === undefined) return;
  const advice = isServer
    ? "DATABASE_START says that there is one: put a whole copy there, look whether the disk of DATA_DIR is mounted, or leave DATABASE_START away to begin with a new one"
    : "start the server once (npm start), or put a whole copy there";
  throw new StorageUnavailableError(`the database ${filePath} ${lack}; ${advice}`);
}

/** Nobody brings a database up to date that a server runs on: it knows its own schema, and no other. */
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

/** Every release has these. */
const TABLES = ["organizations", "calls"];

/** What a file lacks that a database of Parley has, as the end of a sentence; undefined when it has everything. */
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

/** The tables that every database of Parley has, and this one has not. */
export function missingIn(hasTable: (name: string) => boolean): readonly string[] {
  return TABLES.filter((name) => !hasTable(name));
}
