import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { WebSocketServer } from "ws";
import type { Exchange } from "../exchange.js";
import { takeFault } from "../faults.js";
import {
  isGoodKey,
  refuseUpgrade,
  type SandboxContext,
  type Simulator,
  type Upgrade,
} from "../simulator.js";
import {
  HANDSHAKE_FAULTS,
  keyOf,
  type Refusal,
  readStreamOptions,
  refusalOfFault,
} from "./deepgram-handshake.js";
import { answerRest } from "./deepgram-rest.js";
import { DeepgramStream } from "./deepgram-stream.js";

const MESSAGE_BYTES_MAX = 1024 * 1024;

/** api.deepgram.com: speech to text over a WebSocket (`GET /v1/listen`), and its plain HTTP beside it. */
export class DeepgramSimulator implements Simulator {
  readonly #context: SandboxContext;
  readonly #requestIds = new WeakMap<IncomingMessage, string>();
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES_MAX,
  });

  constructor(context: SandboxContext) {
    this.#context = context;
    this.#server.on("headers", (headers, request) => {
      headers.push(`dg-request-id: ${this.#requestIds.get(request) ?? ""}`);
    });
  }

  handleUpgrade(upgrade: Upgrade): void {
    const requestId = randomUUID();
    const fault = takeFault(this.#context.faults, "deepgram", HANDSHAKE_FAULTS);
    if (fault === "stallHandshake") return;
    const options = readStreamOptions(upgrade.url.searchParams);
    const refusal = refusalOfFault(fault) ?? this.#refusalOf(upgrade);
    if (refusal !== undefined) refuse(upgrade, refusal, requestId);
    else if ("status" in options) refuse(upgrade, options, requestId);
    else {
      this.#requestIds.set(upgrade.request, requestId);
      this.#server.handleUpgrade(upgrade.request, upgrade.socket, upgrade.head, (socket) => {
        new DeepgramStream(this.#context, socket, options, requestId).start();
      });
    }
  }

  handleRequest(exchange: Exchange): Promise<void> {
    return answerRest(this.#context, exchange);
  }

  close(): void {
    for (const socket of this.#server.clients) socket.terminate();
    this.#server.close();
  }

  #refusalOf({ request, url }: Upgrade): Refusal | undefined {
    if (url.pathname !== "/v1/listen") {
      return { status: 404, code: "NOT_FOUND", message: "Not found." };
    }
    if (isGoodKey(this.#context, keyOf(request))) return undefined;
    return refusalOfFault("unauthorized");
  }
}

function refuse(upgrade: Upgrade, { status, code, message }: Refusal, requestId: string): void {
  const body = JSON.stringify({ err_code: code, err_msg: message, request_id: requestId });
  refuseUpgrade(upgrade, status, body, {
    "Content-Type": "application/json",
    "dg-request-id": requestId,
    "dg-error": message,
  });
}
