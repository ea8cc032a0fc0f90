import { execFile, execFileSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Aftermath, holdLock } from "./lock-holder.js";

const SIZE = "8m";
const BLOCK = Buffer.alloc(4096, 1);

/** A disk that a test can fill to the last block, and empty again. */
export interface SmallDisk {
  readonly folder: string;
  /** False if only a lock imitates a full disk. */
  readonly isReal: boolean;
  /** Makes further writes to this database fail. */
  fill(databasePath: string): Promise<void>;
  free(): Promise<void>;
}

/**
 * A real disk of 8 MiB, in memory. If this account may not mount one, a folder whose database another process keeps
 * locked: that refuses writes too, though with another message.
 */
export async function smallDisk(context: Aftermath): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), "parley-disk-"));
  if (!isMounted(folder)) return lockedFolder(context, folder);
  context.after(async () => {
    await promisify(execFile)("umount", ["--lazy", folder]);
    await rm(folder, { recursive: true });
  });
  const ballast = join(folder, "ballast");
  return {
    folder,
    isReal: true,
    fill: () => Promise.resolve(writeUntilFull(ballast)),
    free: () => Promise.resolve(rmSync(ballast)),
  };
}

function isMounted(folder: string): boolean {
  try {
    const options = ["-t", "tmpfs", "-o", `size=${SIZE},mode=0700`, "tmpfs", folder];
    execFileSync("mount", options, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function writeUntilFull(path: string): void {
  const file = openSync(path, "w");
  try {
    for (;;) writeSync(file, BLOCK);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  } finally {
    closeSync(file);
  }
}

function lockedFolder(context: Aftermath, folder: string): SmallDisk {
  context.after(() => rm(folder, { recursive: true }));
  let letGo = () => Promise.resolve();
  return {
    folder,
    isReal: false,
    fill: async (databasePath) => {
      letGo = await holdLock(context, databasePath);
    },
    free: () => letGo(),
  };
}
