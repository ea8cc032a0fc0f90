import { accessSync, constants, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { faultCodeOf } from "../statements/fault.js";

const MIB = 1024 * 1024;
const READ_WRITE = constants.R_OK | constants.W_OK;
const RESTORE = "move it away with its -wal and -shm files, and put a backup in its place";
const FULL_DISK: ReadonlySet<string> = new Set(["SQLITE_FULL", "ENOSPC", "EDQUOT"]);
/**
 * The files of SQLite and the server next to the database; if another account owns one, that is as bad as for the
 * database itself.
 */
const SIDE_FILES = ["", "-wal", "-shm", ".lock"];

/** An error of SQLite or the operating system, with its code: `SQLITE_FULL`, `EACCES`. */
export interface NamedFault {
  readonly code: string;
  readonly message: string;
}

/** The file, why it cannot be used, and what an operator can do about it, in one line. */
export function storageAdvice(filePath: string, { code, message }: NamedFault): string {
  if (code === "SQLITE_NOTADB") {
    return `the database ${filePath} is not a SQLite database, or was overwritten: ${RESTORE}`;
  }
  if (code.startsWith("SQLITE_CORRUPT")) {
    return `the database ${filePath} is damaged or was cut off (${message}): ${RESTORE}, or save what can be read with SQLite's .recover`;
  }
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    return `the database ${filePath} is locked: another program has been writing to it for seconds; end that one, then start again`;
  }
  if (FULL_DISK.has(code)) {
    return `the disk of ${filePath} is full${freeBytesOn(filePath)}: make room, then start again`;
  }
  return placeAdvice(filePath) ?? `${filePath} cannot be used: ${message} (${code})`;
}

/** SQLite has the same few codes for all problems around a file, so its folder is checked. */
function placeAdvice(filePath: string): string | undefined {
  const folder = dirname(filePath);
  if (kindOf(folder) === "file") {
    return `${folder} is a file, and should be a folder: move it away, or set DATA_DIR`;
  }
  const folderRefusal = refusalOf(folder, READ_WRITE | constants.X_OK);
  if (folderRefusal !== undefined) return `the folder ${folder} ${folderRefusal}`;
  for (const path of SIDE_FILES.map((ending) => `${filePath}${ending}`)) {
    const kind = kindOf(path);
    if (kind === "folder") return `${path} is a folder, and should be a file: move it away`;
    const refusal = kind === "file" ? refusalOf(path) : undefined;
    if (refusal !== undefined) return `${path} ${refusal}`;
  }
  return undefined;
}

function kindOf(path: string): "file" | "folder" | undefined {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch {
    return undefined;
  }
}

/** Returns undefined if this process may read and write it. */
function refusalOf(path: string, mode = READ_WRITE): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    switch (faultCodeOf(error).code) {
      case "EROFS":
        return "is on a file system that is mounted read-only: mount it for writing, or set DATA_DIR";
      case "ENOENT":
        return "is not there and cannot be made: make it, or set DATA_DIR";
      default:
        return `may not be read and written by the account that this runs under (uid ${process.getuid?.() ?? "unknown"}): give that account the data folder with all that is in it (chown -R)`;
    }
  }
}

function freeBytesOn(filePath: string): string {
  try {
    const { bavail, bsize } = statfsSync(dirname(filePath));
    return ` (${Math.floor((bavail * bsize) / MIB)} MiB left)`;
  } catch {
    return "";
  }
}
