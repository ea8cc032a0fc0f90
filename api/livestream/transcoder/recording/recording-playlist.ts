import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const PLAYLIST_FILE = "index.m3u8";

/** One piece of a playlist; its name is a number and `.ts`. */
export interface Segment {
  readonly name: string;
  readonly durationSec: number;
  /** Its content does not continue the segment before it. */
  readonly isDiscontinuous: boolean;
}

const END = "#EXT-X-ENDLIST";
const DISCONTINUITY = "#EXT-X-DISCONTINUITY";
const LENGTH = /^#EXTINF:([\d.]+),/;
const NAME = /^\d+\.ts$/;
/** While it grows, players use it as their polling interval. A finished playlist contains the true value. */
const GROWING_TARGET_SEC = 10;

/** The segments of a playlist; lines that belong to none, or are incomplete, are skipped. */
export function readSegments(lines: readonly string[]): readonly Segment[] {
  const segments: Segment[] = [];
  let durationSec: number | undefined;
  let isDiscontinuous = false;
  for (const line of lines) {
    const [, length] = LENGTH.exec(line) ?? [];
    if (length !== undefined) durationSec = Number(length);
    else if (line === DISCONTINUITY) isDiscontinuous = true;
    else if (NAME.test(line) && durationSec !== undefined) {
      segments.push({ name: line, durationSec, isDiscontinuous });
      durationSec = undefined;
      isDiscontinuous = false;
    }
  }
  return segments;
}

/** The beginning of a growing playlist. */
export function growingHead(): string {
  return headOf(GROWING_TARGET_SEC, "EVENT");
}

export function segmentText({ name, durationSec, isDiscontinuous }: Segment): string {
  const before = isDiscontinuous ? `${DISCONTINUITY}\n` : "";
  return `${before}#EXTINF:${durationSec.toFixed(6)},\n${name}\n`;
}

/** The segments of a recording; empty if there is no playlist. */
export async function recordedSegments(folder: string): Promise<readonly Segment[]> {
  return readSegments((await playlistText(folder)).split("\n"));
}

/** Completes the playlist of a recording: adds its end, and its true target duration. */
export async function endPlaylist(folder: string): Promise<void> {
  const text = await playlistText(folder);
  if (text === "" || text.includes(END)) return;
  await writeEndedPlaylist(folder, readSegments(text.split("\n")));
}

/** Replaces the playlist by a complete one with these segments. */
export async function writeEndedPlaylist(
  folder: string,
  segments: readonly Segment[],
): Promise<void> {
  const longestSec = segments.reduce((sec, { durationSec }) => Math.max(sec, durationSec), 1);
  const head = headOf(Math.ceil(longestSec), "VOD");
  const path = join(folder, PLAYLIST_FILE);
  await writeFile(`${path}.tmp`, [head, ...segments.map(segmentText), `${END}\n`].join(""));
  await rename(`${path}.tmp`, path);
}

function headOf(targetSec: number, type: "EVENT" | "VOD"): string {
  return `#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:${targetSec}\n#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-PLAYLIST-TYPE:${type}\n`;
}

async function playlistText(folder: string): Promise<string> {
  try {
    return await readFile(join(folder, PLAYLIST_FILE), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}
