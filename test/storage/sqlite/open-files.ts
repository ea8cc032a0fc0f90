import { existsSync, readdirSync, readlinkSync } from "node:fs";

const FILES = "/proc/self/fd";

/** The files of this process that are open below the folder; only Linux says. */
export function openFilesIn(folder: string): readonly string[] {
  if (!existsSync(FILES)) return [];
  return readdirSync(FILES)
    .map(target)
    .filter((path) => path.startsWith(folder));
}

/** The one with which the list is read is closed by now. */
function target(number: string): string {
  try {
    return readlinkSync(`${FILES}/${number}`);
  } catch {
    return "";
  }
}
