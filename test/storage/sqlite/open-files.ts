import { existsSync, readdirSync, readlinkSync } from "node:fs";

const FILES = "/proc/self/fd";

/** Lists the open files of this process below the folder; only Linux supports this. */
export function openFilesIn(folder: string): readonly string[] {
  if (!existsSync(FILES)) return [];
  return readdirSync(FILES)
    .map(target)
    .filter((path) => path.startsWith(folder));
}

/** The descriptor that reads the list is closed by now. */
function target(number: string): string {
  try {
    return readlinkSync(`${FILES}/${number}`);
  } catch {
    return "";
  }
}
