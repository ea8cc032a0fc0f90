import { appendFile, copyFile, mkdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../../../engine/log.js";
import {
  endPlaylist,
  growingHead,
  PLAYLIST_FILE,
  recordedSegments,
  type Segment,
  segmentText,
} from "./recording-playlist.js";

/** One rendition of a broadcast, as it is on disk now. */
export interface RecordedRung {
  readonly folder: string;
  readonly segments: readonly Segment[];
}

/** Where a recording reserves its space. */
export interface RecordingSpace {
  /** Why this many more bytes are refused; undefined if there is room. */
  readonly refusal: (sizeBytes: number) => Promise<string | undefined>;
  readonly grew: (sizeBytes: number) => void;
  readonly ended: () => void;
}

/**
 * Records one broadcast: copies each segment of its best rendition as it arrives, and lists it in a playlist that
 * players can read at any time. Segments that cannot be written are skipped and logged; the broadcast itself
 * continues.
 */
export class Recording {
  readonly folder: string;
  readonly #streamKey: string;
  readonly #space: RecordingSpace;
  readonly #log: Logger;
  #taking: Promise<void> | undefined;
  #last: number | undefined;
  #lastRung: string | undefined;
  #playlistBytes: number | undefined;
  #problem: string | undefined;

  constructor(folder: string, streamKey: string, room: RecordingSpace, log: Logger) {
    this.folder = folder;
    this.#streamKey = streamKey;
    this.#space = room;
    this.#log = log;
  }

  /** Why nothing is recorded at the moment; undefined if it is recorded. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Call it more often than segments are deleted; a concurrent call does nothing. Never rejects. */
  take(rung: RecordedRung): Promise<void> {
    this.#taking ??= this.#copyNew(rung)
      .catch((error: unknown) =>
        this.#report(error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        this.#taking = undefined;
      });
    return this.#taking;
  }

  /** Copies the last segments; resolves when the playlist is complete. Never rejects. */
  async end(rung: RecordedRung): Promise<void> {
    await this.#taking;
    await this.take(rung);
    try {
      await endPlaylist(this.folder);
    } catch (error) {
      this.#log.error({ streamKey: this.#streamKey, error }, "finalizing an unfinished recording");
    }
    this.#space.ended();
  }

  async #copyNew(rung: RecordedRung): Promise<void> {
    if (this.#playlistBytes === undefined) await this.#open();
    for (const segment of rung.segments) {
      const number = Number.parseInt(segment.name, 10);
      if (this.#last !== undefined && number <= this.#last) continue;
      if (!(await this.#copy(rung.folder, segment, number))) return;
    }
  }

  /** Continues a killed transcoder's recording of the same broadcast. */
  async #open(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o750 });
    const path = join(this.folder, PLAYLIST_FILE);
    const newest = (await recordedSegments(this.folder)).at(-1);
    if (newest === undefined) await writeFile(path, growingHead());
    else this.#last = Number.parseInt(newest.name, 10);
    this.#playlistBytes = (await stat(path)).size;
  }

  /** False if the others should wait, too. */
  async #copy(from: string, segment: Segment, number: number): Promise<boolean> {
    const source = join(from, segment.name);
    const target = join(this.folder, segment.name);
    const sizeBytes = await sizeOf(source);
    // Deleted before it could be copied: a gap.
    if (sizeBytes === 0) return true;
    const refusal = await this.#space.refusal(sizeBytes);
    if (refusal !== undefined) {
      this.#report(refusal);
      return false;
    }
    const isGap = this.#last !== undefined && number !== this.#last + 1;
    const isOther = this.#lastRung !== undefined && this.#lastRung !== from;
    const isDiscontinuous = segment.isDiscontinuous || isGap || isOther;
    try {
      await copyFile(source, target);
      await this.#name({ ...segment, isDiscontinuous });
    } catch (error) {
      await rm(target, { force: true });
      throw error;
    }
    this.#last = number;
    this.#lastRung = from;
    this.#space.grew(sizeBytes);
    if (this.#problem !== undefined)
      this.#log.info({ streamKey: this.#streamKey }, "recorded again");
    this.#problem = undefined;
    return true;
  }

  /** A line that was written only in part is removed. */
  async #name(segment: Segment): Promise<void> {
    const path = join(this.folder, PLAYLIST_FILE);
    const text = segmentText(segment);
    const before = this.#playlistBytes ?? 0;
    try {
      await appendFile(path, text);
      this.#playlistBytes = before + Buffer.byteLength(text);
    } catch (error) {
      await truncate(path, before);
      throw error;
    }
  }

  /** Once, until recording works again. */
  #report(problem: string): void {
    if (this.#problem === undefined) {
      this.#log.error({ streamKey: this.#streamKey, problem }, "not recorded");
    }
    this.#problem = problem;
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}
