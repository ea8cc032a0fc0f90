import { randomUUID } from "node:crypto";
import type { WebSocket } from "ws";
import type { Exchange } from "../exchange.js";
import { takeFault } from "../faults.js";
import {
  isGoodKey,
  refuseUpgrade,
  type SandboxContext,
  type Simulator,
  type Upgrade,
} from "../simulator.js";
import { SimulatorSockets } from "../simulator-sockets.js";
import { isUpgradeRefused } from "../sound/voice-over-socket.js";
import { AuraStream, answerSpeak, auraError, auraFormat } from "./aura.js";
import {
  HANDSHAKE_FAULTS,
  keyOf,
  type Refusal,
  readStreamOptions,
  refusalOfFault,
} from "./deepgram-handshake.js";
import { answerRest } from "./deepgram-rest.js";
import { DeepgramStream } from "./deepgram-stream.js";
import { FluxStream, readFluxOptions } from "./flux-stream.js";

const MESSAGE_BYTES_MAX = 1024 * 1024;

/**
 * api.deepgram.com: both directions over WebSockets (`/v1/listen`, Flux at `/v2/listen`, `/v1/speak`), plus its
 * plain HTTP.
 */
export class DeepgramSimulator implements Simulator {
  readonly #context: SandboxContext;
  readonly #sockets = new SimulatorSockets(MESSAGE_BYTES_MAX);

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  handleUpgrade(upgrade: Upgrade): void {
    const requestId = randomUUID();
    if (upgrade.url.pathname === "/v1/speak") {
      this.#speak(upgrade, requestId);
      return;
    }
    const fault = takeFault(this.#context.faults, "deepgram", HANDSHAKE_FAULTS);
    if (fault === "stallHandshake") return;
    const { pathname, searchParams } = upgrade.url;
    const isFlux = pathname === "/v2/listen";
    const options = isFlux ? readFluxOptions(searchParams) : readStreamOptions(searchParams);
    const refusal = refusalOfFault(fault) ?? this.#refusalOf(upgrade);
    if (refusal !== undefined) refuse(upgrade, refusal, requestId);
    else if ("status" in options) refuse(upgrade, options, requestId);
    else {
      const open = (socket: WebSocket) => {
        if ("eotThreshold" in options) {
          new FluxStream(this.#context, socket, options, requestId).start();
        } else new DeepgramStream(this.#context, socket, options, requestId).start();
      };
      this.#sockets.accept(upgrade, open, requestIdHeader(requestId));
    }
  }

  handleRequest(exchange: Exchange): Promise<void> {
    const isSpeech = `${exchange.request.method} ${exchange.url.pathname}` === "POST /v1/speak";
    return isSpeech ? answerSpeak(this.#context, exchange) : answerRest(this.#context, exchange);
  }

  close(): void {
    this.#sockets.close();
  }

  #speak(upgrade: Upgrade, requestId: string): void {
    const { request, url } = upgrade;
    const format = auraFormat(url.searchParams, true);
    const key = keyOf(request);
    if (isUpgradeRefused(this.#context, "deepgramSpeech", upgrade, key, auraError)) return;
    if (typeof format === "string") {
      refuseUpgrade(upgrade, 400, JSON.stringify(auraError(400, format)), { "dg-error": format });
      return;
    }
    const model = url.searchParams.get("model") ?? "";
    const open = (socket: WebSocket) =>
      new AuraStream(this.#context, socket, format, { requestId, model }).start();
    this.#sockets.accept(upgrade, open, requestIdHeader(requestId));
  }

  #refusalOf({ request, url }: Upgrade): Refusal | undefined {
    if (url.pathname !== "/v1/listen" && url.pathname !== "/v2/listen") {
      return { status: 404, code: "NOT_FOUND", message: "Not found." };
    }
    if (isGoodKey(this.#context, keyOf(request))) return undefined;
    return refusalOfFault("unauthorized");
  }
}

function requestIdHeader(requestId: string): string {
  return `dg-request-id: ${requestId}`;
}

function refuse(upgrade: Upgrade, { status, code, message }: Refusal, requestId: string): void {
  const body = JSON.stringify({ err_code: code, err_msg: message, request_id: requestId });
  refuseUpgrade(upgrade, status, body, {
    "Content-Type": "application/json",
    "dg-request-id": requestId,
    "dg-error": message,
  });
}
