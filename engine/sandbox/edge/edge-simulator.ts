import type { Exchange } from "../exchange.js";
import { takeFault } from "../faults.js";
import { refuseUpgrade, type SandboxContext, type Simulator, type Upgrade } from "../simulator.js";
import { SimulatorSockets } from "../simulator-sockets.js";
import { EDGE_ID } from "./edge-frame.js";
import { EdgeStream } from "./edge-stream.js";
import { EDGE_TRUSTED_CLIENT_TOKEN, edgeToken } from "./edge-token.js";
import { edgeVoices } from "./edge-voices.js";

const MESSAGE_BYTES_MAX = 64 * 1024;
const SERVICE_PATH = "/consumer/speech/synthesize/readaloud/edge/v1";
const VOICES_PATH = "/consumer/speech/synthesize/readaloud/voices/list";
/** The service cuts off browsers that are too old. */
const BROWSER_MAJOR_MIN = 140;
/** How far ahead the vendor's clock is under the fault `clockSkew`: two steps of the token. */
const SKEW_MS = 600_000;

/** The read-aloud service of Microsoft Edge, as its unofficial clients know it. */
export class EdgeSimulator implements Simulator {
  readonly #context: SandboxContext;
  readonly #sockets = new SimulatorSockets(MESSAGE_BYTES_MAX);

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  handleUpgrade(upgrade: Upgrade): void {
    const fault = takeFault(this.#context.faults, "edge", [
      "unauthorized",
      "clockSkew",
      "rateLimited",
      "serverError",
    ]);
    const skewMs = fault === "clockSkew" ? SKEW_MS : (this.#context.faults.edge.skewMs ?? 0);
    const nowMs = Date.now() + skewMs;
    const headers = { Date: new Date(nowMs).toUTCString() };
    if (upgrade.url.pathname !== SERVICE_PATH) refuseUpgrade(upgrade, 404, "", headers);
    else if (fault === "rateLimited") refuseUpgrade(upgrade, 429, "", headers);
    else if (fault === "serverError") refuseUpgrade(upgrade, 503, "", headers);
    else if (fault === "unauthorized" || !isTrusted(upgrade.url.searchParams, nowMs)) {
      refuseUpgrade(upgrade, 403, "", headers);
    } else {
      this.#sockets.accept(upgrade, (socket) => {
        new EdgeStream(this.#context, socket).start();
      });
    }
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const nowMs = Date.now() + (this.#context.faults.edge.skewMs ?? 0);
    const headers = { Date: new Date(nowMs).toUTCString() };
    const query = exchange.url.searchParams;
    const token = query.get("Sec-MS-GEC");
    const isTrusted =
      query.get("trustedclienttoken") === EDGE_TRUSTED_CLIENT_TOKEN &&
      (token === null || isTokenGood(token, nowMs));
    if (exchange.url.pathname !== VOICES_PATH) exchange.answerText(404, "", headers);
    else if (isTrusted) exchange.answerJson(200, edgeVoices(), headers);
    else exchange.answerText(403, "", headers);
  }

  close(): void {
    this.#sockets.close();
  }
}

function isTrusted(query: URLSearchParams, nowMs: number): boolean {
  const major = Number(/^1-(\d+)\./.exec(query.get("Sec-MS-GEC-Version") ?? "")?.[1]);
  return (
    query.get("TrustedClientToken") === EDGE_TRUSTED_CLIENT_TOKEN &&
    EDGE_ID.test(query.get("ConnectionId") ?? "") &&
    major >= BROWSER_MAJOR_MIN &&
    isTokenGood(query.get("Sec-MS-GEC"), nowMs)
  );
}

/** A token may be one step old or early: clocks are never quite equal. */
function isTokenGood(token: string | null, nowMs: number): boolean {
  return [0, -1, 1].some((steps) => edgeToken(nowMs, steps) === token);
}
