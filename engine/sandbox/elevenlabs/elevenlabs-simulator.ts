import type { Exchange } from "../exchange.js";
import { refuseUpgrade, type SandboxContext, type Simulator, type Upgrade } from "../simulator.js";
import { SimulatorSockets } from "../simulator-sockets.js";
import { isUpgradeRefused } from "../sound/voice-over-socket.js";
import { accountAnswer } from "./elevenlabs-account.js";
import { refusalOfLookup, refuse } from "./elevenlabs-refusal.js";
import { MultiContextStream } from "./multi-context-stream.js";
import { answerTranscription } from "./speech-to-text.js";
import { type AudioForm, answerSpeech, FORMATS } from "./text-to-speech.js";

const SPEECH_PATH = /^POST \/v1\/text-to-speech\/[^/]+(\/stream)?(\/with-timestamps)?$/;

const STREAM_PATH = /^\/v1\/text-to-speech\/[^/]+\/multi-stream-input$/;
const MESSAGE_BYTES_MAX = 64 * 1024;
const INACTIVITY_SEC = 20;
const INACTIVITY_MAX_SEC = 180;

/** api.elevenlabs.io: speech both ways over HTTP, contexts of speech over a WebSocket, and what its SDK asks of the account. */
export class ElevenLabsSimulator implements Simulator {
  readonly #context: SandboxContext;
  readonly #sockets = new SimulatorSockets(MESSAGE_BYTES_MAX);

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  handleUpgrade(upgrade: Upgrade): void {
    const { request, url } = upgrade;
    const { searchParams: query } = url;
    const given = request.headers["xi-api-key"];
    const key = typeof given === "string" ? given : undefined;
    const format = FORMATS.get(query.get("output_format") ?? "mp3_44100_128");
    const inactivitySec = Number(query.get("inactivity_timeout") ?? INACTIVITY_SEC);
    const isInactivityRight = inactivitySec > 0 && inactivitySec <= INACTIVITY_MAX_SEC;
    const model = query.get("model_id") ?? "eleven_multilingual_v2";
    if (!STREAM_PATH.test(url.pathname)) refuseUpgrade(upgrade, 404, "");
    else if (isUpgradeRefused(this.#context, "elevenlabs", upgrade, key, upgradeRefusal)) return;
    // Its newest models are not for sockets; its MP3 at 24 kHz is not either.
    else if (model.startsWith("eleven_v3")) refuseUpgrade(upgrade, 403, "");
    else if (format === undefined || query.get("output_format") === "mp3_24000_48") {
      refuseUpgrade(upgrade, 400, JSON.stringify(upgradeRefusal(400)));
    } else if (!isInactivityRight) refuseUpgrade(upgrade, 400, "");
    else {
      this.#sockets.accept(upgrade, (socket) => {
        const isAutomatic = query.get("auto_mode") === "true";
        const isAligned = query.get("sync_alignment") === "true";
        const options = { format, isAutomatic, isAligned, inactivitySec };
        new MultiContextStream(this.#context, socket, options).start();
      });
    }
  }

  close(): void {
    this.#sockets.close();
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const { journal } = this.#context;
    const request = journal.nextRequest();
    exchange.whenAborted(() => journal.record("elevenlabs", "aborted", request));
    const route = `${exchange.request.method} ${exchange.url.pathname}`;
    const speech = SPEECH_PATH.exec(route);
    if (speech !== null) {
      const timed: AudioForm = speech[1] === undefined ? "timed" : "timedLines";
      const form = speech[2] === undefined ? "bare" : timed;
      await answerSpeech(this.#context, exchange, request, form);
    } else if (route === "POST /v1/speech-to-text") {
      await answerTranscription(this.#context, exchange, request);
    } else if (exchange.request.method === "GET") this.#lookUp(exchange);
    else exchange.answerJson(404, { detail: "Not Found" });
  }

  #lookUp(exchange: Exchange): void {
    const { pathname } = exchange.url;
    const refusal = refusalOfLookup(this.#context, exchange);
    const answer = accountAnswer(pathname);
    if (refusal !== undefined) refuse(exchange, refusal);
    else if (answer !== undefined) exchange.answerJson(200, answer);
    else if (pathname.startsWith("/v1/voices/")) {
      const message = "A voice with this id was not found.";
      refuse(exchange, { http: 404, status: "voice_not_found", message });
    } else exchange.answerJson(404, { detail: "Not Found" });
  }
}

function upgradeRefusal(status: number): object {
  const word = UPGRADE_WORDS.get(status) ?? "internal_error";
  return { detail: { status: word, message: "The sandbox refuses this." } };
}

const UPGRADE_WORDS: ReadonlyMap<number, string> = new Map([
  [400, "invalid_request"],
  [401, "invalid_api_key"],
  [402, "quota_exceeded"],
  [429, "too_many_concurrent_requests"],
]);
