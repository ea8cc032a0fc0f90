import { readdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../../../engine/log.js";
import type { CancelTimer, Clock } from "../../../../engine/time/clock.js";
import { STREAM_KEY } from "../../webhook-form.js";
import { freeBytes } from "../stream-folder.js";
import { Recording } from "./recording.js";
import { endPlaylist } from "./recording-playlist.js";

const SWEEP_PERIOD_MS = 60_000;
/** Folders that are kept at most, however small; the oldest go first. */
export const RECORDINGS_MAX = 10_000;
/** A folder of a recording: its start, such as 2026-01-31T12-00-00-000Z. */
const START = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/;

export interface ShelfSettings {
  readonly root: string;
  /** How long a recording is kept after its last change. */
  readonly keepMs: number;
  /** What all recordings may take together. */
  readonly bytesMax: number;
  /** Left free on the disk. */
  readonly freeMinBytes: number;
}

interface Shelved {
  readonly folder: string;
  bytes: number;
  changedMs: number;
  isGrowing: boolean;
  /** Its playlist says that nothing more comes. */
  hasEnd: boolean;
}

/**
 * All recordings, under `root/KEY/START/`. Those that have ended are removed when they are too old, and the oldest of
 * them when one that grows needs their share of RECORD_MAX_MB; one that grows is never removed. For a disk that others have filled none is.
 */
export class RecordingShelf {
  readonly #settings: ShelfSettings;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #shelved = new Map<string, Shelved>();
  readonly #stopSweeping: CancelTimer;
  #bytes = 0;

  constructor(settings: ShelfSettings, clock: Clock, log: Logger) {
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    for (const shelved of foundIn(settings.root)) {
      this.#shelved.set(shelved.folder, shelved);
      this.#bytes += shelved.bytes;
    }
    this.#stopSweeping = clock.every(SWEEP_PERIOD_MS, () => void this.sweep());
  }

  /** The same broadcast, by key and start, goes on in its folder. */
  record(streamKey: string, startedAtMs: number): Recording {
    const start = new Date(startedAtMs).toISOString().replaceAll(/[:.]/g, "-");
    const folder = join(this.#settings.root, streamKey, start);
    const shelved = this.#shelved.get(folder) ?? {
      folder,
      bytes: 0,
      changedMs: this.#clock.epochMs(),
      isGrowing: true,
      hasEnd: false,
    };
    shelved.isGrowing = true;
    this.#shelved.set(folder, shelved);
    const room = {
      refusal: (sizeBytes: number) => this.#makeRoom(sizeBytes),
      grew: (sizeBytes: number) => this.#grew(shelved, sizeBytes),
      ended: () => {
        shelved.isGrowing = false;
        shelved.hasEnd = true;
        // Nothing came of it.
        if (shelved.bytes === 0) void this.#remove(shelved, "empty");
      },
    };
    return new Recording(folder, streamKey, room, this.#log);
  }

  /** Removes what is too old, and gives an end to what a killed transcoder left without. Never rejects. */
  async sweep(): Promise<void> {
    const oldestMs = this.#clock.epochMs() - this.#settings.keepMs;
    for (const shelved of this.#endedOldestFirst()) {
      const isTooMany = this.#shelved.size > RECORDINGS_MAX;
      if (shelved.changedMs < oldestMs) await this.#remove(shelved, "too old");
      else if (isTooMany) await this.#remove(shelved, "too many");
      else if (!shelved.hasEnd) await this.#giveEnd(shelved);
    }
  }

  close(): void {
    this.#stopSweeping();
  }

  #grew(shelved: Shelved, sizeBytes: number): void {
    shelved.bytes += sizeBytes;
    shelved.changedMs = this.#clock.epochMs();
    this.#bytes += sizeBytes;
  }

  async #makeRoom(sizeBytes: number): Promise<string | undefined> {
    const { root, bytesMax, freeMinBytes } = this.#settings;
    const isOver = () => this.#bytes + sizeBytes > bytesMax;
    if (freeBytes(root) - sizeBytes < freeMinBytes) return "disk full: see RECORD_FREE_MIN_MB";
    if (!isOver()) return undefined;
    for (const oldest of this.#endedOldestFirst()) {
      await this.#remove(oldest, "its room is needed");
      if (!isOver()) return undefined;
    }
    return "recordings have all the room that RECORD_MAX_MB gives them";
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
      if (bytes > 0) this.#log.info({ folder, reason }, "a recording is removed");
    } catch (error) {
      this.#shelved.set(folder, shelved);
      this.#bytes += bytes;
      this.#log.error({ folder, error }, "a recording cannot be removed");
    }
  }

  async #giveEnd(shelved: Shelved): Promise<void> {
    const { folder } = shelved;
    try {
      await endPlaylist(folder);
      shelved.hasEnd = true;
    } catch (error) {
      this.#log.error({ folder, error }, "a recording cannot be given an end");
    }
  }
}

function foundIn(root: string): readonly Shelved[] {
  return foldersIn(root, STREAM_KEY).flatMap((streamKey) =>
    foldersIn(join(root, streamKey), START).map((start) => {
      const folder = join(root, streamKey, start);
      const files = readdirSync(folder).map((name) => statSync(join(folder, name)));
      const bytes = files.reduce((sum, { size }) => sum + size, 0);
      const changedMs = Math.max(0, ...files.map(({ mtimeMs }) => mtimeMs));
      return { folder, bytes, changedMs, isGrowing: false, hasEnd: false };
    }),
  );
}

/** What is named otherwise is not ours, and is left alone. */
function foldersIn(folder: string, name: RegExp): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && name.test(entry.name))
    .map((entry) => entry.name);
}
