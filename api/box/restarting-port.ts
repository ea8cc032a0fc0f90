import type { Logger } from "../../engine/log.js";
import type { FrontChoice } from "../../engine/settings.js";
import { JSON_TYPE } from "../http/answer/answer.js";
import type { HttpResponse, SocketDoor } from "../http/front/front.js";
import { openFront } from "../http/front/open-front.js";
import { HttpServer } from "../http/server.js";
import { CLOSE_CODE_BY_REFUSAL, closeReason } from "../voice/close-codes.js";
import { errorMessage } from "../voice/voice-message.js";

const RESTARTING = "the server restarts its call processes; try again in a few seconds";
const BODY = JSON.stringify({ error: RESTARTING });
const RETRY_AFTER_SEC = "2";
/** Clients of calls are closed at once, and need not send anything. */
const MESSAGE_BYTES_MAX = 1024 * 1024;
const SILENCE_MAX_SEC = 10;
/** A request's body is read, so that its client reads the answer; a longer one breaks the connection. */
const BODY_BYTES_MAX = 1024 * 1024;

export interface RestartingPortOptions {
  readonly host: string;
  readonly port: number;
  readonly httpFront: FrontChoice;
  readonly log: Logger;
}

/**
 * Listens in the owner while no process that carries calls listens. Callers, requests and webhooks are told at once that the server
 * restarts, in place of a refused connection: 503 with `Retry-After`, and 1012 for a WebSocket, which the client takes for a reason
 * to come back.
 */
export class RestartingPort {
  readonly #options: RestartingPortOptions;
  #server: HttpServer | undefined;
  #isWanted = false;
  #work: Promise<void> = Promise.resolve();

  constructor(options: RestartingPortOptions) {
    this.#options = options;
  }

  /** Resolves when it listens, or does not any more; never rejects. */
  listen(isWanted: boolean): Promise<void> {
    if (isWanted === this.#isWanted) return this.#work;
    this.#isWanted = isWanted;
    this.#work = this.#work
      .then(() => this.#follow())
      .catch((error: unknown) => {
        this.#options.log.error({ error }, "callers cannot be told that the server restarts");
      });
    return this.#work;
  }

  async close(): Promise<void> {
    await this.listen(false);
    this.#server?.close();
  }

  async #follow(): Promise<void> {
    const { host, port } = this.#options;
    if (this.#server !== undefined) return this.#server.takeConnections(this.#isWanted);
    if (!this.#isWanted) return;
    const server = await this.#newServer();
    await server.listen(host, port);
    this.#server = server;
  }

  async #newServer(): Promise<HttpServer> {
    const { httpFront, log } = this.#options;
    const server = new HttpServer(await openFront(httpFront, log), { sharesPort: true });
    server.webSocket("/*", DOOR);
    server.handle("any", "/*", (response) => refuse(response));
    return server;
  }
}

const DOOR: SocketDoor<object> = {
  messageBytesMax: MESSAGE_BYTES_MAX,
  silenceMaxSec: SILENCE_MAX_SEC,
  admit: () => ({}),
  open: (socket) => {
    socket.send(errorMessage(RESTARTING), false);
    socket.end(CLOSE_CODE_BY_REFUSAL.serverStopping, closeReason(RESTARTING));
  },
  message: () => undefined,
  close: () => undefined,
};

function refuse(response: HttpResponse): void {
  let bodyBytes = 0;
  let hasGone = false;
  response.onAborted(() => {
    hasGone = true;
  });
  response.onData((chunk, isLast) => {
    if (hasGone) return;
    bodyBytes += chunk.byteLength;
    if (bodyBytes > BODY_BYTES_MAX) {
      hasGone = true;
      response.close();
    } else if (isLast) {
      // In the next turn, as for each refusal: the library takes what comes right after an answer for a request.
      setImmediate(() => {
        if (!hasGone) answer(response);
      });
    }
  });
}

function answer(response: HttpResponse): void {
  response.cork(() => {
    response.writeStatus("503 Service Unavailable");
    response.writeHeader("content-type", JSON_TYPE);
    response.writeHeader("retry-after", RETRY_AFTER_SEC);
    response.end(BODY, true);
  });
}
