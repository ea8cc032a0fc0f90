import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Database, openDatabase } from "../../storage/database.js";

/** One folder for all tests of a file; when the process ends, whatever was open in it is closed. */
const folder = mkdtempSync(join(tmpdir(), "parley-storage-"));
process.once("exit", () => rmSync(folder, { recursive: true }));

let fileCount = 0;

/** A path for a database, in a folder of its own that does not exist yet. */
export function temporaryFile(): string {
  fileCount += 1;
  return join(folder, String(fileCount), "parley.db");
}

/** The real thread on a real file, closed after the test; a failure of storage fails the test. */
export async function temporaryDatabase(
  context: TestContext,
  filePath = temporaryFile(),
): Promise<Database> {
  const database = await openDatabase({ filePath, onFailure: rethrow });
  context.after(() => database.close());
  return database;
}

function rethrow(error: Error): void {
  throw error;
}
