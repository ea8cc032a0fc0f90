import { parentPort, workerData } from "node:worker_threads";
import { faultCodeOf } from "../fault.js";
import { StorageUnavailable } from "../storage-failure.js";
import { GroupCommit } from "./group-commit.js";
import { GroupQueue } from "./group-queue.js";
import { openStoreFile } from "./open-store-file.js";
import { BUSY_TIMEOUT_MS, SCHEMA_VERSION } from "./sqlite-file.js";
import { SqliteError } from "./sqlite-library.js";
import { storageAdvice } from "./storage-advice.js";
import type { FromThread, ThreadSettings, ToThread } from "./thread-protocol.js";
import { StoreLook } from "./watch/store-look.js";

/** The log is copied into the database after so many commits, when nobody waits, rather than inside somebody's commit. */
const COMMITS_BEFORE_CHECKPOINT = 250;

/** While another process writes: how long a try to write may keep those who only read. */
const LOCK_TRY_MS = 10;

if (parentPort === null) throw new Error("the storage thread is started by its client");
const port = parentPort;
const settings: ThreadSettings = workerData;
const { filePath } = settings;
const { file, claim } = await openStoreFile(settings).catch((error: unknown) => {
  // Copied to another thread, an error of SQLite loses its message.
  throw new Error(
    error instanceof StorageUnavailable
      ? error.message
      : storageAdvice(filePath, faultCodeOf(error)),
  );
});
file.pragma(`busy_timeout = ${LOCK_TRY_MS}`);
const look = new StoreLook({ file, filePath, schemaVersion: SCHEMA_VERSION, claim });
const groupCommit = new GroupCommit(file, () => look.writeFault());
const queue = new GroupQueue(groupCommit, BUSY_TIMEOUT_MS, () => performance.now());
let scheduled = false;
let commitsSinceCheckpoint = 0;

port.on("message", (message: ToThread) => {
  switch (message.kind) {
    case "requests":
      queue.add(message.requests);
      schedule();
      return;
    case "look":
      send({ kind: "report", report: look.report() });
      return;
    case "close":
      close();
      return;
  }
});
send({ kind: "ready", lockWasThere: claim?.lockWasThere ?? true });

/** Everything that arrives before the event loop comes round to it is in the next group. */
function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  setImmediate(runGroup);
}

function runGroup(): void {
  scheduled = false;
  const { replies, committed } = queue.run();
  if (replies.length > 0) send({ kind: "group", replies, committed });
  if (committed) commitsSinceCheckpoint += 1;
  if (!queue.isEmpty) schedule();
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
