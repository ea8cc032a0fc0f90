import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates the folder and its missing parents. Throws the error of the operating system. Node's own recursive mkdir
 * retries forever if a parent exists and accepts no folder (`/proc`): a start would hang without a message.
 */
export function makeDataFolder(path: string): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) makeDataFolder(above);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have created it at the same time.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
