import { faultCodeOf } from "../statements/fault.js";
import { StorageUnavailableError } from "../statements/storage-error.js";
import { FileHealthCheck } from "./file-health-check.js";
import { GroupCommit, GroupQueue } from "./group-commit.js";
import { type FileSettings, openStoreFile, type StoreFile } from "./open-store-file.js";
import { BUSY_TIMEOUT_MS, SCHEMA_VERSION } from "./sqlite-file.js";
import { SqliteError } from "./sqlite-library.js";
import { storageAdvice } from "./storage-advice.js";
import type { FromFile, ToFile } from "./thread-protocol.js";

/** The log is copied into the database after this many commits, while no request waits, rather than during a commit. */
const COMMITS_BEFORE_CHECKPOINT = 250;

/** The delay that an attempt to write, while another process writes, may add to requests that only read. */
const LOCK_TRY_MS = 10;

/** On the storage thread: an open file, which runs the requests of its client. */
export class ServedFile {
  readonly #store: StoreFile;
  readonly #check: FileHealthCheck;
  readonly #queue: GroupQueue;
  readonly #send: (message: FromFile) => void;
  #isScheduled = false;
  #commitsSinceCheckpoint = 0;

  /** Sends `ready`; rejects with the reason, in words for an operator, if the file cannot be used. */
  static async open(
    settings: FileSettings,
    send: (message: FromFile) => void,
  ): Promise<ServedFile> {
    const { filePath } = settings;
    const store = await openStoreFile(settings).catch((error: unknown) => {
      if (error instanceof StorageUnavailableError) throw error;
      throw new StorageUnavailableError(storageAdvice(filePath, faultCodeOf(error)));
    });
    store.file.pragma(`busy_timeout = ${LOCK_TRY_MS}`);
    const served = new ServedFile(store, settings, send);
    send({ kind: "ready", lockWasThere: store.claim?.lockWasThere ?? true });
    return served;
  }

  private constructor(
    store: StoreFile,
    { filePath, isReader = false }: FileSettings,
    send: (message: FromFile) => void,
  ) {
    const { file, claim } = store;
    this.#store = store;
    this.#send = send;
    this.#check = new FileHealthCheck({ file, filePath, schemaVersion: SCHEMA_VERSION, claim });
    const groupCommit = new GroupCommit(file, () => this.#check.writeFault());
    // A read is answered at once, not with those that came after it.
    const requestsMax = isReader ? 1 : undefined;
    const nowMs = () => performance.now();
    this.#queue = new GroupQueue(groupCommit, BUSY_TIMEOUT_MS, nowMs, requestsMax);
  }

  receive(message: ToFile): void {
    switch (message.kind) {
      case "requests":
        this.#queue.add(message.requests);
        this.#schedule();
        return;
      case "look":
        this.#send({ kind: "report", report: this.#check.report() });
        return;
      case "close":
        this.#close();
        return;
    }
  }

  /** Everything that arrives before the event loop gets here is in the next group. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#runGroup());
  }

  #runGroup(): void {
    this.#isScheduled = false;
    const { replies, committed } = this.#queue.run();
    if (replies.length > 0) this.#send({ kind: "group", replies, committed });
    if (committed) this.#commitsSinceCheckpoint += 1;
    if (!this.#queue.isEmpty) this.#schedule();
    else if (this.#commitsSinceCheckpoint >= COMMITS_BEFORE_CHECKPOINT) this.#checkpoint();
  }

  /**
   * A passive checkpoint never waits for a reader; pages that a reader still needs are left for the next time. If the
   * disk is full, all pages are left: nothing is lost, and commits without space report that to their callers.
   */
  #checkpoint(): void {
    this.#commitsSinceCheckpoint = 0;
    try {
      this.#store.file.pragma("wal_checkpoint(PASSIVE)");
    } catch (error) {
      if (!(error instanceof SqliteError)) throw error;
    }
  }

  /** The client closes only when it has no pending request. */
  #close(): void {
    this.#checkpoint();
    this.#store.file.close();
    this.#store.claim?.close();
    this.#send({ kind: "closed" });
  }
}
