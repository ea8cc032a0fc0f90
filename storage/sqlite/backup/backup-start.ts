import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { errorOf } from "../../statements/fault.js";
import { StorageStoppedError } from "../../statements/storage-error.js";
import type { DatabaseReport } from "../database-check.js";
import type { BackupReply, BackupSettings } from "../thread-protocol.js";

/**
 * Copies a database, which a server may be writing to, as it is at one moment, to a file that must not exist yet; says what
 * is in the copy. The database is only read, so a release of before or after can have made it. In a thread of its own,
 * which ends with the copy: flushing a large one takes a while. Rejects with `StorageError` when it cannot be done.
 */
export async function backupInThread(settings: BackupSettings): Promise<DatabaseReport> {
  const worker = new Worker(new URL("./backup-thread.js", import.meta.url), {
    workerData: settings,
  });
  const reply = (await firstMessage(worker)) as BackupReply;
  if (reply.fault !== undefined) throw errorOf(reply.fault);
  return reply.report;
}

/** Resolves with what the thread says first; rejects with its error, or when it ends without a word. */
export async function firstMessage(worker: Worker): Promise<unknown> {
  const listening = new AbortController();
  const ended = once(worker, "exit", listening).then(() => {
    throw new StorageStoppedError("a storage thread ended without a word");
  });
  try {
    const [message] = await Promise.race([once(worker, "message", listening), ended]);
    return message;
  } finally {
    listening.abort();
  }
}
