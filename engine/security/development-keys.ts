import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { writtenText } from "../settings.js";

const KEYS_FILE = "keys.json";

const Keys = v.object({
  jwtSecret: v.pipe(v.string(), v.minLength(32)),
  encryptionKey: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/i)),
});

export interface GeneratedKeys {
  readonly jwtSecret: string;
  readonly encryptionKey: string;
  /** Whether the keys were made just now. */
  readonly isNew: boolean;
}

/**
 * The keys of an installation that was given none: made once, then kept beside the database, readable by its owner
 * only. Not for production: whoever copies the folder has the database and its keys. Throws when the file is not whole.
 */
export async function developmentKeys(dataDir: string): Promise<GeneratedKeys> {
  const stored = await storedDevelopmentKeys(dataDir);
  if (stored !== undefined) return { ...stored, isNew: false };
  const keys = {
    jwtSecret: randomBytes(32).toString("hex"),
    encryptionKey: randomBytes(32).toString("hex"),
  };
  await writeFile(join(dataDir, KEYS_FILE), `${JSON.stringify(keys, undefined, 2)}\n`, {
    mode: 0o600,
    flag: "wx",
  });
  return { ...keys, isNew: true };
}

/** The keys that were made for this folder; undefined when none were. Throws when the file is not whole. */
export async function storedDevelopmentKeys(
  dataDir: string,
): Promise<Omit<GeneratedKeys, "isNew"> | undefined> {
  const stored = await readIfThere(join(dataDir, KEYS_FILE));
  return stored === undefined ? undefined : v.parse(Keys, JSON.parse(stored));
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return writtenText(await readFile(path), path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
