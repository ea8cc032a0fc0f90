import type { Exchange } from "../exchange.js";
import type { SandboxContext, Simulator } from "../simulator.js";
import { accountAnswer } from "./elevenlabs-account.js";
import { refusalOfLookup, refuse } from "./elevenlabs-refusal.js";
import { answerTranscription } from "./speech-to-text.js";
import { type AudioForm, answerSpeech } from "./text-to-speech.js";

const SPEECH_PATH = /^POST \/v1\/text-to-speech\/[^/]+(\/stream)?(\/with-timestamps)?$/;

/** api.elevenlabs.io over HTTP: speech both ways, and what its SDK asks about the account. */
export class ElevenLabsSimulator implements Simulator {
  readonly #context: SandboxContext;

  constructor(context: SandboxContext) {
    this.#context = context;
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
