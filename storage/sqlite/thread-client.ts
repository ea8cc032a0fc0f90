import { errorOf, type Fault } from "../statements/fault.js";
import type { Results, Statement, StorageStats } from "../statements/statement-port.js";
import {
  isStoreErrorCode,
  StorageOverloadedError,
  StorageStoppedError,
} from "../statements/storage-error.js";
import type { FileSettings } from "./open-store-file.js";
import type { OpenedFile, StorageThread } from "./storage-thread.js";
import type { FromFile, Reply, StoreReport, ThreadRequest, ToFile } from "./thread-protocol.js";

/**
 * At 25,000 requests a second and more, this many are under half a second of work. A longer queue means that the
 * disk is blocked, and then refusing is better.
 */
export const STORAGE_REQUESTS_WAITING_MAX = 10_000;

export interface ThreadClientOptions {
  /** Called once if the thread dies; every waiting and later request fails with `StorageStoppedError`. */
  readonly onFailure: (error: Error) => void;
  readonly requestsWaitingMax?: number;
}

interface Waiter {
  readonly resolve: (results: Results) => void;
  readonly reject: (error: unknown) => void;
}

interface HealthChecker {
  readonly resolve: (report: StoreReport) => void;
  readonly reject: (error: Error) => void;
}

/** The call thread's side of a file on the storage thread: requests of one turn of the event loop go as one message. */
export class ThreadClient {
  /** False if a server had to recreate its lock, so another live server may have lost it. */
  readonly lockWasThere: boolean;
  readonly #post: (message: ToFile) => void;
  readonly #onFailure: (error: Error) => void;
  readonly #requestsWaitingMax: number;
  readonly #waiting = new Map<number, Waiter>();
  readonly #closed: Promise<void>;
  #outbox: ThreadRequest[] = [];
  #lastId = 0;
  #lastGroupSize = 0;
  #groupsCommitted = 0;
  readonly #checking: HealthChecker[] = [];
  /** Why the last write failed, if the database is to blame. */
  #writeFault: Fault | undefined;
  /** Why requests are no longer accepted. */
  #stopped: StorageStoppedError | undefined;
  #closing: Promise<void> | undefined;
  #onDrained: (() => void) | undefined;
  #onClosed = () => {};

  /** Resolves when the database is open and migrated; rejects with the reason if it cannot be. */
  static async open(
    thread: StorageThread,
    settings: FileSettings,
    options: ThreadClientOptions,
  ): Promise<ThreadClient> {
    return new ThreadClient(await thread.open(settings), options);
  }

  private constructor({ lockWasThere, post, follow }: OpenedFile, options: ThreadClientOptions) {
    this.lockWasThere = lockWasThere;
    this.#post = post;
    this.#onFailure = options.onFailure;
    this.#requestsWaitingMax = options.requestsWaitingMax ?? STORAGE_REQUESTS_WAITING_MAX;
    this.#closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
    follow({
      receive: (message) => this.#receive(message),
      threadEnded: (cause) => this.#fail(cause),
    });
  }

  get stats(): StorageStats {
    return {
      requestsWaiting: this.#waiting.size,
      lastGroupSize: this.#lastGroupSize,
      groupsCommitted: this.#groupsCommitted,
    };
  }

  /** Runs the statements atomically; undefined if `guarded` and the first one touched no row. */
  send(statements: readonly Statement[], guarded: boolean): Promise<Results> {
    return this.#wait((id) => {
      if (this.#outbox.length === 0) {
        // Runs after the promises that this turn has resolved, so that their requests are in the same message.
        process.nextTick(() => this.#flush());
      }
      this.#outbox.push({ id, statements, guarded });
    });
  }

  get writeFault(): Fault | undefined {
    return this.#writeFault;
  }

  /** Has the thread check the database's file; rejects if it is closed or has died. */
  checkHealth(): Promise<StoreReport> {
    return new Promise((resolve, reject) => {
      if (this.#stopped !== undefined) return reject(this.#stopped);
      this.#checking.push({ resolve, reject });
      this.#post({ kind: "look" });
    });
  }

  /** Waits for every request, then closes the file. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #wait(submit: (id: number) => void): Promise<Results> {
    return new Promise((resolve, reject) => {
      if (this.#stopped !== undefined) return reject(this.#stopped);
      if (this.#waiting.size >= this.#requestsWaitingMax) {
        return reject(new StorageOverloadedError(this.#requestsWaitingMax));
      }
      this.#lastId += 1;
      this.#waiting.set(this.#lastId, { resolve, reject });
      submit(this.#lastId);
    });
  }

  #flush(): void {
    const requests = this.#outbox;
    this.#outbox = [];
    try {
      this.#post({ kind: "requests", requests });
    } catch (error) {
      // A value that cannot be sent to a thread: a bug of the caller, which fails the other
      // requests of this turn too.
      for (const { id } of requests) this.#take(id)?.reject(error);
    }
  }

  #receive(message: FromFile): void {
    switch (message.kind) {
      case "ready":
      case "refused":
        return;
      case "group":
        this.#lastGroupSize = message.replies.length;
        if (message.committed) this.#groupsCommitted += 1;
        this.#healthOf(message);
        for (const reply of message.replies) this.#settle(reply);
        return;
      case "report":
        this.#checking.shift()?.resolve(message.report);
        return;
      case "closed":
        this.#onClosed();
        return;
    }
  }

  #healthOf({ committed, replies }: Extract<FromFile, { readonly kind: "group" }>): void {
    const fault = replies.map(faultOfStore).find((each) => each !== undefined);
    if (fault !== undefined || committed) this.#writeFault = fault;
  }

  #settle({ id, outcome }: Reply): void {
    const waiter = this.#take(id);
    switch (outcome.kind) {
      case "done":
        waiter?.resolve(outcome.results);
        return;
      case "notApplied":
        waiter?.resolve(undefined);
        return;
      case "fault":
        waiter?.reject(errorOf(outcome.fault));
        return;
    }
  }

  #take(id: number): Waiter | undefined {
    const waiter = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#onDrained?.();
    return waiter;
  }

  async #close(): Promise<void> {
    this.#stopped ??= new StorageStoppedError("storage is closed");
    if (this.#waiting.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onDrained = resolve;
      });
    }
    this.#post({ kind: "close" });
    await this.#closed;
  }

  #fail(cause: Error): void {
    this.#onClosed();
    const failure = new StorageStoppedError("the storage thread has died", { cause });
    this.#stopped = failure;
    for (const id of this.#waiting.keys()) this.#take(id)?.reject(failure);
    for (const { reject } of this.#checking.splice(0)) reject(failure);
    this.#onFailure(failure);
  }
}

function faultOfStore({ outcome }: Reply): Fault | undefined {
  if (outcome.kind !== "fault" || outcome.fault.kind !== "other") return undefined;
  return isStoreErrorCode(outcome.fault.code) ? outcome.fault : undefined;
}
