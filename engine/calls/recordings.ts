import { join } from "node:path";
import type { RecordingKey, RecordingStore } from "../../storage/recording-store.js";
import type { AgentRecord } from "../../storage/records.js";
import { MP3, PCM_16K } from "../audio/audio-format.js";
import type { AudioPool } from "../audio/audio-pool.js";
import { decodePcm } from "../audio/sample-coding.js";
import { Failure } from "../failure.js";
import type { Logger } from "../log.js";
import type { CallAudioTap } from "../session/call-audio-tap.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { type RecordedFormat, Recording } from "./recording.js";
import { openIfThere, RecordingFile, removeRecording, repairRecording } from "./recording-file.js";

export const RECORDINGS_FOLDER = "recordings";
const SWEEP_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** Files deleted in one sweep: what an hour's calls of a full server leave, several times over. */
export const SWEEP_FILES_MAX = 10_000;
/** Asked of the database at once. */
const PAGE_ROWS = 100;

export interface RecordingsOptions {
  /** The folder of all data; recordings have a folder of their own in it. */
  readonly dataDir: string;
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
  #stopSweeping: CancelTimer | undefined;

  constructor(options: RecordingsOptions) {
    this.#options = options;
    this.#folder = join(options.dataDir, RECORDINGS_FOLDER);
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
    const { callId } = key;
    const expiresAtMs = clock.epochMs() + recording.retentionDays * DAY_MS;
    const known = store.begin(key, expiresAtMs);
    const file = new RecordingFile(this.#pathOf(key), format.heard.sampleRateHz, known, (error) =>
      log.error({ callId, error }, "a recording could not be written; the call goes on"),
    );
    const finish = this.#watch(key, file);
    return new Recording(format, file, {
      clock,
      decodeMp3: async (mp3) => {
        const pcm = await audioPool().convert(mp3, { from: MP3, to: PCM_16K }, "background");
        return decodePcm(pcm, true);
      },
      openConversion: (from, listener) =>
        audioPool().open({ from, to: PCM_16K }, "background", listener),
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

  /** Failure `notFound`: the call has none (any more), is not over, or is another organization's. */
  async open(key: RecordingKey): Promise<RecordedFile> {
    const isFinished = await this.#options.store.isFinished(key);
    const handle = isFinished ? await openIfThere(this.#pathOf(key), "r") : undefined;
    if (handle === undefined) throw new Failure("notFound", "there is no recording of this call");
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

  /** Puts right what an earlier run of the server left, then deletes what has expired, every hour. */
  async start(): Promise<void> {
    await this.#repair();
    this.startSweeping();
  }

  startSweeping(): void {
    const { clock, log } = this.#options;
    const sweep = () => {
      this.sweep().catch((error: unknown) => {
        log.error({ error }, "expired recordings could not be deleted");
      });
    };
    sweep();
    this.#stopSweeping = clock.every(SWEEP_MS, sweep);
  }

  /** Says how many it deleted. */
  async sweep(): Promise<number> {
    const { store, clock } = this.#options;
    let count = 0;
    while (count < SWEEP_FILES_MAX) {
      const expired = await store.listExpired(clock.epochMs(), PAGE_ROWS);
      for (const key of expired) {
        await removeRecording(this.#pathOf(key));
        await store.remove(key);
      }
      count += expired.length;
      if (expired.length < PAGE_ROWS) break;
    }
    return count;
  }

  /** Resolves when every call has ended and its file is whole; nothing is swept any more. */
  async close(): Promise<void> {
    this.#stopSweeping?.();
    await Promise.all(this.#underWay.values());
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

  async #repairOne(key: RecordingKey): Promise<void> {
    const { store, log } = this.#options;
    try {
      const facts = await repairRecording(this.#pathOf(key));
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
      if (facts !== undefined) await store.finish(key, { ...facts });
    } catch (error) {
      log.error({ callId: key.callId, error }, "a recording could not be finished");
    }
  }

  /** Ids are the server's own, never what somebody asks for: a key is looked up before its path is. */
  #pathOf({ orgId, callId }: RecordingKey): string {
    return join(this.#folder, orgId, `${callId}.wav`);
  }
}
