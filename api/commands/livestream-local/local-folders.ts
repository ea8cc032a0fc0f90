import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError } from "../command-error.js";

export const FOLDER_PREFIX = "parley-livestream-";

/**
 * A user without privileges. If root starts the command, the nginx workers that face the network run as one of these.
 */
const QUIET_USERS = ["www-data", "nobody"];

export interface LocalFolders {
  /** The folder that contains all others. */
  readonly root: string;
  readonly front: string;
  readonly ingest: string;
  readonly hls: string;
  readonly run: string;
  readonly site: string;
  /** The user that nginx's workers and ffmpeg run as. */
  readonly user: string;
  /** The user and group ids. Undefined if they are those of this process. */
  readonly ids: readonly [user: number, group: number] | undefined;
}

const BUILT_SITE = fileURLToPath(new URL("../../../site", import.meta.url));

/**
 * Creates new folders under the system's temporary folder. Files for nginx's workers are copied there, since other
 * users often cannot read a home folder.
 */
export function makeLocalFolders(): LocalFolders {
  if (!existsSync(join(BUILT_SITE, "index.html"))) {
    throw new CommandError(`there is no viewer page in ${BUILT_SITE}: run npm run build`);
  }
  const root = mkdtempSync(join(tmpdir(), FOLDER_PREFIX));
  chmodSync(root, 0o755);
  const folder = (name: string) => join(root, name);
  for (const name of ["front", "ingest", "hls", "run"]) {
    mkdirSync(folder(name));
    chmodSync(folder(name), 0o755);
  }
  cpSync(BUILT_SITE, folder("site"), { recursive: true });
  openToAll(folder("site"));
  const user = quietUser();
  if (user.ids !== undefined) {
    chownSync(folder("hls"), ...user.ids);
  }
  return {
    root,
    front: folder("front"),
    ingest: folder("ingest"),
    hls: folder("hls"),
    run: folder("run"),
    site: folder("site"),
    user: user.name,
    ids: user.ids,
  };
}

export function removeLocalFolders({ root }: LocalFolders): void {
  rmSync(root, { recursive: true, force: true });
}

/** `ids`: user and group. Only root can change a folder's owner, and only root needs to. */
function quietUser(): { readonly name: string; readonly ids?: readonly [number, number] } {
  if (process.getuid?.() !== 0) return { name: userInfo().username };
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of QUIET_USERS) {
    const [, , user, group] = lines.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
    if (user !== undefined && group !== undefined)
      return { name, ids: [Number(user), Number(group)] };
  }
  throw new CommandError(`expected a user ${QUIET_USERS.join(" or ")}, or not to be run by root`);
}

function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const isRunnable = entry.isDirectory() || (statSync(path).mode & 0o100) !== 0;
    chmodSync(path, isRunnable ? 0o755 : 0o644);
  }
}
