import type { Dirent } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { RecordingKey, RecordingStore } from "../../../storage/calls/recording-store.js";
import type { Bucket } from "../../bucket/bucket.js";
import { BucketFault, placeOf } from "../../bucket/bucket-fault.js";
import { ObjectReader } from "../../bucket/object-reader.js";
import { Failure } from "../../failure.js";
import type { Logger } from "../../log.js";
import type { Clock } from "../../time/clock.js";
import { openIfThere, removeRecording, repairRecording } from "./recording-file.js";

/** What waits is tried again so often. */
export const ROUND_MS = 30_000;
/** Sent at once when calls end together; the others wait for the next round. */
const UPLOADS_MAX = 4;
/** After so many in a row the bucket is left alone until the next round. */
const ROUND_FAULTS_MAX = 3;
/** Read from the disk at once, for each upload. */
const PIECE_BYTES = 64 * 1024;
const RETRY_AFTER_SEC = 10;
const SUFFIX = ".wav";

export interface UploadPlace {
  readonly bucket: Bucket;
  /** While more than that waits to be sent, no new call is recorded. */
  readonly waitingBytesMax: number;
}

export interface RecordingUploadsOptions extends UploadPlace {
  /** Where recordings that are whole wait: `<organization>/<call>.wav`. */
  readonly folder: string;
  readonly store: RecordingStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Sends recordings that are whole to a bucket, and takes each from the disk when it is there. The folder is the queue, so that a
 * bucket that is away and a server that stops lose nothing; a recording counts as finished once the bucket has it.
 */
export class RecordingUploads {
  readonly #options: RecordingUploadsOptions;
  /** The calls whose recordings are on their way. */
  readonly #sending = new Set<string>();
  /** When the bucket last did not do what it was asked; undefined while it does. */
  #troubleAtMs: number | undefined;
  #isClosing = false;
  #round: Promise<void> | undefined;
  #waitingBytes = 0;
  #lookedAtMs: number | undefined;

  constructor(options: RecordingUploadsOptions) {
    this.#options = options;
  }

  /** More waits than may; as of a moment ago. */
  get isFull(): boolean {
    const { clock, log, waitingBytesMax } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#lookedAtMs === undefined || nowMs - this.#lookedAtMs >= ROUND_MS) {
      this.#lookedAtMs = nowMs;
      this.look().catch((error: unknown) => {
        log.error({ error }, "the folder of recordings that wait cannot be read");
      });
    }
    return this.#waitingBytes > waitingBytesMax;
  }

  /** Resolves when it is known anew how much waits. */
  async look(): Promise<void> {
    let sizeBytes = 0;
    for await (const key of this.#waiting()) {
      sizeBytes += await stat(this.#pathOf(key)).then(
        ({ size }) => size,
        // Another process has sent it meanwhile.
        () => 0,
      );
    }
    this.#waitingBytes = sizeBytes;
  }

  /** The recording has become whole. Resolves when it is sent, or is left for a round. */
  async send(key: RecordingKey): Promise<void> {
    const { clock } = this.#options;
    const troubleMs = clock.monotonicMs() - (this.#troubleAtMs ?? Number.NEGATIVE_INFINITY);
    if (this.#isClosing || troubleMs < ROUND_MS || this.#sending.size >= UPLOADS_MAX) return;
    await this.#try(key);
  }

  /** Sends everything that waits, one after the other; a round that is under way is not begun again. */
  sendWaiting(): Promise<void> {
    this.#round ??= this.#sendAll().finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  /** Undefined when the bucket does not have it. */
  async open(key: RecordingKey): Promise<ObjectReader | undefined> {
    try {
      return await ObjectReader.open(this.#options.bucket, objectKeyOf(key));
    } catch (cause) {
      if (!(cause instanceof BucketFault)) throw cause;
      this.#tellTrouble(cause);
      const message = "recordings cannot be read at present";
      throw new Failure("unavailable", message, { cause, retryAfterSec: RETRY_AFTER_SEC });
    }
  }

  /** Rejects with a BucketFault while the bucket is away. */
  remove(key: RecordingKey): Promise<void> {
    return this.#options.bucket.remove(objectKeyOf(key));
  }

  /** Resolves when the round has left the file that it is at; what waits is sent by the next start. */
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
    await this.look();
  }

  /** False when it still waits; never rejects. */
  async #try(key: RecordingKey): Promise<boolean> {
    const { callId } = key;
    if (this.#sending.has(callId)) return true;
    this.#sending.add(callId);
    try {
      await this.#sendOne(key);
      return true;
    } catch (error) {
      if (this.#isClosing) return false;
      if (error instanceof BucketFault) this.#tellTrouble(error);
      else this.#options.log.error({ callId, error }, "a recording could not be sent; it waits");
      return false;
    } finally {
      this.#sending.delete(callId);
    }
  }

  async #sendOne(key: RecordingKey): Promise<void> {
    const { store, bucket, log } = this.#options;
    const path = this.#pathOf(key);
    if (!(await store.isKnown(key))) {
      await removeRecording(path);
      log.warn({ callId: key.callId }, "a recording that waited belongs to no call any more");
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
    await store.finish(key, { ...facts });
    // It has expired while it was sent: nobody else would delete it.
    if (!(await store.isKnown(key))) await this.remove(key);
    await removeRecording(path);
    this.#tellEnd();
  }

  #tellTrouble(fault: BucketFault): void {
    const { log, clock } = this.#options;
    const isNew = this.#troubleAtMs === undefined;
    this.#troubleAtMs = clock.monotonicMs();
    if (!isNew) return;
    const { message: reason } = fault;
    log.error(
      { reason },
      "recordings cannot be kept in their bucket; they wait in the data folder",
    );
  }

  #tellEnd(): void {
    const { log, bucket } = this.#options;
    if (this.#troubleAtMs === undefined) return;
    this.#troubleAtMs = undefined;
    log.info({ bucket: placeOf(bucket.settings) }, "recordings are sent to their bucket again");
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

/** None where there is no such folder. */
async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  const entries = await opendir(folder).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  });
  yield* entries;
}
