import { parentPort, workerData } from "node:worker_threads";
import { type SandboxAddresses, type SandboxOptions, startSandbox } from "./sandbox.js";

/** The thread's side of `startSandboxThread`: sends the addresses once, closes on any message. */
const port = parentPort;
if (port === null) throw new Error("sandbox-thread is run by startSandboxThread");

const options: SandboxOptions = workerData;
const sandbox = await startSandbox(options);
const addresses: SandboxAddresses = { urls: sandbox.urls, caCertificate: sandbox.caCertificate };
port.postMessage(addresses);
port.once("message", () => {
  void sandbox.close().then(() => port.close());
});
