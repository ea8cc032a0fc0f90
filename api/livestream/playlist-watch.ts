import type { Logger } from "../../engine/log.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import { type PlaylistReading, readPlaylist } from "./playlist-reader.js";
import type { StreamFiles } from "./stream-registry.js";

/** Maximum age of the reported state of a stream's files. */
export const WATCH_PERIOD_MS = 5_000;
/** A disk that hangs blocks at most this many of Node's four threads. */
const READS_MAX = 2;

export interface PlaylistWatchOptions {
  readonly hlsRoot: string;
  readonly liveKeys: () => Iterable<string>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onRead: (streamKey: string, files: StreamFiles) => void;
  readonly onOutcome: (outcome: "read" | "failed") => void;
}

/** Reads the master playlists of live streams in the background, a few at a time. The live streams bound the queue. */
export class PlaylistWatch {
  readonly #options: PlaylistWatchOptions;
  readonly #known = new Map<string, PlaylistReading>();
  /** Keys that wait to be read, each with the callbacks that wait for it. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #stopWatching: CancelTimer;
  #readCount = 0;
  #isFailing = false;

  constructor(options: PlaylistWatchOptions) {
    this.#options = options;
    this.#stopWatching = options.clock.every(WATCH_PERIOD_MS, () => this.#pollAll());
  }

  /** Resolves when the playlist has been read, whatever the result. */
  poll(streamKey: string): Promise<void> {
    return new Promise((resolve) => {
      this.#enqueue(streamKey).push(resolve);
      this.#resume();
    });
  }

  close(): void {
    this.#stopWatching();
    for (const resolves of this.#waiting.values()) for (const resolve of resolves) resolve();
    this.#waiting.clear();
  }

  #pollAll(): void {
    const live = new Set(this.#options.liveKeys());
    for (const streamKey of this.#known.keys()) {
      if (!live.has(streamKey)) this.#known.delete(streamKey);
    }
    for (const streamKey of live) this.#enqueue(streamKey);
    this.#resume();
  }

  #enqueue(streamKey: string): (() => void)[] {
    const resolves = this.#waiting.get(streamKey) ?? [];
    this.#waiting.set(streamKey, resolves);
    return resolves;
  }

  #resume(): void {
    for (const [streamKey, resolves] of this.#waiting) {
      if (this.#readCount >= READS_MAX) return;
      this.#waiting.delete(streamKey);
      this.#readCount += 1;
      void this.#read(streamKey).then(() => {
        this.#readCount -= 1;
        for (const resolve of resolves) resolve();
        this.#resume();
      });
    }
  }

  /** Never rejects: a playlist is optional, the stream is live without it. */
  async #read(streamKey: string): Promise<void> {
    const { hlsRoot, log, onRead, onOutcome } = this.#options;
    try {
      const reading = await readPlaylist(hlsRoot, streamKey, this.#known.get(streamKey));
      this.#known.set(streamKey, reading);
      this.#isFailing = false;
      onOutcome("read");
      onRead(streamKey, reading);
    } catch (error) {
      // Logged once: the next attempt is seconds away.
      if (!this.#isFailing) log.warn({ streamKey, error }, "failed to read a playlist");
      this.#isFailing = true;
      onOutcome("failed");
    }
  }
}
