import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { FolderOwner } from "../stream-folder.js";
import {
  PLAYLIST_FILE,
  recordedSegments,
  type Segment,
  writeEndedPlaylist,
} from "./recording-playlist.js";

/** ffmpeg keeps an MP4's index in memory: about 15 MB per hour. Longer recordings continue in another file. */
export const FILM_SEC_MAX = 12 * 3_600;
const FILM = /^film-(\d+)\.mp4$/;
const WORDS_MAX = 300;

export interface Mp4Remuxer {
  /** The user that ffmpeg runs as; undefined: this process's. */
  readonly owner: FolderOwner;
  /** The PATH in which ffmpeg is looked up. */
  readonly path: string;
}

/** Whether a recording's folder contains its MP4 or still its segments. */
export function isRemuxed(names: readonly string[]): boolean {
  return names.some((name) => FILM.test(name)) && !names.includes(PLAYLIST_FILE);
}

/**
 * Remuxes a finished recording to `film-1.mp4` without encoding, and then removes its playlist and segments;
 * further files if it is longer than FILM_SEC_MAX. An incomplete MP4 changes nothing. Rejects with ffmpeg's
 * message.
 */
export async function remuxToMp4(folder: string, maker: Mp4Remuxer): Promise<void> {
  const names = await readdir(folder);
  for (const name of names) if (name.endsWith(".tmp")) await rm(join(folder, name));
  // A broadcast may have continued after its MP4 was made.
  let number = Math.max(0, ...names.map((name) => Number(FILM.exec(name)?.[1] ?? 0)));
  const parts = partsOf(await recordedSegments(folder));
  for (const [index, part] of parts.entries()) {
    number += 1;
    const name = join(folder, `film-${number}.mp4`);
    const file = await open(`${name}.tmp`, "w", 0o640);
    try {
      await copyInto(file, folder, part, maker);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${name}.tmp`, name);
    // If a later part fails, or this process is killed, finished MP4s are not made again.
    await writeEndedPlaylist(folder, parts.slice(index + 1).flat());
    for (const { name: remuxed } of part) await rm(join(folder, remuxed), { force: true });
  }
  // First the playlist, which marks a recording without an MP4.
  await rm(join(folder, PLAYLIST_FILE), { force: true });
  for (const name of await readdir(folder)) if (!FILM.test(name)) await rm(join(folder, name));
}

function partsOf(segments: readonly Segment[]): readonly (readonly Segment[])[] {
  const parts: Segment[][] = [];
  let lengthSec = FILM_SEC_MAX;
  for (const segment of segments) {
    if (lengthSec + segment.durationSec > FILM_SEC_MAX) {
      parts.push([]);
      lengthSec = 0;
    }
    parts.at(-1)?.push(segment);
    lengthSec += segment.durationSec;
  }
  return parts;
}

/** ffmpeg gets the two files and nothing else: it parses broadcasters' data, so it must not open any other file. */
async function copyInto(
  file: FileHandle,
  folder: string,
  segments: readonly Segment[],
  { owner: { userId, groupId }, path }: Mp4Remuxer,
): Promise<void> {
  const ids = userId === undefined || groupId === undefined ? {} : { uid: userId, gid: groupId };
  if (userId !== undefined && groupId !== undefined) await file.chown(userId, groupId);
  const command = ["--pdeathsig", "KILL", "nice", "-n", "10", "ffmpeg"];
  const input = ["-nostdin", "-v", "error", "-y", "-f", "mpegts", "-i", "pipe:0"];
  const output = ["-map", "0", "-c", "copy", "-movflags", "+faststart", "-f", "mp4"];
  const child = spawn("setpriv", [...command, ...input, ...output, "/proc/self/fd/3"], {
    stdio: ["pipe", "ignore", "pipe", file.fd],
    env: { PATH: path },
    ...ids,
  });
  const { stdin, stderr } = child;
  if (stdin === null || stderr === null) throw new Error("ffmpeg has no pipes");
  let words = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    words = `${words}${text}`.slice(0, WORDS_MAX);
  });
  const exited = once(child, "exit");
  const fed = pipeline(joined(folder, segments), stdin).catch((error: unknown) => error);
  const [status] = await exited;
  const fault = await fed;
  if (status !== 0) throw new Error(`ffmpeg ended with ${String(status)}: ${words.trim()}`);
  if (fault instanceof Error) throw fault;
}

async function* joined(folder: string, segments: readonly Segment[]): AsyncGenerator<Buffer> {
  for (const { name } of segments) yield* createReadStream(join(folder, name));
}
