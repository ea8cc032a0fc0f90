// Synchronous: the files are small and mostly cached, and an ended stream must not wait for a queue of reads.
import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { STREAM_KEY } from "../webhook-form.js";
import type { RecordedRung } from "./recording/recording.js";
import { readSegments } from "./recording/recording-playlist.js";

/** A playlist names six segments, and three more are kept for slow players. */
const SEGMENTS_KEPT = 12;
/**
 * Names increase by two a second while segments arrive at most about once a second, so that no name of a key is
 * used twice.
 */
const NAMES_PER_SEC = 2;
const NAMES_BEGIN_SEC = 1_700_000_000;

export interface FolderOwner {
  readonly userId: number | undefined;
  readonly groupId: number | undefined;
}

/** The files of one stream. */
export class StreamFolder {
  readonly path: string;
  readonly #owner: FolderOwner;

  constructor(hlsRoot: string, streamKey: string, owner: FolderOwner) {
    this.path = join(hlsRoot, streamKey);
    this.#owner = owner;
  }

  /** Empties it, so that nothing of an earlier stream is taken for this one. */
  clear(): void {
    this.remove();
    mkdirSync(this.path, { recursive: true, mode: 0o755 });
    const { userId, groupId } = this.#owner;
    if (userId !== undefined && groupId !== undefined) chownSync(this.path, userId, groupId);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 3 });
  }

  get hasMaster(): boolean {
    return sizeOf(join(this.path, "master.m3u8")) > 0;
  }

  /** The newest segment of each rendition; undefined while a rendition has none, or an empty one. */
  newest(rungs: readonly string[]): ReadonlyMap<string, string> | undefined {
    const found = new Map<string, string>();
    for (const rung of rungs) {
      const segment = this.#lines(rung).findLast((line) => line !== "" && !line.startsWith("#"));
      if (segment === undefined || sizeOf(join(this.path, rung, segment)) === 0) return undefined;
      found.set(rung, segment);
    }
    return found;
  }

  /** The part of a rendition that can be recorded. */
  recordable(rung: string): RecordedRung {
    return { folder: join(this.path, rung), segments: readSegments(this.#lines(rung)) };
  }

  /** The first segment that the rendition's playlist names; undefined if there is no playlist. */
  mediaSequence(rung: string): number | undefined {
    const prefix = "#EXT-X-MEDIA-SEQUENCE:";
    const line = this.#lines(rung).find((text) => text.startsWith(prefix));
    return line === undefined ? undefined : Number(line.slice(prefix.length));
  }

  /** A number for segments that no earlier one of the key had. */
  static freshNumber(nowEpochMs: number): number {
    return Math.floor(nowEpochMs / 1_000 - NAMES_BEGIN_SEC) * NAMES_PER_SEC;
  }

  /** Removes files of a killed ffmpeg that no playlist names. */
  dropLeftovers(): void {
    for (const entry of readdirSync(this.path, { withFileTypes: true })) {
      if (entry.isDirectory()) this.#dropLeftovers(entry.name);
      else if (entry.name.endsWith(".tmp")) rmSync(join(this.path, entry.name), { force: true });
    }
  }

  /** Removes the renditions that are no longer produced, once the master does not name them. True if none is left. */
  dropRungsExcept(rungs: readonly string[]): boolean {
    const named = new Set(this.#masterRungs());
    const left = readdirSync(this.path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !rungs.includes(entry.name))
      .map(({ name }) => name);
    for (const rung of left) {
      if (!named.has(rung)) rmSync(join(this.path, rung), { recursive: true, force: true });
    }
    return left.every((rung) => !named.has(rung));
  }

  /** Marks the playlists as complete for players. ffmpeg does not, because its end may be a restart. */
  end(): void {
    for (const rung of readEntries(this.path)) {
      const text = this.#lines(rung).join("\n");
      if (text === "" || text.includes("#EXT-X-ENDLIST")) continue;
      const path = join(this.path, rung, "index.m3u8");
      // ffmpeg rounds the length of the longest segment, and a short one may be the only one.
      const valid = text.replace("#EXT-X-TARGETDURATION:0\n", "#EXT-X-TARGETDURATION:1\n");
      writeFileSync(`${path}.tmp`, `${valid}#EXT-X-ENDLIST\n`, { mode: 0o644 });
      renameSync(`${path}.tmp`, path);
    }
  }

  #masterRungs(): readonly string[] {
    const playlist = /^([^/#]+)\/index\.m3u8$/;
    return linesOf(join(this.path, "master.m3u8")).flatMap(
      (line) => playlist.exec(line)?.[1] ?? [],
    );
  }

  #dropLeftovers(rung: string): void {
    const folder = join(this.path, rung);
    const names = readEntries(folder);
    const segments = names.filter((name) => name.endsWith(".ts"));
    const newestFirst = segments.sort(
      (one, other) => Number.parseInt(other, 10) - Number.parseInt(one, 10),
    );
    const leftovers = [
      ...names.filter((name) => name.endsWith(".tmp")),
      ...newestFirst.slice(SEGMENTS_KEPT),
    ];
    for (const name of leftovers) rmSync(join(folder, name), { force: true });
  }

  #lines(rung: string): readonly string[] {
    return linesOf(join(this.path, rung, "index.m3u8"));
  }
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    return [];
  }
}

/** The streams that have a folder; folders with other names are not ours. */
export function leftoverFolders(hlsRoot: string): readonly string[] {
  return readdirSync(hlsRoot, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && STREAM_KEY.test(entry.name))
    .map(({ name }) => name);
}

/** An unreadable response counts as free space: stalls are detected too. */
export function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function readEntries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
