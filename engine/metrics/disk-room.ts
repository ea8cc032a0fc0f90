import { statfs } from "node:fs/promises";

/** What a process without special rights may still write to the folder's disk; undefined where the system does not tell. */
export async function diskFreeBytes(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}
