import { copyFile, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../docs/pages.js";

/** Nothing that a page says writes there; copying the build took a second of CPU for each page. */
const NOT_WRITTEN = ["dist", "node_modules"];

/** A folder in which the commands of package.json work as in a fresh clone: no data, no `.env`. */
export async function copyProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-docs-"));
  await copyFile(join(ROOT, "package.json"), join(folder, "package.json"));
  for (const name of NOT_WRITTEN) await symlink(join(ROOT, name), join(folder, name));
  return folder;
}

export async function removeCopy(folder: string): Promise<void> {
  await rm(folder, { recursive: true });
}
