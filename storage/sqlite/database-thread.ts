import { parentPort } from "node:worker_threads";
import { messageOf } from "../statements/fault.js";
import type { FileSettings } from "./open-store-file.js";
import { ServedFile } from "./served-file.js";
import type { FromFile, ToThread } from "./thread-protocol.js";

if (parentPort === null) throw new Error("the storage thread is started by its client");
const port = parentPort;
const files = new Map<number, ServedFile>();
let opening = Promise.resolve();

port.on("message", ({ fileId, message }: ToThread) => {
  if (message.kind === "open") {
    // Files are opened one after the other: an update of the schema holds the file's lock while other work runs on this
    // thread.
    opening = opening.then(() => open(fileId, message.settings));
    return;
  }
  files.get(fileId)?.receive(message);
  if (message.kind === "close") files.delete(fileId);
});

async function open(fileId: number, settings: FileSettings): Promise<void> {
  const send = (message: FromFile) => port.postMessage({ fileId, message });
  try {
    files.set(fileId, await ServedFile.open(settings, send));
  } catch (error) {
    // An error of SQLite loses its message when it is copied to another thread.
    send({ kind: "refused", reason: messageOf(error) });
  }
}
