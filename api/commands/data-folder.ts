import { existsSync } from "node:fs";
import { join } from "node:path";
import { DATABASE_FILE, readConfig } from "../../config.js";
import { type Database, openDatabase } from "../../storage/database.js";
import type { RecordingsPlace } from "../start-up/recordings-bucket.js";
import { CommandError } from "./command-error.js";

/** A command does one thing at a time, so one reader is enough. */
const COMMAND_CONNECTIONS_MAX = 2;

/** The settings of the server's configuration that commands need. */
export interface CommandSettings extends RecordingsPlace {
  readonly dataDir: string;
  /** The PostgreSQL database that replaces the file in `dataDir`. */
  readonly databaseUrl?: string | undefined;
  readonly port: number;
  readonly isProduction?: boolean;
  /** Signs the webhooks that a telephone call over Twilio sends to the server. */
  readonly twilio?: { readonly authToken: string | undefined };
  /** Used by the commands about credentials. */
  readonly encryptionKey?: string | undefined;
  readonly encryptionKeysOld?: readonly string[];
}

/**
 * Reads the same sources as the server: `.env`, then the environment. Does not require the secrets that a production
 * server requires, since few commands sign or decrypt anything. Throws a ConfigError.
 */
export function readCommandSettings(): CommandSettings {
  const config = readConfig("optional");
  // Commands run rarely and do not need a connection pooler.
  return { ...config, databaseUrl: config.databaseSessionUrl ?? config.databaseUrl };
}

export function databaseFileOf(dataDir: string): string {
  return join(dataDir, DATABASE_FILE);
}

/** Opens the database of a server that may be running. Throws a CommandError if there is none yet. */
export async function openExistingDatabase(settings: CommandSettings): Promise<Database> {
  const { dataDir, databaseUrl: url } = settings;
  if (url === undefined) {
    return openDatabase({ filePath: existingDatabaseFile(dataDir), mustExist: true });
  }
  return openDatabase({ ...postgresOf(dataDir, url), mustExist: true });
}

/** Creates the database with its tables if there is none yet. */
export function openAnyDatabase({ dataDir, databaseUrl }: CommandSettings): Promise<Database> {
  if (databaseUrl === undefined) return openDatabase({ filePath: databaseFileOf(dataDir) });
  return openDatabase(postgresOf(dataDir, databaseUrl));
}

function postgresOf(dataDir: string, url: string) {
  return { filePath: databaseFileOf(dataDir), url, connectionsMax: COMMAND_CONNECTIONS_MAX };
}

/** Throws a CommandError if there is no database yet. */
export function existingDatabaseFile(dataDir: string): string {
  const filePath = databaseFileOf(dataDir);
  if (existsSync(filePath)) return filePath;
  throw new CommandError(
    `there is no database ${filePath}: start the server once (npm start), or set DATA_DIR to its folder`,
  );
}
