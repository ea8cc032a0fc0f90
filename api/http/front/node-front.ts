import {
  createServer,
  IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type CancelTimer, type Clock, SystemClock } from "../../../engine/time/clock.js";
import { PathTree } from "../endpoints/path-tree.js";
import type { Front, RequestHandler, SocketDoor, Verb } from "./front.js";
import { NodeConnection } from "./node-connection.js";
import { NodeDoor, type OpenDoor } from "./node-door.js";
import { NodeRequest, splitAddress } from "./node-request.js";
import { type NodeResponse, STALL_MAX_MS } from "./node-response.js";
import { codingRefusal } from "./request-framing.js";

const HEAD_BYTES_MAX = 4 * 1024;
const HEADER_LINES_MAX = 100;
/** After this, Node breaks the connection without an answer of ours: more than a body is given, which is told so. */
const REQUEST_MAX_MS = 40_000;
const TIMEOUT_CHECK_MS = 2_000;
const SOCKET_CHECK_SEC = 4;

const VERB_BY_METHOD: Readonly<Record<string, Verb>> = {
  GET: "get",
  POST: "post",
  PATCH: "patch",
  DELETE: "del",
  HEAD: "head",
  OPTIONS: "options",
};

/** node:http and `ws`, where uWebSockets.js does not load or is not wanted. It keeps to the same limits. */
export class NodeFront implements Front {
  readonly name = "node";
  readonly answersInOrder = true;
  readonly #server: Server;
  readonly #paths = new Map<Verb, PathTree<RequestHandler>>();
  readonly #doors = new PathTree<OpenDoor>();
  readonly #allDoors: OpenDoor[] = [];
  readonly #connections = new WeakMap<Duplex, NodeConnection>();
  readonly #stopChecking: CancelTimer;

  /** `clock`: the network's, whatever clock the calls go by. */
  constructor(clock: Clock = new SystemClock()) {
    this.#server = createServer({
      IncomingMessage: messageClass((path) => this.#doors.find(path) !== undefined),
      maxHeaderSize: HEAD_BYTES_MAX,
      keepAliveTimeout: STALL_MAX_MS,
      headersTimeout: STALL_MAX_MS,
      requestTimeout: REQUEST_MAX_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      noDelay: true,
      // Node would answer 400, and then serve what comes behind on the same connection.
      requireHostHeader: false,
    });
    this.#server.maxHeadersCount = 0;
    this.#server.on("connection", (socket) => {
      const connection = new NodeConnection((message, response) => this.#serve(message, response));
      this.#connections.set(socket, connection);
      socket.once("close", () => connection.closed());
    });
    this.#server.on("request", (message, response) => this.#take(message, response));
    this.#server.on("upgrade", (message, socket, head) => this.#upgrade(message, socket, head));
    this.#stopChecking = clock.every(SOCKET_CHECK_SEC * 1_000, () => {
      for (const door of this.#allDoors) door.check(SOCKET_CHECK_SEC);
    });
  }

  handle(verb: Verb, path: string, handler: RequestHandler): void {
    const tree = this.#paths.get(verb) ?? new PathTree<RequestHandler>();
    this.#paths.set(verb, tree);
    tree.set(path, handler);
  }

  webSocket<Visitor extends object>(path: string, door: SocketDoor<Visitor>): void {
    const opened = new NodeDoor(door);
    this.#allDoors.push(opened);
    this.#doors.set(path, opened);
  }

  /** Never shares its port: Node cannot ask the system for that. */
  async listen(host: string, port: number, isShared = false): Promise<number | undefined> {
    if (isShared) return undefined;
    const server = this.#server;
    const isListening = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen({ host, port, exclusive: true }, () => resolve(true));
    });
    return isListening ? portOf(server.address()) : undefined;
  }

  stopListening(): void {
    this.#server.close();
  }

  close(): void {
    this.#stopChecking();
    this.stopListening();
    for (const door of this.#allDoors) door.breakAll();
    this.#server.closeAllConnections();
  }

  #take(message: IncomingMessage, raw: ServerResponse): void {
    const connection = this.#connections.get(message.socket);
    const refusal = refusalStatus(message);
    if (refusal === undefined) return connection?.take(message, raw);
    connection?.refuseFurther();
    raw.writeHead(refusal, { connection: "close", "content-length": 0 }).end();
  }

  #serve(message: IncomingMessage, response: NodeResponse): void {
    const { path, queryString } = splitAddress(message.url ?? "");
    const verb = VERB_BY_METHOD[message.method ?? ""] ?? "any";
    const found = this.#paths.get(verb)?.find(path) ?? this.#paths.get("any")?.find(path);
    if (found === undefined) response.close();
    else found.value(response, new NodeRequest(message, queryString, found.parameters));
  }

  #upgrade(message: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { path, queryString } = splitAddress(message.url ?? "");
    const found = this.#doors.find(path);
    if (found === undefined) return void socket.destroy();
    const refusal = refusalStatus(message);
    if (refusal !== undefined) {
      const lines = ["connection: close", "content-length: 0", "", ""];
      return void socket.end(
        [`HTTP/1.1 ${refusal} ${STATUS_CODES[refusal]}`, ...lines].join("\r\n"),
      );
    }
    const request = new NodeRequest(message, queryString, found.parameters);
    found.value.welcome({ message, request, socket, head });
  }
}

/** What uWebSockets.js refuses too. */
function refusalStatus({ headers, rawHeaders, httpVersion }: IncomingMessage): number | undefined {
  if (rawHeaders.length > 2 * HEADER_LINES_MAX) return 431;
  if (httpVersion !== "1.1") return 505;
  if (hostCountOf(rawHeaders) !== 1) return 400;
  const coding = headers["transfer-encoding"];
  const refusal = coding === undefined ? undefined : codingRefusal(coding);
  return refusal && Number.parseInt(refusal, 10);
}

/** Node keeps the first of several, and lets those who want a WebSocket leave it out. */
function hostCountOf(rawHeaders: readonly string[]): number {
  return rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
}

export function portOf(address: AddressInfo | string | null): number | undefined {
  return typeof address === "object" ? address?.port : undefined;
}

/**
 * Node gives every request that asks for some upgrade to the one listener for upgrades. Only those that want a WebSocket,
 * where there is a door, are to go there; the others (HTTP/2 is asked for by many clients) are requests like any other.
 */
function messageClass(hasDoor: (path: string) => boolean): typeof IncomingMessage {
  return class extends IncomingMessage {
    declare wantsUpgrade: boolean | null;

    constructor(socket: Socket) {
      super(socket);
      this.wantsUpgrade ??= null;
    }

    set upgrade(wanted: boolean | null) {
      this.wantsUpgrade = wanted;
    }

    get upgrade(): boolean | null {
      if (this.wantsUpgrade !== true || this.method === "CONNECT") return this.wantsUpgrade;
      const isForDoor =
        this.method === "GET" &&
        this.headers["sec-websocket-key"] !== undefined &&
        hasDoor(splitAddress(this.url ?? "").path);
      return isForDoor;
    }
  };
}
