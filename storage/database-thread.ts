import { parentPort, workerData } from "node:worker_threads";
import { faultCodeOf } from "./fault.js";
import { GroupCommit } from "./group-commit.js";
import { claimForServer } from "./server-claim.js";
import { openSqliteFile } from "./sqlite-file.js";
import { SqliteError } from "./sqlite-library.js";
import { storageAdvice } from "./storage-advice.js";
import { StorageUnavailable } from "./storage-failure.js";
import type { FromThread, ThreadRequest, ThreadSettings, ToThread } from "./thread-protocol.js";

/** A longer transaction would keep its first requester waiting: this many take about 20 ms. */
const GROUP_REQUESTS_MAX = 500;

/** The log is copied into the database after so many commits, when nobody waits, rather than inside somebody's commit. */
const COMMITS_BEFORE_CHECKPOINT = 250;

if (parentPort === null) throw new Error("the storage thread is started by its client");
const port = parentPort;
const { filePath, isServer }: ThreadSettings = workerData;
const { file, claim } = await open().catch((error: unknown) => {
  // Copied to another thread, an error of SQLite loses its message.
  throw new Error(
    error instanceof StorageUnavailable
      ? error.message
      : storageAdvice(filePath, faultCodeOf(error)),
  );
});
const groupCommit = new GroupCommit(file);
const queue: ThreadRequest[] = [];
let scheduled = false;
let commitsSinceCheckpoint = 0;

port.on("message", (message: ToThread) => {
  switch (message.kind) {
    case "requests":
      queue.push(...message.requests);
      schedule();
      return;
    case "close":
      close();
      return;
  }
});
send({ kind: "ready" });

async function open() {
  const claim = isServer ? claimForServer(filePath) : undefined;
  return { claim, file: await openSqliteFile(filePath) };
}

/** Everything that arrives before the event loop comes round to it is in the next group. */
function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  setImmediate(runGroup);
}

function runGroup(): void {
  scheduled = false;
  const { replies, committed } = groupCommit.run(queue.splice(0, GROUP_REQUESTS_MAX));
  send({ kind: "group", replies, committed });
  if (committed) commitsSinceCheckpoint += 1;
  if (queue.length > 0) schedule();
  else if (commitsSinceCheckpoint >= COMMITS_BEFORE_CHECKPOINT) checkpoint();
}

/**
 * Passive: never waits for a reader; what one still needs is left for the next time. So is everything when the disk is
 * full: nothing is lost by it, and the commits that find no room either tell those who asked for them.
 */
function checkpoint(): void {
  commitsSinceCheckpoint = 0;
  try {
    file.pragma("wal_checkpoint(PASSIVE)");
  } catch (error) {
    if (!(error instanceof SqliteError)) throw error;
  }
}

/** The client closes only when it waits for nothing any more. */
function close(): void {
  checkpoint();
  file.close();
  claim?.close();
  port.close();
}

function send(message: FromThread): void {
  port.postMessage(message);
}
