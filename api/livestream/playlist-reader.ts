import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { join } from "node:path";
import { parseMasterPlaylist } from "./master-playlist.js";
import type { StreamFiles } from "./stream-registry.js";

/** What the list shows of a stream, in its folder: one small picture, written anew in place. */
export const THUMBNAIL_FILE = "thumbnail.jpg";
/** Some hundreds of bytes are usual. */
export const PLAYLIST_BYTES_MAX = 64 * 1024;
/** Neither a link out of the folder nor a pipe that nobody writes to may be followed. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What a folder held when it was read; `version` changes with the playlist. */
export interface PlaylistReading extends StreamFiles {
  readonly version: string;
}
type MasterReading = Pick<PlaylistReading, "version" | "qualities">;

const NO_PLAYLIST: PlaylistReading = { version: "", qualities: [], hasThumbnail: false };

/**
 * Reads `hlsRoot/<streamKey>/master.m3u8`, unless it is the version that is known already. The key is one that a webhook has
 * accepted, so it cannot name another folder. A file that is missing, too large or none tells of no qualities; rejects
 * when the system fails otherwise.
 */
export async function readPlaylist(
  hlsRoot: string,
  streamKey: string,
  known: PlaylistReading | undefined,
): Promise<PlaylistReading> {
  const folder = join(hlsRoot, streamKey);
  try {
    if (!(await lstat(folder)).isDirectory()) return NO_PLAYLIST;
    const file = await open(join(folder, "master.m3u8"), OPEN_FLAGS);
    try {
      const master = await readOpened(file, known);
      return { ...master, hasThumbnail: await isFile(join(folder, THUMBNAIL_FILE)) };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isAbsence(error)) return NO_PLAYLIST;
    throw error;
  }
}

async function readOpened(
  file: FileHandle,
  known: MasterReading | undefined,
): Promise<MasterReading> {
  const stat = await file.stat();
  const { mtimeMs, size, ino } = stat;
  const version = `${mtimeMs} ${size} ${ino}`;
  if (known?.version === version) return known;
  if (!stat.isFile() || size > PLAYLIST_BYTES_MAX) return { version, qualities: [] };
  const buffer = Buffer.alloc(size);
  const { bytesRead } = await file.read(buffer, 0, size, 0);
  return { version, qualities: parseMasterPlaylist(buffer.toString("utf8", 0, bytesRead)) };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isFile();
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

/** No such file; a file for a folder; a link, a folder or a socket for a file. */
const ABSENCE: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EISDIR", "ENXIO"]);

function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && ABSENCE.has(error.code);
}
