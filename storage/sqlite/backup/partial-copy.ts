import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type HeldFile, holdFile } from "../watch/held-file.js";

const MARK = ".partial-";
/** What is added to a file's name: the mark, then six characters of `mkdtemp`. */
const NAME = /\.partial-[A-Za-z0-9]{6}$/;
const COPY = "copy.db";
const LOCK = "copy.lock";
/** What a copy that was begun can consist of. */
const PARTS: ReadonlySet<string> = new Set(
  [COPY, LOCK].flatMap((name) => ["", "-journal", "-wal", "-shm"].map((end) => `${name}${end}`)),
);

/**
 * A younger folder without a copy may belong to a process that does not hold its lock yet. One with lock and copy was held: where
 * the lock is free, its process is dead, however young it is.
 */
const AGE_MIN_MS = 60_000;

/** A copy that is not whole yet, in a folder beside its later place. The system says when the process that made it died. */
export class PartialCopy {
  readonly path: string;
  readonly #folder: string;
  readonly #lock: HeldFile | undefined;

  /** Removes what killed processes have left in the same place. */
  static async create(targetPath: string): Promise<PartialCopy> {
    const folder = await mkdtemp(`${targetPath}${MARK}`);
    const partial = new PartialCopy(folder, holdFile(join(folder, LOCK)));
    // By the clock of the disk that both are on.
    const { mtimeMs } = await stat(folder);
    await removeDead(dirname(targetPath), mtimeMs - AGE_MIN_MS);
    return partial;
  }

  private constructor(folder: string, lock: HeldFile | undefined) {
    this.path = join(folder, COPY);
    this.#folder = folder;
    this.#lock = lock;
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true });
    this.#lock?.close();
  }
}

async function removeDead(folder: string, madeBeforeMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (!NAME.test(name)) continue;
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) await removeIfDead(path, found.mtimeMs < madeBeforeMs);
  }
}

/** Nothing but what a backup makes is removed, and nothing that a process is still at work on. */
async function removeIfDead(folder: string, isOld: boolean): Promise<void> {
  const names = await readdir(folder).catch(() => [basename(folder)]);
  if (!names.every((name) => PARTS.has(name))) return;
  if (!isOld && !(names.includes(COPY) && names.includes(LOCK))) return;
  const lock = holdIfThere(folder);
  if (lock === undefined) return;
  await rm(folder, { recursive: true, force: true });
  lock.close();
}

/** Undefined also for a folder that its own process has removed by now. */
function holdIfThere(folder: string): HeldFile | undefined {
  try {
    return holdFile(join(folder, LOCK));
  } catch {
    return undefined;
  }
}
