import type { Dirent } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { RecordingKey, RecordingStore } from "../../../storage/calls/recording-store.js";
import type { AgentRecord } from "../../../storage/records.js";
import { MP3, PCM_16K } from "../../audio/audio-format.js";
import type { AudioPool } from "../../audio/audio-pool.js";
import { decodePcm } from "../../audio/sample-coding.js";
import { type Bucket, BucketError, placeOf } from "../../bucket/bucket.js";
import { ObjectReader } from "../../bucket/object-reader.js";
import type { CallAudioTap } from "../../conversation/actor.js";
import type { Logger } from "../../log.js";
import { RequestError } from "../../request-error.js";
import type { CancelTimer, Clock } from "../../time/clock.js";
import { type RecordedFormat, Recording, type RecordingDeps } from "./recording.js";
import { openIfThere, RecordingFile, removeRecording, repairRecording } from "./recording-file.js";

/** How often waiting uploads are retried. */
export const ROUND_MS = 30_000;
/** Concurrent uploads when calls end together; the others wait for the next round. */
const UPLOADS_MAX = 4;
/** After this many consecutive failures the bucket is not used until the next round. */
const ROUND_FAULTS_MAX = 3;
/** Bytes read from the disk at a time, for each upload. */
const PIECE_BYTES = 64 * 1024;
const RETRY_AFTER_SEC = 10;
const SUFFIX = ".wav";

export interface UploadPlace {
  readonly bucket: Bucket;
  /** While more than this waits to be uploaded, no new call is recorded. */
  readonly waitingBytesMax: number;
}

export interface RecordingUploadsOptions extends UploadPlace {
  /** Where complete recordings wait: `<organization>/<call>.wav`. */
  readonly folder: string;
  readonly store: RecordingStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Uploads complete recordings to a bucket, and removes each from the disk after its upload. The folder is the
 * queue, so that an unreachable bucket and a server that stops lose nothing; a recording counts as finished once
 * the bucket has it.
 */
export class RecordingUploads {
  readonly #options: RecordingUploadsOptions;
  /** The calls whose recordings are being uploaded. */
  readonly #sending = new Set<string>();
  /** When the bucket last failed; undefined while it works. */
  #failedAtMs: number | undefined;
  #isClosing = false;
  #round: Promise<void> | undefined;
  #waitingBytes = 0;
  #checkedAtMs: number | undefined;

  constructor(options: RecordingUploadsOptions) {
    this.#options = options;
  }

  /** More recordings wait than allowed; as of a moment ago. */
  get isFull(): boolean {
    const { clock, log, waitingBytesMax } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#checkedAtMs === undefined || nowMs - this.#checkedAtMs >= ROUND_MS) {
      this.#checkedAtMs = nowMs;
      this.run().catch((error: unknown) => {
        log.error({ error }, "failed to read the folder of pending recordings");
      });
    }
    return this.#waitingBytes > waitingBytesMax;
  }

  /** Resolves when the waiting size has been measured again. */
  async run(): Promise<void> {
    let sizeBytes = 0;
    for await (const key of this.#waiting()) {
      sizeBytes += await stat(this.#pathOf(key)).then(
        ({ size }) => size,
        // Another process has uploaded it meanwhile.
        () => 0,
      );
    }
    this.#waitingBytes = sizeBytes;
  }

  /** The recording is complete. Resolves when it is uploaded, or left for a round. */
  async send(key: RecordingKey): Promise<void> {
    const { clock } = this.#options;
    const troubleMs = clock.monotonicMs() - (this.#failedAtMs ?? Number.NEGATIVE_INFINITY);
    if (this.#isClosing || troubleMs < ROUND_MS || this.#sending.size >= UPLOADS_MAX) return;
    await this.#try(key);
  }

  /** Uploads all pending recordings, one after the other; a round in progress is not started again. */
  sendWaiting(): Promise<void> {
    this.#round ??= this.#sendAll().finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  /** Undefined if the bucket does not have it. */
  async open(key: RecordingKey): Promise<ObjectReader | undefined> {
    try {
      return await ObjectReader.open(this.#options.bucket, objectKeyOf(key));
    } catch (cause) {
      if (!(cause instanceof BucketError)) throw cause;
      this.#logFailure(cause);
      const message = "recordings cannot be read at the moment";
      throw new RequestError("unavailable", message, { cause, retryAfterSec: RETRY_AFTER_SEC });
    }
  }

  /** Rejects with a BucketError if the bucket is unreachable. */
  remove(key: RecordingKey): Promise<void> {
    return this.#options.bucket.remove(objectKeyOf(key));
  }

  /** Resolves when the round has finished its current file; the next start uploads the rest. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#round;
  }

  async #sendAll(): Promise<void> {
    let faults = 0;
    for await (const key of this.#waiting()) {
      if (this.#isClosing) return;
      faults = (await this.#try(key)) ? 0 : faults + 1;
      if (faults >= ROUND_FAULTS_MAX) break;
    }
    await this.run();
  }

  /** False if it still waits; never rejects. */
  async #try(key: RecordingKey): Promise<boolean> {
    const { callId } = key;
    if (this.#sending.has(callId)) return true;
    this.#sending.add(callId);
    try {
      await this.#sendOne(key);
      return true;
    } catch (error) {
      if (this.#isClosing) return false;
      if (error instanceof BucketError) this.#logFailure(error);
      else
        this.#options.log.error(
          { callId, error },
          "failed to upload a recording; it stays pending",
        );
      return false;
    } finally {
      this.#sending.delete(callId);
    }
  }

  async #sendOne(key: RecordingKey): Promise<void> {
    const { store, bucket, clock, log } = this.#options;
    const path = this.#pathOf(key);
    if (!(await store.isKnown(key))) {
      await removeRecording(path);
      log.warn({ callId: key.callId }, "a pending recording no longer belongs to a call");
      return;
    }
    const facts = await repairRecording(path);
    const handle = facts && (await openIfThere(path, "r"));
    if (facts === undefined || handle === undefined) return;
    try {
      const body = handle.createReadStream({ highWaterMark: PIECE_BYTES, autoClose: false });
      await bucket.put(objectKeyOf(key), body, facts.bytes, "audio/wav");
    } finally {
      await handle.close();
    }
    await store.finish(key, { ...facts }, clock.epochMs());
    // It expired during the upload: no other code would delete it.
    if (!(await store.isKnown(key))) await this.remove(key);
    await removeRecording(path);
    this.#logRecovery();
  }

  #logFailure(fault: BucketError): void {
    const { log, clock } = this.#options;
    const isNew = this.#failedAtMs === undefined;
    this.#failedAtMs = clock.monotonicMs();
    if (!isNew) return;
    const { message: reason } = fault;
    log.error(
      { reason },
      "recordings cannot be uploaded to their bucket; they wait in the data folder",
    );
  }

  #logRecovery(): void {
    const { log, bucket } = this.#options;
    if (this.#failedAtMs === undefined) return;
    this.#failedAtMs = undefined;
    log.info({ bucket: placeOf(bucket.settings) }, "recordings are uploaded to their bucket again");
  }

  async *#waiting(): AsyncGenerator<RecordingKey> {
    for await (const organization of entriesOf(this.#options.folder)) {
      if (!organization.isDirectory()) continue;
      const { name: orgId } = organization;
      for await (const { name } of entriesOf(join(this.#options.folder, orgId))) {
        if (name.endsWith(SUFFIX)) yield { orgId, callId: name.slice(0, -SUFFIX.length) };
      }
    }
  }

  #pathOf(key: RecordingKey): string {
    return join(this.#options.folder, objectKeyOf(key));
  }
}

function objectKeyOf({ orgId, callId }: RecordingKey): string {
  return `${orgId}/${callId}${SUFFIX}`;
}

/** Empty if there is no such folder. */
async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  const entries = await opendir(folder).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  });
  yield* entries;
}

export const RECORDINGS_FOLDER = "recordings";
const SWEEP_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** Files deleted in one sweep: several times what an hour's calls of a full server leave. */
export const SWEEP_FILES_MAX = 10_000;
/** This many failed deletions have a common cause, such as an unreachable bucket. */
const KEPT_MAX = 20;
/** Rows read from the database at a time. */
const PAGE_ROWS = 100;

export interface RecordingKeeping {
  /** The folder of all data; recordings have a folder of their own in it. */
  readonly dataDir: string;
  /** Where complete recordings are kept, instead of the folder. */
  readonly uploads?: UploadPlace | undefined;
}

export interface RecordingsOptions extends RecordingKeeping {
  readonly store: RecordingStore;
  readonly audioPool: () => Pick<AudioPool, "convert" | "open">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A recording that can be played. */
export interface RecordedFile {
  readonly sizeBytes: number;
  /** Fills the buffer from this position on; returns the number of bytes. */
  read(buffer: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * The recordings of all calls: writes them, keeps them as long as their agent says, and opens them for the
 * organizations of their calls.
 */
export class Recordings {
  readonly #options: RecordingsOptions;
  readonly #folder: string;
  /** The recordings that are being written, by call id. */
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
   * Records until the tap receives the end of the call; undefined if the agent does not record. The call continues
   * even if recording fails.
   */
  startRecording(
    key: RecordingKey,
    { recording }: Pick<AgentRecord, "recording">,
    format: RecordedFormat,
  ): CallAudioTap | undefined {
    if (!recording.enabled) return undefined;
    const { clock, store, log } = this.#options;
    const { callId, orgId } = key;
    if (this.#uploads?.isFull === true) {
      log.error({ callId }, "a call is not recorded: too many recordings wait for their bucket");
      return undefined;
    }
    const expiresAtMs = clock.epochMs() + recording.retentionDays * DAY_MS;
    const known = store.start(key, expiresAtMs);
    const file = new RecordingFile(this.#pathOf(key), format.input.sampleRateHz, known, (error) =>
      log.error({ callId, error }, "a recording could not be written; the call continues"),
    );
    const finish = this.#watch(key, file);
    return new Recording(format, file, {
      ...this.converters(orgId),
      onBroken: (reason) => {
        log.warn({ callId, reason }, "a recording has ended before its call");
        finish();
      },
      onSentenceDropped: (error) => {
        log.warn({ callId, error }, "a sentence is missing in a recording");
      },
      onComplete: finish,
    });
  }

  /** What makes the organization's audio into samples of a recording. */
  converters(orgId: string): Pick<RecordingDeps, "clock" | "decodeMp3" | "openConversion"> {
    const { clock, audioPool } = this.#options;
    return {
      clock,
      decodeMp3: async (mp3) => {
        const pcm = await audioPool().convert(mp3, { from: MP3, to: PCM_16K }, "background", orgId);
        return decodePcm(pcm, true);
      },
      openConversion: (from, listener) =>
        audioPool().open({ from, to: PCM_16K }, "background", listener, orgId),
    };
  }

  /**
   * RequestError `not_found`: the call has no recording (any more), is not over, or is another organization's.
   * RequestError `unavailable`: the bucket is unreachable.
   */
  async open(key: RecordingKey): Promise<RecordedFile> {
    const isFinished = await this.#options.store.isFinished(key);
    const kept = isFinished ? await this.#openStored(key) : undefined;
    if (kept === undefined)
      throw new RequestError("not_found", "there is no recording of this call");
    return kept;
  }

  /** Repairs what an earlier run of the server left, then starts the upkeep. */
  async start(): Promise<void> {
    await this.#repair();
    await this.#uploads?.run();
    this.startUpkeep();
  }

  /**
   * Deletes expired recordings every hour, and uploads those that wait for the bucket. Call it in one process of a
   * server.
   */
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
        log.error({ error }, "failed to upload pending recordings");
      });
    };
    send();
    this.#upkeep.push(clock.every(ROUND_MS, send));
  }

  /**
   * Returns the number of deleted recordings. Rejects if some could not be deleted, with the first reason, after
   * the others are.
   */
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
          // The next sweep retries it; others do not wait for that.
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

  /** Resolves when every call has ended and its file is complete; sweeps and uploads have stopped. */
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
    if (count > 0) log.warn({ count }, "repaired recordings of an earlier run");
  }

  /**
   * With a bucket, the next round uploads a recording that became complete, and one without a file may be another
   * server's.
   */
  async #repairOne(key: RecordingKey): Promise<void> {
    const { store, clock, log } = this.#options;
    try {
      const facts = await repairRecording(this.#pathOf(key));
      if (this.#uploads !== undefined) return;
      if (facts !== undefined) return await store.finish(key, { ...facts }, clock.epochMs());
      await removeRecording(this.#pathOf(key));
      await store.remove(key);
    } catch (error) {
      log.error({ callId: key.callId, error }, "failed to repair a recording");
    }
  }

  /** In progress until the returned function is called and the file is complete. */
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
    const { store, clock, log } = this.#options;
    try {
      const facts = await file.finish();
      if (facts === undefined) return;
      if (this.#uploads === undefined) await store.finish(key, { ...facts }, clock.epochMs());
      else await this.#uploads.send(key);
    } catch (error) {
      log.error({ callId: key.callId, error }, "a recording could not be finished");
    }
  }

  /** A recording that was not moved to a bucket yet is still in the folder. */
  async #openStored(key: RecordingKey): Promise<RecordedFile | undefined> {
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

  /** Ids are the server's own, never a client's text: a key is looked up before its path is. */
  #pathOf({ orgId, callId }: RecordingKey): string {
    return join(this.#folder, orgId, `${callId}.wav`);
  }
}
