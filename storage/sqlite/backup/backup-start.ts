import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { errorOf } from "../../statements/fault.js";
import { StorageStoppedError } from "../../statements/storage-error.js";
import type { DatabaseReport } from "../database-check.js";
import type { BackupReply, BackupSettings } from "../thread-protocol.js";

/**
 * Copies a snapshot of a database, which a server may be writing to, to a file that must not exist yet; returns
 * what the copy contains. The database is only read, so an older or newer release can have created it. Runs in its
 * own thread, which ends with the copy: flushing a large one takes a while. Rejects with `StorageError` if it
 * fails.
 */
export async function backupInThread(settings: BackupSettings): Promise<DatabaseReport> {
  const worker = new Worker(new URL("./backup-thread.js", import.meta.url), {
    workerData: settings,
  });
  const reply = (await firstMessage(worker)) as BackupReply;
  if (reply.fault !== undefined) throw errorOf(reply.fault);
  return reply.report;
}

/** Resolves with the thread's first message; rejects with its error, or if it ends without a message. */
export async function firstMessage(worker: Worker): Promise<unknown> {
  const listening = new AbortController();
  const ended = once(worker, "exit", listening).then(() => {
    throw new StorageStoppedError("a storage thread ended without a message");
  });
  try {
    const [message] = await Promise.race([once(worker, "message", listening), ended]);
    return message;
  } finally {
    listening.abort();
  }
}
