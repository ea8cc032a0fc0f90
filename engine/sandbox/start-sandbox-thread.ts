import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { lifelikeDelays } from "./faults.js";
import type { SandboxAddresses, SandboxOptions } from "./sandbox.js";

export interface SandboxThread extends SandboxAddresses {
  close(): Promise<void>;
}

/** Runs the sandbox in a thread of this process, with the delays of real vendors by default. */
export async function startSandboxThread(options: SandboxOptions = {}): Promise<SandboxThread> {
  const worker = new Worker(new URL("./sandbox-thread.js", import.meta.url), {
    workerData: { faults: lifelikeDelays(), ...options },
  });
  // `once` rejects when the thread fails instead.
  const [addresses]: SandboxAddresses[] = await once(worker, "message");
  if (addresses === undefined) throw new Error("the sandbox thread sent no addresses");
  return {
    ...addresses,
    async close() {
      const exited = once(worker, "exit");
      worker.postMessage("close");
      await exited;
    },
  };
}
