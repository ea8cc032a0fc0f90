import { parentPort, workerData } from "node:worker_threads";
import { faultOf } from "./fault.js";
import { backupDatabase } from "./live-backup.js";
import type { BackupReply, BackupSettings } from "./thread-protocol.js";

const settings: BackupSettings = workerData;
parentPort?.postMessage(await reply());

async function reply(): Promise<BackupReply> {
  try {
    await backupDatabase(settings.sourcePath, settings.targetPath);
    return { fault: undefined };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}
