import type { Exchange } from "../exchange.js";
import type { SandboxContext, Simulator } from "../simulator.js";
import { notFound, refuse } from "./api-error.js";
import type { ApiRequest } from "./api-request.js";
import { answerChatCompletion } from "./chat-completions.js";
import { answerModel, answerModels } from "./models.js";
import { answerResponse, answerStoredResponse } from "./responses.js";
import { StoredResponses } from "./stored-responses.js";
import { answerTranscription } from "./transcriptions.js";

/** The API of OpenAI without its speech, and that of Groq, which is shaped like it. */
export class OpenAiSimulator implements Simulator {
  readonly #context: SandboxContext;
  readonly #vendor: ApiRequest["vendor"];
  readonly #stored = new StoredResponses();

  constructor(context: SandboxContext, vendor: ApiRequest["vendor"]) {
    this.#context = context;
    this.#vendor = vendor;
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const { journal } = this.#context;
    const id = journal.nextRequest();
    const receivedNs = process.hrtime.bigint();
    exchange.whenAborted(() => journal.record(this.#vendor, "aborted", id));
    const request = { context: this.#context, vendor: this.#vendor, exchange, id, receivedNs };
    const { pathname } = exchange.url;
    const route = `${exchange.request.method} ${pathname}`;
    const responseName = /^GET \/responses\/([^/]+)$/.exec(route)?.[1];
    const modelName = /^GET \/models\/(.+)$/.exec(route)?.[1];
    if (route === "POST /chat/completions") await answerChatCompletion(request);
    else if (route === "POST /audio/transcriptions") await answerTranscription(request);
    else if (route === "GET /models") answerModels(request);
    else if (modelName !== undefined) answerModel(request, decodeURIComponent(modelName));
    else if (route === "POST /responses") await answerResponse(request, this.#stored);
    else if (responseName !== undefined) answerStoredResponse(request, this.#stored, responseName);
    else refuse(request, notFound(`Invalid URL (${route})`, "url", null));
  }
}
