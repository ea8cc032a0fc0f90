import { parentPort, workerData } from "node:worker_threads";
import { faultOf } from "../sqlite-fault.js";
import type { BackupReply, BackupSettings } from "../thread-protocol.js";
import { backupDatabase } from "./live-backup.js";

const settings: BackupSettings = workerData;
parentPort?.postMessage(await reply());

async function reply(): Promise<BackupReply> {
  try {
    return { report: await backupDatabase(settings.sourcePath, settings.targetPath) };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}
