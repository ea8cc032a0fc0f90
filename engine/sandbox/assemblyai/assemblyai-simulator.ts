import { WebSocketServer } from "ws";
import { type DeepgramFault, takeFault } from "../faults.js";
import {
  isGoodKey,
  refuseUpgrade,
  type SandboxContext,
  type Simulator,
  type Upgrade,
} from "../simulator.js";
import { readAssemblyAiOptions } from "./assemblyai-options.js";
import { AssemblyAiStream } from "./assemblyai-stream.js";

const MESSAGE_BYTES_MAX = 256 * 1024;

const STATUS: Partial<Record<DeepgramFault, number>> = {
  unauthorized: 401,
  paymentRequired: 402,
  forbidden: 403,
  rateLimited: 429,
  serverError: 503,
};
const UPGRADE_FAULTS: readonly DeepgramFault[] = [
  "unauthorized",
  "paymentRequired",
  "forbidden",
  "rateLimited",
  "serverError",
  "stallHandshake",
];

/** streaming.assemblyai.com: speech to text over a WebSocket, version 3. */
export class AssemblyAiSimulator implements Simulator {
  readonly #context: SandboxContext;
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES_MAX,
  });

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  handleUpgrade(upgrade: Upgrade): void {
    const { request, url } = upgrade;
    const fault = takeFault(this.#context.faults, "assemblyai", UPGRADE_FAULTS);
    if (fault === "stallHandshake") return;
    // The key stands there without a scheme.
    const key = request.headers.authorization ?? url.searchParams.get("token") ?? undefined;
    const options = readAssemblyAiOptions(url.searchParams);
    const faultStatus = fault === undefined ? undefined : STATUS[fault];
    const status = isGoodKey(this.#context, key) ? faultStatus : 401;
    if (url.pathname !== "/v3/ws") refuse(upgrade, 404, "Not Found");
    else if (status !== undefined) refuse(upgrade, status, "The sandbox refuses this");
    else if (typeof options === "string") refuse(upgrade, 400, options);
    else {
      this.#server.handleUpgrade(request, upgrade.socket, upgrade.head, (socket) => {
        new AssemblyAiStream(this.#context, socket, options).start();
      });
    }
  }

  close(): void {
    for (const socket of this.#server.clients) socket.terminate();
    this.#server.close();
  }
}

function refuse(upgrade: Upgrade, status: number, error: string): void {
  const headers = { "Content-Type": "application/json" };
  refuseUpgrade(upgrade, status, JSON.stringify({ error }), headers);
}
