import { existsSync, readdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../../../engine/log.js";
import type { CancelTimer, Clock } from "../../../../engine/time/clock.js";
import { STREAM_KEY } from "../../webhook-form.js";
import { freeBytes } from "../stream-folder.js";
import { isRemuxed } from "./mp4-remuxer.js";
import { Recording } from "./recording.js";
import { endPlaylist } from "./recording-playlist.js";

const SWEEP_PERIOD_MS = 60_000;
/** The maximum number of folders, however small; the oldest are removed first. */
export const RECORDINGS_MAX = 10_000;
/** The name of a recording's folder: its start, such as 2026-01-31T12-00-00-000Z. */
const START = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/;

export interface ShelfSettings {
  readonly root: string;
  /** How long a recording is kept after its last change. */
  readonly keepMs: number;
  /** The maximum size of all recordings together. */
  readonly bytesMax: number;
  /** Left free on the disk. */
  readonly freeMinBytes: number;
}

/** Makes one file of the recording in a folder; rejects if it cannot. */
export type RemuxToMp4 = (folder: string) => Promise<void>;

interface Shelved {
  readonly folder: string;
  bytes: number;
  changedMs: number;
  isGrowing: boolean;
  /** Its playlist is complete. */
  hasEnd: boolean;
  /** Whether an MP4 is made of it; after a failure it stays unchanged until the next start. */
  mp4: "due" | "done" | "failed";
}

/**
 * All recordings, under `root/KEY/START/`. Finished ones are removed when they are too old, and the oldest of them
 * when a growing one needs their share of RECORD_MAX_MB; a growing one is never removed. If other files fill the
 * disk, none is removed.
 */
export class RecordingArchive {
  readonly #settings: ShelfSettings;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #remuxToMp4: RemuxToMp4 | undefined;
  readonly #shelved = new Map<string, Shelved>();
  readonly #stopSweeping: CancelTimer;
  #bytes = 0;
  #remuxing: Promise<void> | undefined;
  #isSpaceMissing = false;

  /** Without `remuxToMp4` finished recordings stay unchanged. */
  constructor(settings: ShelfSettings, clock: Clock, log: Logger, remuxToMp4?: RemuxToMp4) {
    this.#settings = settings;
    this.#remuxToMp4 = remuxToMp4;
    this.#clock = clock;
    this.#log = log;
    for (const shelved of foundIn(settings.root)) {
      this.#shelved.set(shelved.folder, shelved);
      this.#bytes += shelved.bytes;
    }
    this.#stopSweeping = clock.every(SWEEP_PERIOD_MS, () => void this.sweep());
  }

  /** The same broadcast, by key and start, continues in its folder. */
  record(streamKey: string, startedAtMs: number): Recording {
    const start = new Date(startedAtMs).toISOString().replaceAll(/[:.]/g, "-");
    const folder = join(this.#settings.root, streamKey, start);
    const shelved = this.#shelved.get(folder) ?? {
      folder,
      bytes: 0,
      changedMs: this.#clock.epochMs(),
      isGrowing: true,
      hasEnd: false,
      mp4: "due",
    };
    shelved.isGrowing = true;
    shelved.mp4 = "due";
    this.#shelved.set(folder, shelved);
    const room = {
      refusal: (sizeBytes: number) => this.#freeSpace(sizeBytes),
      grew: (sizeBytes: number) => this.#grew(shelved, sizeBytes),
      ended: () => {
        shelved.isGrowing = false;
        shelved.hasEnd = true;
        // It contains nothing.
        if (shelved.bytes === 0) void this.#remove(shelved, "empty");
        else void this.#remuxAll();
      },
    };
    return new Recording(folder, streamKey, room, this.#log);
  }

  /** Removes expired recordings, and completes those that a killed transcoder left unfinished. Never rejects. */
  async sweep(): Promise<void> {
    const oldestMs = this.#clock.epochMs() - this.#settings.keepMs;
    for (const shelved of this.#endedOldestFirst()) {
      const isTooMany = this.#shelved.size > RECORDINGS_MAX;
      if (shelved.changedMs < oldestMs) await this.#remove(shelved, "too old");
      else if (isTooMany) await this.#remove(shelved, "too many");
      else if (!shelved.hasEnd) await this.#finish(shelved);
    }
    await this.#remuxAll();
  }

  close(): void {
    this.#stopSweeping();
  }

  #grew(shelved: Shelved, sizeBytes: number): void {
    shelved.bytes += sizeBytes;
    shelved.changedMs = this.#clock.epochMs();
    this.#bytes += sizeBytes;
  }

  async #freeSpace(sizeBytes: number): Promise<string | undefined> {
    const { root, bytesMax, freeMinBytes } = this.#settings;
    const isOver = () => this.#bytes + sizeBytes > bytesMax;
    if (freeBytes(root) - sizeBytes < freeMinBytes) return "disk full: see RECORD_FREE_MIN_MB";
    if (!isOver()) return undefined;
    for (const oldest of this.#endedOldestFirst()) {
      await this.#remove(oldest, "its room is needed");
      if (!isOver()) return undefined;
    }
    return "recordings have reached RECORD_MAX_MB";
  }

  #endedOldestFirst(): readonly Shelved[] {
    return [...this.#shelved.values()]
      .filter(({ isGrowing }) => !isGrowing)
      .sort((one, other) => one.changedMs - other.changedMs);
  }

  async #remove(shelved: Shelved, reason: string): Promise<void> {
    const { folder, bytes } = shelved;
    if (!this.#shelved.delete(folder)) return;
    this.#bytes -= bytes;
    try {
      await rm(folder, { recursive: true, force: true });
      if (bytes > 0) this.#log.info({ folder, reason }, "removed a recording");
    } catch (error) {
      this.#shelved.set(folder, shelved);
      this.#bytes += bytes;
      this.#log.error({ folder, error }, "failed to remove a recording");
    }
  }

  async #finish(shelved: Shelved): Promise<void> {
    const { folder } = shelved;
    try {
      await endPlaylist(folder);
      shelved.hasEnd = true;
    } catch (error) {
      this.#log.error({ folder, error }, "failed to finalize a recording");
    }
  }

  /** One after another, so that only one of them needs twice its space. Never rejects. */
  #remuxAll(): Promise<void> {
    this.#remuxing ??= this.#remuxEach()
      .catch((error: unknown) => this.#log.error({ error }, "failed to scan the recordings"))
      .finally(() => {
        this.#remuxing = undefined;
      });
    return this.#remuxing;
  }

  async #remuxEach(): Promise<void> {
    const remuxToMp4 = this.#remuxToMp4;
    if (remuxToMp4 === undefined) return;
    for (;;) {
      const next = this.#endedOldestFirst().find(
        (shelved) => shelved.hasEnd && shelved.mp4 === "due" && this.#hasSpaceFor(shelved),
      );
      if (next === undefined) return;
      await this.#mp4(next, remuxToMp4);
    }
  }

  /** In addition to the segments, which stay until it is complete. */
  #hasSpaceFor(shelved: Shelved): boolean {
    const { root, freeMinBytes } = this.#settings;
    const hasRoom = freeBytes(root) - shelved.bytes >= freeMinBytes;
    if (!hasRoom && !this.#isSpaceMissing) {
      this.#log.error(
        { folder: shelved.folder },
        "disk full: no mp4 of a recording until there is room",
      );
    }
    this.#isSpaceMissing = !hasRoom;
    return hasRoom;
  }

  async #mp4(shelved: Shelved, remuxToMp4: RemuxToMp4): Promise<void> {
    const { folder } = shelved;
    // It must not be removed meanwhile.
    shelved.isGrowing = true;
    try {
      await remuxToMp4(folder);
      shelved.mp4 = "done";
      this.#log.info({ folder }, "remuxed a recording to one MP4");
    } catch (error) {
      shelved.mp4 = "failed";
      this.#log.error(
        { folder, error },
        "failed to remux a recording to MP4: its segments are kept",
      );
    }
    shelved.isGrowing = false;
    const { bytes } = contentOf(folder);
    this.#bytes += bytes - shelved.bytes;
    shelved.bytes = bytes;
  }
}

function foundIn(root: string): readonly Shelved[] {
  return foldersIn(root, STREAM_KEY).flatMap((streamKey) =>
    foldersIn(join(root, streamKey), START).map((start) => {
      const folder = join(root, streamKey, start);
      const { names, bytes, changedMs } = contentOf(folder);
      const mp4 = isRemuxed(names) ? "done" : "due";
      return { folder, bytes, changedMs, isGrowing: false, hasEnd: mp4 === "done", mp4 };
    }),
  );
}

interface Content {
  readonly names: readonly string[];
  readonly bytes: number;
  readonly changedMs: number;
}

/** The folder, or its contents, may have been deleted meanwhile. */
function contentOf(folder: string): Content {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  let bytes = 0;
  let changedMs = 0;
  for (const name of names) {
    const file = statSync(join(folder, name), { throwIfNoEntry: false });
    bytes += file?.size ?? 0;
    changedMs = Math.max(changedMs, file?.mtimeMs ?? 0);
  }
  return { names, bytes, changedMs };
}

/** Folders with other names are not ours, and are left alone. */
function foldersIn(folder: string, name: RegExp): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && name.test(entry.name))
    .map((entry) => entry.name);
}
