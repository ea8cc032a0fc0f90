import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./pages.js";

const NOT_COPIED = new Set(["test", "bench"].map((name) => join(ROOT, "dist", name)));

/** A folder in which the commands of package.json work as in a fresh clone: no data, no `.env`. */
export async function copyProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-docs-"));
  await cp(join(ROOT, "package.json"), join(folder, "package.json"));
  await cp(join(ROOT, "dist"), join(folder, "dist"), {
    recursive: true,
    filter: (source) => !NOT_COPIED.has(source),
  });
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}

export async function removeCopy(folder: string): Promise<void> {
  await rm(folder, { recursive: true });
}
