import { once } from "node:events";
import { existsSync, watch } from "node:fs";
import { join } from "node:path";
import { WAIT_MAX_MS } from "./in-time.js";

/** Resolves with the first result that is not undefined; checks again whenever something changes in the folder. */
export async function whenFolderChanges<Value>(
  folder: string,
  what: string,
  look: () => Value | undefined,
): Promise<Value> {
  const watcher = watch(folder);
  const signal = AbortSignal.timeout(WAIT_MAX_MS);
  try {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      await once(watcher, "change", { signal });
    }
  } catch (error) {
    throw signal.aborted ? new Error(`timed out while waiting for ${what}`) : error;
  } finally {
    watcher.close();
  }
}

/** Resolves when a file or folder exists, or no longer exists. */
export function untilThere(folder: string, name: string, isThere = true): Promise<true> {
  const path = join(folder, name);
  return whenFolderChanges(folder, `${path} ${isThere ? "" : "to go"}`, () =>
    existsSync(path) === isThere ? true : undefined,
  );
}
