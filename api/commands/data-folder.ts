import { existsSync } from "node:fs";
import { join } from "node:path";
import { DATABASE_FILE, readConfig } from "../../config.js";
import { type Database, openDatabase } from "../../storage/database.js";
import type { RecordingsPlace } from "../start-up/recordings-bucket.js";
import { CommandError } from "./command-error.js";

/** A command line does one thing after the other. */
const COMMAND_CONNECTIONS_MAX = 2;

/** What commands need of the server's configuration. */
export interface CommandSettings extends RecordingsPlace {
  readonly dataDir: string;
  /** PostgreSQL in place of the file in `dataDir`. */
  readonly databaseUrl?: string | undefined;
  readonly port: number;
  readonly isProduction?: boolean;
  /** Signs what a telephone call over Twilio asks of the server. */
  readonly twilio?: { readonly authToken: string | undefined };
  /** For the commands about credentials. */
  readonly encryptionKey?: string | undefined;
  readonly encryptionKeysOld?: readonly string[];
}

/**
 * From the same places as the server's: `.env`, then the environment. Hardly a command signs or opens anything, so they do not
 * ask for the secrets that production demands of the server. Throws a ConfigError.
 */
export function readCommandSettings(): CommandSettings {
  const config = readConfig("optional");
  // Commands are seldom, and need no pooler.
  return { ...config, databaseUrl: config.databaseSessionUrl ?? config.databaseUrl };
}

export function databaseFileOf(dataDir: string): string {
  return join(dataDir, DATABASE_FILE);
}

/** The store of a server that may be running; CommandError when there is none yet. */
export async function openExistingDatabase(settings: CommandSettings): Promise<Database> {
  const { dataDir, databaseUrl: url } = settings;
  if (url === undefined) {
    return openDatabase({ filePath: existingDatabaseFile(dataDir), mustExist: true });
  }
  return openDatabase({ ...postgresOf(dataDir, url), mustExist: true });
}

/** Made with its tables where there is none yet. */
export function openAnyDatabase({ dataDir, databaseUrl }: CommandSettings): Promise<Database> {
  if (databaseUrl === undefined) return openDatabase({ filePath: databaseFileOf(dataDir) });
  return openDatabase(postgresOf(dataDir, databaseUrl));
}

function postgresOf(dataDir: string, url: string) {
  return { filePath: databaseFileOf(dataDir), url, connectionsMax: COMMAND_CONNECTIONS_MAX };
}

/** CommandError when there is none yet. */
export function existingDatabaseFile(dataDir: string): string {
  const filePath = databaseFileOf(dataDir);
  if (existsSync(filePath)) return filePath;
  throw new CommandError(
    `there is no database ${filePath}: start the server once (npm start), or set DATA_DIR to its folder`,
  );
}
