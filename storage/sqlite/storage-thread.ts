import { Worker } from "node:worker_threads";
import type { FileSettings } from "./open-store-file.js";
import type { FromFile, FromThread, OpenFile, ToFile } from "./thread-protocol.js";

/** Handles the events of a file. */
export interface FileFollower {
  receive(message: FromFile): void;
  /** Called once if the thread ends before the file is closed. */
  threadEnded(cause: Error): void;
}

export interface OpenedFile {
  /** False if a server had to recreate its lock, so another live server may have lost it. */
  readonly lockWasThere: boolean;
  /** Sends a request to the file. */
  readonly post: (message: ToFile) => void;
  /** Must be called before the next turn of the event loop. */
  readonly follow: (follower: FileFollower) => void;
}

/** A thread with open SQLite files. It keeps the process alive as long as one of them is open. */
export class StorageThread {
  readonly #worker: Worker;
  readonly #followers = new Map<number, FileFollower>();
  #lastFileId = 0;
  #hasEnded = false;

  constructor(worker = new Worker(new URL("./database-thread.js", import.meta.url))) {
    this.#worker = worker;
    worker.unref();
    worker.on("message", (message: FromThread) => this.#receive(message));
    worker.on("error", (error) => this.#end(error));
    worker.once("exit", () => this.#end(new Error("the storage thread ended by itself")));
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Resolves when the file is open and migrated; rejects with the reason if it cannot be. */
  open(settings: FileSettings): Promise<OpenedFile> {
    this.#lastFileId += 1;
    const fileId = this.#lastFileId;
    const post = (message: OpenFile | ToFile) => this.#worker.postMessage({ fileId, message });
    const follow = (follower: FileFollower) => void this.#followers.set(fileId, follower);
    return new Promise((resolve, reject) => {
      follow({
        receive: (message) => {
          if (message.kind === "refused") reject(new Error(message.reason));
          if (message.kind !== "ready") return;
          resolve({ lockWasThere: message.lockWasThere, post, follow });
        },
        threadEnded: reject,
      });
      this.#worker.ref();
      post({ kind: "open", settings });
    });
  }

  #receive({ fileId, message }: FromThread): void {
    this.#followers.get(fileId)?.receive(message);
    if (message.kind !== "closed" && message.kind !== "refused") return;
    this.#followers.delete(fileId);
    if (this.#followers.size === 0) this.#worker.unref();
  }

  #end(cause: Error): void {
    this.#hasEnded = true;
    const followers = Array.from(this.#followers.values());
    this.#followers.clear();
    for (const follower of followers) follower.threadEnded(cause);
  }
}

const ofThisProcess = new Map<"all" | "reads", StorageThread>();

/**
 * One thread serves all files of the process, since each thread costs a start of Node. It waits for the next file until
 * the process ends. A second one runs the reads that others must not wait for.
 */
export function storageThread(work: "all" | "reads" = "all"): StorageThread {
  const known = ofThisProcess.get(work);
  if (known?.hasEnded === false) return known;
  const thread = new StorageThread();
  ofThisProcess.set(work, thread);
  return thread;
}
