import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { StorageStopped } from "../statements/storage-failure.js";

/** Resolves with what the thread says first; rejects with its error, or when it ends without a word. */
export async function firstMessage(worker: Worker): Promise<unknown> {
  const listening = new AbortController();
  const ended = once(worker, "exit", listening).then(() => {
    throw new StorageStopped("a storage thread ended without a word");
  });
  try {
    const [message] = await Promise.race([once(worker, "message", listening), ended]);
    return message;
  } finally {
    listening.abort();
  }
}
