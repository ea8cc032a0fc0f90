import { HANDSHAKE_FAULTS, refusalOfFault } from "../deepgram/deepgram-handshake.js";
import { takeFault } from "../faults.js";
import {
  isGoodKey,
  refuseUpgrade,
  type SandboxContext,
  type Simulator,
  type Upgrade,
} from "../simulator.js";
import { SimulatorSockets } from "../simulator-sockets.js";
import { readAssemblyAiOptions } from "./assemblyai-options.js";
import { AssemblyAiStream } from "./assemblyai-stream.js";

const MESSAGE_BYTES_MAX = 256 * 1024;

/** streaming.assemblyai.com: speech to text over a WebSocket, version 3. */
export class AssemblyAiSimulator implements Simulator {
  readonly #context: SandboxContext;
  readonly #sockets = new SimulatorSockets(MESSAGE_BYTES_MAX);

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  handleUpgrade(upgrade: Upgrade): void {
    const { request, url } = upgrade;
    const fault = takeFault(this.#context.faults, "assemblyai", HANDSHAKE_FAULTS);
    if (fault === "stallHandshake") return;
    // The key stands there without a scheme.
    const key = request.headers.authorization ?? url.searchParams.get("token") ?? undefined;
    const options = readAssemblyAiOptions(url.searchParams);
    const status = isGoodKey(this.#context, key) ? refusalOfFault(fault)?.status : 401;
    if (url.pathname !== "/v3/ws") refuse(upgrade, 404, "Not Found");
    else if (status !== undefined) refuse(upgrade, status, "The sandbox refuses this");
    else if (typeof options === "string") refuse(upgrade, 400, options);
    else {
      this.#sockets.accept(upgrade, (socket) => {
        new AssemblyAiStream(this.#context, socket, options).start();
      });
    }
  }

  close(): void {
    this.#sockets.close();
  }
}

function refuse(upgrade: Upgrade, status: number, error: string): void {
  const headers = { "Content-Type": "application/json" };
  refuseUpgrade(upgrade, status, JSON.stringify({ error }), headers);
}
