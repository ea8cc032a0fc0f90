import { join } from "node:path";
import type { RecordingKey, RecordingStore } from "../../../storage/calls/recording-store.js";
import type { AgentRecord } from "../../../storage/records.js";
import { MP3, PCM_16K } from "../../audio/audio-format.js";
import type { AudioPool } from "../../audio/audio-pool.js";
import { decodePcm } from "../../audio/sample-coding.js";
import type { CallAudioTap } from "../../conversation/session.js";
import { Failure } from "../../failure.js";
import type { Logger } from "../../log.js";
import type { CancelTimer, Clock } from "../../time/clock.js";
import { type RecordedFormat, Recording } from "./recording.js";
import { openIfThere, RecordingFile, removeRecording, repairRecording } from "./recording-file.js";
import { RecordingUploads, ROUND_MS, type UploadPlace } from "./recording-uploads.js";

export const RECORDINGS_FOLDER = "recordings";
const SWEEP_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** Files deleted in one sweep: what an hour's calls of a full server leave, several times over. */
export const SWEEP_FILES_MAX = 10_000;
/** So many that cannot be deleted are no fault of theirs: a bucket that is away, for one. */
const KEPT_MAX = 20;
/** Asked of the database at once. */
const PAGE_ROWS = 100;

export interface RecordingKeeping {
  /** The folder of all data; recordings have a folder of their own in it. */
  readonly dataDir: string;
  /** Where they are kept once they are whole, in place of the folder. */
  readonly uploads?: UploadPlace | undefined;
}

export interface RecordingsOptions extends RecordingKeeping {
  readonly store: RecordingStore;
  readonly audioPool: () => Pick<AudioPool, "convert" | "open">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A recording that can be heard. */
export interface RecordedFile {
  readonly sizeBytes: number;
  /** Fills the buffer from this position on; says how much of it. */
  read(buffer: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

/** The recordings of all calls: made, kept for as long as their agent says, and given to those whose calls they are. */
export class Recordings {
  readonly #options: RecordingsOptions;
  readonly #folder: string;
  /** The recordings that are being written, by the id of the call. */
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #uploads: RecordingUploads | undefined;
  readonly #upkeep: CancelTimer[] = [];

  constructor(options: RecordingsOptions) {
    const { dataDir, uploads } = options;
    this.#options = options;
    this.#folder = join(dataDir, RECORDINGS_FOLDER);
    this.#uploads =
      uploads && new RecordingUploads({ ...options, ...uploads, folder: this.#folder });
  }

  /**
   * Records from now on until the tap is told that the call has ended; undefined when the agent does not want it. Whatever
   * goes wrong, the call goes on.
   */
  begin(
    key: RecordingKey,
    { recording }: Pick<AgentRecord, "recording">,
    format: RecordedFormat,
  ): CallAudioTap | undefined {
    if (!recording.enabled) return undefined;
    const { clock, store, log, audioPool } = this.#options;
    const { callId, orgId } = key;
    if (this.#uploads?.isFull === true) {
      log.error({ callId }, "a call is not recorded: too many recordings wait for their bucket");
      return undefined;
    }
    const expiresAtMs = clock.epochMs() + recording.retentionDays * DAY_MS;
    const known = store.begin(key, expiresAtMs);
    const file = new RecordingFile(this.#pathOf(key), format.heard.sampleRateHz, known, (error) =>
      log.error({ callId, error }, "a recording could not be written; the call goes on"),
    );
    const finish = this.#watch(key, file);
    return new Recording(format, file, {
      clock,
      decodeMp3: async (mp3) => {
        const pcm = await audioPool().convert(mp3, { from: MP3, to: PCM_16K }, "background", orgId);
        return decodePcm(pcm, true);
      },
      openConversion: (from, listener) =>
        audioPool().open({ from, to: PCM_16K }, "background", listener, orgId),
      onBroken: (reason) => {
        log.warn({ callId, reason }, "a recording has ended before its call");
        finish();
      },
      onSentenceLost: (error) => {
        log.warn({ callId, error }, "a sentence is missing in a recording");
      },
      onWhole: finish,
    });
  }

  /**
   * Failure `notFound`: the call has none (any more), is not over, or is another organization's. Failure `unavailable`: the
   * bucket is away.
   */
  async open(key: RecordingKey): Promise<RecordedFile> {
    const isFinished = await this.#options.store.isFinished(key);
    const kept = isFinished ? await this.#openKept(key) : undefined;
    if (kept === undefined) throw new Failure("notFound", "there is no recording of this call");
    return kept;
  }

  /** Puts right what an earlier run of the server left, then does the upkeep. */
  async start(): Promise<void> {
    await this.#repair();
    await this.#uploads?.look();
    this.startUpkeep();
  }

  /** Deletes what has expired, every hour, and sends what waits for its bucket. To be called by one process of a box. */
  startUpkeep(): void {
    const { clock, log } = this.#options;
    const sweep = () => {
      this.sweep().catch((error: unknown) => {
        log.error({ error }, "expired recordings could not be deleted");
      });
    };
    sweep();
    this.#upkeep.push(clock.every(SWEEP_MS, sweep));
    const uploads = this.#uploads;
    if (uploads === undefined) return;
    const send = () => {
      uploads.sendWaiting().catch((error: unknown) => {
        log.error({ error }, "recordings that wait for their bucket could not be sent");
      });
    };
    send();
    this.#upkeep.push(clock.every(ROUND_MS, send));
  }

  /** Says how many it deleted. Rejects when some could not be, with the reason of the first, after the others are. */
  async sweep(): Promise<number> {
    const { store, clock } = this.#options;
    const kept = new Map<string, unknown>();
    let count = 0;
    while (count < SWEEP_FILES_MAX && kept.size < KEPT_MAX) {
      const limit = PAGE_ROWS + kept.size;
      const expired = await store.listExpired(clock.epochMs(), limit);
      for (const key of expired) {
        if (kept.has(key.callId)) continue;
        try {
          await this.#delete(key);
          count += 1;
        } catch (error) {
          // The next sweep tries it again; others do not wait for that.
          kept.set(key.callId, error);
          if (kept.size >= KEPT_MAX) break;
        }
      }
      if (expired.length < limit) break;
    }
    if (kept.size > 0) throw kept.values().next().value;
    return count;
  }

  async #delete(key: RecordingKey): Promise<void> {
    await removeRecording(this.#pathOf(key));
    await this.#uploads?.remove(key);
    await this.#options.store.remove(key);
  }

  /** Resolves when every call has ended and its file is whole; nothing is swept or sent any more. */
  async close(): Promise<void> {
    for (const cancel of this.#upkeep) cancel();
    await Promise.all(this.#underWay.values());
    await this.#uploads?.close();
  }

  async #repair(): Promise<void> {
    const { store, log } = this.#options;
    let count = 0;
    let after = "";
    for (;;) {
      const unfinished = await store.listUnfinished(after, PAGE_ROWS);
      for (const key of unfinished) {
        if (!this.#underWay.has(key.callId)) await this.#repairOne(key);
        after = key.callId;
      }
      count += unfinished.length;
      if (unfinished.length < PAGE_ROWS) break;
    }
    if (count > 0) log.warn({ count }, "recordings of an earlier run were put right");
  }

  /** With a bucket, one that became whole is sent by the next round, and one without a file may be another server's. */
  async #repairOne(key: RecordingKey): Promise<void> {
    const { store, log } = this.#options;
    try {
      const facts = await repairRecording(this.#pathOf(key));
      if (this.#uploads !== undefined) return;
      if (facts !== undefined) return await store.finish(key, { ...facts });
      await removeRecording(this.#pathOf(key));
      await store.remove(key);
    } catch (error) {
      log.error({ callId: key.callId, error }, "a recording could not be put right");
    }
  }

  /** Under way from now on, until what it gives is called and the file is whole. */
  #watch(key: RecordingKey, file: RecordingFile): () => void {
    let onAllGiven = () => {};
    const allGiven = new Promise<void>((resolve) => {
      onAllGiven = resolve;
    });
    const whole = allGiven
      .then(() => this.#finish(key, file))
      .finally(() => this.#underWay.delete(key.callId));
    this.#underWay.set(key.callId, whole);
    return onAllGiven;
  }

  async #finish(key: RecordingKey, file: RecordingFile): Promise<void> {
    const { store, log } = this.#options;
    try {
      const facts = await file.finish();
      if (facts === undefined) return;
      if (this.#uploads === undefined) await store.finish(key, { ...facts });
      else await this.#uploads.send(key);
    } catch (error) {
      log.error({ callId: key.callId, error }, "a recording could not be finished");
    }
  }

  /** What has not been moved to a bucket yet is still in the folder. */
  async #openKept(key: RecordingKey): Promise<RecordedFile | undefined> {
    const handle = await openIfThere(this.#pathOf(key), "r");
    if (handle === undefined) return this.#uploads?.open(key);
    const { size } = await handle.stat();
    return {
      sizeBytes: size,
      read: async (buffer, position) => {
        const { bytesRead } = await handle.read(buffer, 0, buffer.byteLength, position);
        return bytesRead;
      },
      close: () => handle.close(),
    };
  }

  /** Ids are the server's own, never what somebody asks for: a key is looked up before its path is. */
  #pathOf({ orgId, callId }: RecordingKey): string {
    return join(this.#folder, orgId, `${callId}.wav`);
  }
}
