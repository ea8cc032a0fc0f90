import { Sqlite, SqliteError } from "../sqlite-library.js";

export interface HeldFile {
  close(): void;
}

/**
 * Holds a file, which is made when it is not there, until it is closed or the process dies. Undefined when somebody else
 * holds it. A database is the one portable lock that Node has.
 */
export function holdFile(path: string): HeldFile | undefined {
  const file = new Sqlite(path, { timeout: 0 });
  try {
    file.exec("BEGIN EXCLUSIVE");
    return file;
  } catch (error) {
    file.close();
    if (!(error instanceof SqliteError) || !error.code.startsWith("SQLITE_BUSY")) throw error;
    return undefined;
  }
}
