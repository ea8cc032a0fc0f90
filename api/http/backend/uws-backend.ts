import type * as Uws from "uWebSockets.js";
import type { RequestErrorCode } from "../../../storage/parley-error.js";
import { JSON_TYPE } from "../answer/answer.js";
import {
  CLOSED_ROUTE_BODY,
  CLOSED_ROUTE_STATUS,
  firstProtocol,
  type HttpBackend,
  type HttpResponse,
  type RequestHandler,
  type Verb,
  type WebSocketRoute,
} from "./http-backend.js";
import { type FramingRefusal, framingRefusal } from "./request-framing.js";

const REFUSED_FRAMING = JSON.stringify({
  error: "expected one host, and one content-length or transfer-encoding: chunked alone",
  code: "invalid_request" satisfies RequestErrorCode,
});

/** The library accepts options after a host too, which its declarations omit. */
interface ExclusiveListener {
  listen(
    host: string,
    port: number,
    options: Uws.ListenOptions,
    listening: (socket: Uws.us_listen_socket | false) => void,
  ): void;
}
/** Without this option a second server on the same port gets half of the connections, without any error. */
const EXCLUSIVE_PORT = 1 satisfies Uws.ListenOptions;
const SHARED_PORT = 0 satisfies Uws.ListenOptions;

/** Rejects if the package has no binary for this Node and this system. */
export async function openUwsBackend(): Promise<HttpBackend> {
  return new UwsBackend(await import("uWebSockets.js"));
}

/** The only file that uses uWebSockets.js. */
class UwsBackend implements HttpBackend {
  readonly name = "uws";
  readonly answersInOrder = false;
  readonly #library: typeof Uws;
  readonly #app: Uws.TemplatedApp;
  #listenSocket: Uws.us_listen_socket | undefined;

  constructor(library: typeof Uws) {
    this.#library = library;
    this.#app = library.App();
  }

  handle(verb: Verb, path: string, handler: RequestHandler): void {
    this.#app[verb](path, (response, request) => {
      const refusal = framingRefusal(request);
      if (refusal === undefined) handler(response, request);
      else refuse(response, refusal);
    });
  }

  webSocket<Visitor extends object>(path: string, route: WebSocketRoute<Visitor>): void {
    this.#app.ws(path, behaviorOf(route));
  }

  async listen(host: string, port: number, isShared = false): Promise<number | undefined> {
    const listener = this.#app as unknown as ExclusiveListener;
    const options = isShared ? SHARED_PORT : EXCLUSIVE_PORT;
    const socket = await new Promise<Uws.us_listen_socket | false>((resolve) => {
      listener.listen(host, port, options, resolve);
    });
    if (socket === false) return undefined;
    this.#listenSocket = socket;
    return this.#library.us_socket_local_port(socket);
  }

  stopListening(): void {
    if (this.#listenSocket !== undefined) {
      this.#library.us_listen_socket_close(this.#listenSocket);
    }
    this.#listenSocket = undefined;
  }

  close(): void {
    this.stopListening();
    this.#app.close();
  }
}

/**
 * Responds in the next turn: the library closes the connection when data follows an unanswered request, and would
 * parse it as a new request right after a response, even one that closes.
 */
function refuse(response: HttpResponse, status: FramingRefusal | typeof CLOSED_ROUTE_STATUS): void {
  let hasGone = false;
  response.onAborted(() => {
    hasGone = true;
  });
  setImmediate(() => {
    if (hasGone) return;
    response.cork(() => {
      response.writeStatus(status);
      response.writeHeader("content-type", JSON_TYPE);
      response.end(status === CLOSED_ROUTE_STATUS ? CLOSED_ROUTE_BODY : REFUSED_FRAMING, true);
    });
  });
}

function behaviorOf<Visitor extends object>(
  route: WebSocketRoute<Visitor>,
): Uws.WebSocketBehavior<Visitor> {
  return {
    maxPayloadLength: route.messageBytesMax,
    idleTimeout: route.silenceMaxSec,
    sendPingsAutomatically: true,
    // The call legs watch unread data themselves, and report why they close.
    maxBackpressure: 0,
    upgrade: (response, request, context) => {
      const refusal = framingRefusal(request);
      if (refusal !== undefined) return refuse(response, refusal);
      if (route.isClosed?.() === true) return refuse(response, CLOSED_ROUTE_STATUS);
      response.upgrade(
        route.admit(request, response),
        request.getHeader("sec-websocket-key"),
        firstProtocol(request.getHeader("sec-websocket-protocol")),
        request.getHeader("sec-websocket-extensions"),
        context,
      );
    },
    open: (socket) => route.open(socket),
    message: (socket, message, isBinary) => route.message(socket, message, isBinary),
    drain: (socket) => route.drained?.(socket),
    close: (socket, code, reason) => route.close(socket, code, Buffer.from(reason).toString()),
  };
}
