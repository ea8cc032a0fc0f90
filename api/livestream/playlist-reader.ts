import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { join } from "node:path";
import type { Quality, StreamFiles } from "./stream-registry.js";

// Own code, since only two attributes of one tag are read, and none may lead out of the stream's folder.

/** More renditions than any ladder has. */
export const QUALITIES_MAX = 16;

const STREAM_LINE = "#EXT-X-STREAM-INF:";
/** `NAME=value` or `NAME="value"`; commas within quotes belong to the value. */
const ATTRIBUTE = /([A-Z0-9-]+)=(?:"([^"]*)"|([^",]*))/g;
const RESOLUTION = /^(\d{1,5})x(\d{1,5})$/;
const BANDWIDTH = /^\d{1,10}$/;
/** Within the stream's folder: no scheme, no slash in front, no segment that begins with a dot. */
const PATH = /^(?:[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}\/){0,3}[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$/;

/**
 * The renditions of a master playlist (RFC 8216), in its order. Unreadable lines are skipped: a player decides on
 * its own.
 */
export function parseMasterPlaylist(text: string): readonly Quality[] {
  const lines = text.split(/\r?\n/);
  const qualities: Quality[] = [];
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith(STREAM_LINE)) continue;
    const quality = qualityOf(line.slice(STREAM_LINE.length), lines[index + 1] ?? "");
    if (quality !== undefined) qualities.push(quality);
    if (qualities.length === QUALITIES_MAX) break;
  }
  return qualities;
}

function qualityOf(attributeText: string, path: string): Quality | undefined {
  const attributes = new Map(
    Array.from(attributeText.matchAll(ATTRIBUTE), ([, name = "", quoted, plain = ""]) => [
      name,
      quoted ?? plain,
    ]),
  );
  const bandwidth = attributes.get("BANDWIDTH") ?? "";
  if (!BANDWIDTH.test(bandwidth) || !PATH.test(path)) return undefined;
  const [, width = "0", height = "0"] = RESOLUTION.exec(attributes.get("RESOLUTION") ?? "") ?? [];
  const size = { width: Number(width), height: Number(height) };
  return { name: nameOf(path, size.height), ...size, bandwidth: Number(bandwidth), path };
}

/** The ladder keeps each rendition in a folder of its name. */
function nameOf(path: string, height: number): string {
  const folder = path.includes("/") ? path.split("/")[0] : undefined;
  return folder ?? (height === 0 ? "audio" : `${height}p`);
}

/** A stream's thumbnail in its folder: one small picture, overwritten in place. */
export const THUMBNAIL_FILE = "thumbnail.jpg";
/** Some hundreds of bytes are usual. */
export const PLAYLIST_BYTES_MAX = 64 * 1024;
/** Does not follow a link out of the folder, and does not block on a pipe without a writer. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The contents of a folder when it was read; `version` changes with the playlist. */
export interface PlaylistReading extends StreamFiles {
  readonly version: string;
}
type MasterReading = Pick<PlaylistReading, "version" | "qualities">;

const NO_PLAYLIST: PlaylistReading = { version: "", qualities: [], hasThumbnail: false };

/**
 * Reads `hlsRoot/<streamKey>/master.m3u8`, unless it is the known version. A webhook has validated the key, so it
 * cannot name another folder. A file that is missing, too large or invalid has no qualities; rejects if the system
 * fails otherwise.
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

/** No such file; a file instead of a folder; a link, a folder or a socket instead of a file. */
const ABSENCE: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EISDIR", "ENXIO"]);

function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && ABSENCE.has(error.code);
}
