import { Worker } from "node:worker_threads";
import { errorOf } from "./fault.js";
import { firstMessage } from "./first-message.js";
import type { BackupReply, BackupSettings } from "./thread-protocol.js";

/**
 * Copies the database in a thread of its own, which ends with the copy. Flushing a large one takes a while, and the
 * storage thread has to answer meanwhile.
 */
export async function backupInThread(settings: BackupSettings): Promise<void> {
  const worker = new Worker(new URL("./backup-thread.js", import.meta.url), {
    workerData: settings,
  });
  const { fault } = (await firstMessage(worker)) as BackupReply;
  if (fault !== undefined) throw errorOf(fault);
}
