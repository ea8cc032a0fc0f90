import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes the folder and those above it that are missing. Throws the error of the operating system. Node's own recursive mkdir tries
 * for ever where a folder above is there and takes none (`/proc`): there, a start would stand still without a word.
 */
export function makeDataFolder(path: string): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) makeDataFolder(above);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process of the same start may have been quicker.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
