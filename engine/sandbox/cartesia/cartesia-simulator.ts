import * as v from "valibot";
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
import { streamAudio } from "../sound/audio-stream.js";
import { speak } from "../sound/simulated-voice.js";
import { isUpgradeRefused, statusOfSpeechFault } from "../sound/voice-over-socket.js";
import { Generation, voiceFormatOf } from "./cartesia-request.js";
import { CartesiaStream } from "./cartesia-stream.js";

const MESSAGE_BYTES_MAX = 64 * 1024;

/** api.cartesia.ai: speech over a WebSocket of contexts (`/tts/websocket`), and whole over HTTP (`POST /tts/bytes`). */
export class CartesiaSimulator implements Simulator {
  readonly #context: SandboxContext;
  readonly #sockets = new SimulatorSockets(MESSAGE_BYTES_MAX);

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  handleUpgrade(upgrade: Upgrade): void {
    const { request, url } = upgrade;
    const header = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const key = header ?? url.searchParams.get("api_key") ?? undefined;
    const version = request.headers["cartesia-version"] ?? url.searchParams.get("cartesia_version");
    if (url.pathname !== "/tts/websocket") refuseUpgrade(upgrade, 404, "");
    else if (typeof version !== "string") refuseUpgrade(upgrade, 400, "");
    else if (!isUpgradeRefused(this.#context, "cartesia", upgrade, key, errorOf)) {
      this.#sockets.accept(upgrade, (socket) => {
        new CartesiaStream(this.#context, socket).start();
      });
    }
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const { journal, faults } = this.#context;
    const request = journal.nextRequest();
    exchange.whenAborted(() => journal.record("cartesia", "aborted", request));
    if (`${exchange.request.method} ${exchange.url.pathname}` !== "POST /tts/bytes") {
      exchange.answerJson(404, errorOf(404));
      return;
    }
    const parsed = v.safeParse(Generation, await exchange.readJson());
    const text = parsed.success ? parsed.output.transcript : undefined;
    journal.record("cartesia", "request", request, text);
    const fault = takeFault(faults, "cartesia");
    const isRight = parsed.success && exchange.header("cartesia-version") !== undefined;
    const isKeyGood = isGoodKey(this.#context, exchange.bearer);
    const status = isKeyGood ? statusOfSpeechFault(fault) : 401;
    if (status !== undefined) exchange.answerJson(status, errorOf(status));
    else if (!isRight) exchange.answerJson(400, errorOf(400));
    else {
      const format = voiceFormatOf(parsed.output);
      const bytes = await speak(parsed.output.transcript, format);
      const audio = { bytes, format };
      const type = format.codec === "mp3" ? "audio/mpeg" : "application/octet-stream";
      const headers = { "content-type": type };
      await streamAudio(this.#context, "cartesia", request, exchange, headers, audio, fault);
    }
  }

  close(): void {
    this.#sockets.close();
  }
}

function errorOf(status: number): object {
  const title = status === 401 ? "Invalid API key" : "The sandbox refuses this";
  return { error_code: `sandbox_${status}`, title, message: title, status_code: status };
}
