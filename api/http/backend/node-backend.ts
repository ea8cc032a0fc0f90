import {
  createServer,
  IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer, type Server as WsServer } from "ws";
import { type CancelTimer, type Clock, SystemClock } from "../../../engine/time/clock.js";
import { JSON_TYPE } from "../answer/answer.js";
import { addressBytes } from "../request/client-address.js";
import {
  type BackendSocket,
  CLOSED_ROUTE_BODY,
  CLOSED_ROUTE_STATUS,
  firstProtocol,
  type HttpBackend,
  type HttpRequest,
  type HttpResponse,
  REFUSED_MESSAGE,
  type RequestHandler,
  type Verb,
  type WebSocketRoute,
} from "./http-backend.js";
import { codingRefusal } from "./request-framing.js";

/** The time limit of uWebSockets.js for a client that neither sends the rest of its body nor reads its response. */
export const STALL_MAX_MS = 10_000;

const NOTHING = new ArrayBuffer(0);

/** A response of node:http with the interface of the backend. */
export class NodeResponse implements HttpResponse {
  readonly #message: IncomingMessage;
  readonly #raw: ServerResponse;
  #statusLine = "200 OK";
  readonly #headers: string[] = [];
  #sentBytes = 0;
  #writeCount = 0;
  #hasUnread = false;
  #isOver = false;
  readonly #onOver: () => void;
  #onWritable: (sentBytes: number) => unknown = () => undefined;
  #onAborted: () => void = () => undefined;

  /** `onOver`: called when the response is ended or its connection breaks. */
  constructor(message: IncomingMessage, raw: ServerResponse, onOver: () => void) {
    this.#message = message;
    this.#raw = raw;
    this.#onOver = onOver;
  }

  getRemoteAddress(): ArrayBuffer {
    return addressBytes(this.#message.socket.remoteAddress ?? "");
  }

  /** Node sends the writes of one turn together anyway. */
  cork(whole: () => void): void {
    whole();
  }

  writeStatus(line: string): void {
    this.#statusLine = line;
  }

  writeHeader(name: string, value: string): void {
    const [first = "", ...lines] = value.split("\r\n");
    this.#headers.push(name, first);
    for (const line of lines) {
      const colon = line.indexOf(":");
      this.#headers.push(line.slice(0, colon), line.slice(colon + 2));
    }
  }

  write(text: string): boolean {
    this.#writeHead();
    if (text !== "") return this.#send((onSent) => this.#raw.write(text, onSent));
    this.#raw.flushHeaders();
    return true;
  }

  end(body = "", closes = false): void {
    if (!this.#raw.headersSent) this.writeHeader("content-length", `${Buffer.byteLength(body)}`);
    if (closes) this.writeHeader("connection", "close");
    this.#end(body);
  }

  endWithoutBody(): void {
    this.#end("");
  }

  tryEnd(bytes: Uint8Array, totalBytes: number): [isTaken: boolean, isWhole: boolean] {
    if (!this.#raw.headersSent) this.writeHeader("content-length", String(totalBytes));
    this.#writeHead();
    if (bytes.length > 0) this.#send((onSent) => this.#raw.write(bytes, onSent));
    this.#sentBytes += bytes.length;
    const isWhole = !this.#hasUnread && this.#sentBytes >= totalBytes;
    if (isWhole) this.#end("");
    return [!this.#hasUnread, isWhole];
  }

  onWritable(handler: (sentBytes: number) => boolean): void {
    this.#onWritable = handler;
  }

  onAborted(handler: () => void): void {
    this.#onAborted = handler;
  }

  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    const { socket } = this.#message;
    socket.setTimeout(STALL_MAX_MS);
    this.#message.on("data", (part: Buffer) => handler(copiedBuffer(part), false));
    this.#message.on("end", () => {
      // After the response, Node itself applies the connection's timeouts.
      if (!this.#isOver && !this.#hasUnread) socket.setTimeout(0);
      handler(NOTHING, true);
    });
  }

  close(): void {
    this.#message.socket.destroy();
    this.connectionClosed();
  }

  connectionClosed(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onAborted();
    this.#onOver();
  }

  #writeHead(): void {
    if (this.#raw.headersSent) return;
    const space = this.#statusLine.indexOf(" ");
    const status = Number(this.#statusLine.slice(0, space));
    this.#raw.writeHead(status, this.#statusLine.slice(space + 1), this.#headers);
  }

  #end(body: string): void {
    this.#writeHead();
    this.#isOver = true;
    this.#raw.end(body);
    if (isUnread(this.#raw)) this.#message.socket.setTimeout(STALL_MAX_MS);
    this.#onOver();
  }

  /** Sends immediately, bypassing Node's own corking: only then is it known what the system accepts. */
  #send(write: (onSent: () => void) => void): boolean {
    const { socket } = this.#raw;
    this.#writeCount += 1;
    const count = this.#writeCount;
    socket?.cork();
    write(() => this.#sent(count));
    socket?.uncork();
    if (!isUnread(this.#raw)) return !this.#hasUnread;
    this.#hasUnread = true;
    this.#message.socket.setTimeout(STALL_MAX_MS);
    return false;
  }

  #sent(count: number): void {
    if (this.#isOver || !this.#hasUnread || count !== this.#writeCount) return;
    this.#hasUnread = false;
    this.#message.socket.setTimeout(0);
    this.#onWritable(this.#sentBytes);
  }
}

/** Without a socket it waits for an earlier response that has unread data. */
function isUnread({ socket }: ServerResponse): boolean {
  return socket === null || socket.writableLength > 0;
}

/** Copies only these bytes: Node's chunk may be a part of a larger buffer. */
export function copiedBuffer({ buffer, byteOffset, byteLength }: Uint8Array): ArrayBuffer {
  const copy = new ArrayBuffer(byteLength);
  new Uint8Array(copy).set(new Uint8Array(buffer, byteOffset, byteLength));
  return copy;
}

/** The number of pipelined requests that may wait. */
const WAITING_MAX = 8;

export type Serve = (message: IncomingMessage, response: NodeResponse) => void;

/** The requests of one connection: each is served after the response to the one before. */
export class NodeConnection {
  readonly #serve: Serve;
  readonly #waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  #current: NodeResponse | undefined;
  #takesMore = true;

  constructor(serve: Serve) {
    this.#serve = serve;
  }

  take(message: IncomingMessage, raw: ServerResponse): void {
    if (!this.#takesMore) return;
    if (this.#current === undefined && this.#waiting.length === 0) {
      this.#start(message, raw);
      return;
    }
    if (this.#waiting.length === WAITING_MAX) message.socket.destroy();
    else this.#waiting.push([message, raw]);
  }

  /** Called after a request that is refused and closes its connection: Node still reads the data behind it. */
  refuseFurther(): void {
    this.#takesMore = false;
  }

  closed(): void {
    this.#waiting.length = 0;
    this.#current?.connectionClosed();
  }

  #start(message: IncomingMessage, raw: ServerResponse): void {
    const response = new NodeResponse(message, raw, () => this.#over());
    this.#current = response;
    this.#serve(message, response);
  }

  #over(): void {
    this.#current = undefined;
    if (this.#waiting.length > 0) queueMicrotask(() => this.#next());
  }

  #next(): void {
    if (this.#current !== undefined) return;
    const [message, raw] = this.#waiting.shift() ?? [];
    if (message !== undefined && raw !== undefined) this.#start(message, raw);
  }
}

export interface SplitAddress {
  readonly path: string;
  readonly queryString: string;
}

export function splitAddress(address: string): SplitAddress {
  const mark = address.indexOf("?");
  return mark === -1
    ? { path: address, queryString: "" }
    : { path: address.slice(0, mark), queryString: address.slice(mark + 1) };
}

/** A request of node:http with the interface of the backend. */
export class NodeRequest implements HttpRequest {
  readonly #message: IncomingMessage;
  readonly #queryString: string;
  readonly #parameters: readonly string[];

  constructor(message: IncomingMessage, queryString: string, parameters: readonly string[]) {
    this.#message = message;
    this.#queryString = queryString;
    this.#parameters = parameters;
  }

  getMethod(): string {
    return (this.#message.method ?? "").toLowerCase();
  }

  getHeader(lowerCaseName: string): string {
    return this.#message.headersDistinct[lowerCaseName]?.[0] ?? "";
  }

  getParameter(index: number): string | undefined {
    return this.#parameters[index];
  }

  getQuery(key?: string): string | undefined {
    if (key === undefined) return this.#queryString;
    return new URLSearchParams(this.#queryString).get(key) ?? undefined;
  }

  forEach(each: (name: string, value: string) => void): void {
    const { rawHeaders } = this.#message;
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      each((rawHeaders[at] ?? "").toLowerCase(), rawHeaders[at + 1] ?? "");
    }
  }
}

/** A silent client is pinged this long before its connection is closed, as uWebSockets.js does. */
const PING_BEFORE_SEC = 8;
const NO_CODE = 1005;
const BROKEN = 1006;

/**
 * The library closes on its own for two reasons. A response to the client's close is sent unchanged. A message
 * that violates the protocol or is too large gets no response: the connection is destroyed, as with
 * uWebSockets.js.
 */
export class AnsweringSocket extends WebSocket {
  #isBroken = false;
  onConcluded: (code: number, reason: string) => void = () => undefined;

  /** Only the library calls this. It reports the error right afterwards. */
  override close(code?: number, reason?: string | Buffer): void {
    const words = reason?.toString() ?? "";
    queueMicrotask(() => {
      if (this.#isBroken) return;
      super.close(code, words);
      this.onConcluded(code ?? NO_CODE, words);
    });
  }

  closeWith(code: number, reason: string): void {
    super.close(code, reason);
  }

  breakOff(): void {
    this.#isBroken = true;
    this.terminate();
  }
}

interface NodeSocketParts<Visitor extends object> {
  readonly raw: AnsweringSocket;
  readonly connection: Socket;
  readonly visitor: Visitor;
  readonly route: WebSocketRoute<Visitor>;
}

/** A WebSocket of the library `ws` with the interface of the backend. */
export class NodeSocket<Visitor extends object> implements BackendSocket<Visitor> {
  readonly #raw: AnsweringSocket;
  readonly #connection: Socket;
  readonly #visitor: Visitor;
  readonly #route: WebSocketRoute<Visitor>;
  readonly #onTaken: (() => void) | undefined;
  #isOpen = true;
  #readBytes: number;
  #silentSec = 0;

  constructor({ raw, connection, visitor, route }: NodeSocketParts<Visitor>) {
    this.#raw = raw;
    this.#connection = connection;
    this.#readBytes = connection.bytesRead;
    this.#visitor = visitor;
    this.#route = route;
    // The connection's own event reports only the data that exceeded its buffer.
    this.#onTaken = route.drained && (() => this.#isOpen && route.drained?.(this));
    raw.on("message", (message: Buffer, isBinary) => {
      if (this.#isOpen) route.message(this, copiedBuffer(message), isBinary);
    });
    raw.onConcluded = (code, reason) => this.#closed(code, reason);
    raw.on("error", (error) => this.#failed(error));
    raw.on("close", () => this.#closed(BROKEN, ""));
  }

  getUserData(): Visitor {
    return this.#visitor;
  }

  send(message: string | Uint8Array, isBinary: boolean): number {
    this.#raw.send(message, { binary: isBinary }, this.#onTaken);
    return 1;
  }

  end(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#raw.closeWith(code, reason);
    this.#closed(code, reason);
  }

  getBufferedAmount(): number {
    return this.#raw.bufferedAmount;
  }

  /** Breaks the connection, even if the socket has begun to close. */
  breakOff(reason: string): void {
    this.#raw.breakOff();
    this.#closed(BROKEN, reason);
  }

  check(passedSec: number): void {
    if (!this.#isOpen) return;
    const { bytesRead } = this.#connection;
    this.#silentSec = bytesRead === this.#readBytes ? this.#silentSec + passedSec : 0;
    this.#readBytes = bytesRead;
    if (this.#silentSec >= this.#route.silenceMaxSec) this.breakOff("");
    else if (this.#silentSec >= this.#route.silenceMaxSec - PING_BEFORE_SEC) this.#raw.ping();
  }

  #failed(error: Error): void {
    if (!isTooBig(error)) return this.breakOff("");
    if (this.#isOpen) this.#route.refused?.(this);
    // The library's own close follows immediately, and has no effect on a closed socket.
    if (this.#isOpen) this.breakOff(REFUSED_MESSAGE);
  }

  #closed(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#route.close(this, code, reason);
  }
}

function isTooBig(error: Error): boolean {
  return "code" in error && error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";
}

/** A request for a WebSocket, with the bytes that followed it. */
export interface UpgradeRequest {
  readonly message: IncomingMessage;
  readonly request: HttpRequest;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** The sockets of one path, whatever data is kept about their clients. */
export interface OpenWebSocketRoute {
  welcome(upgrade: UpgradeRequest): void;
  /** Disconnects silent clients. Call it every `passedSec`. */
  check(passedSec: number): void;
  breakAll(): void;
}

const CLOSED = [
  `HTTP/1.1 ${CLOSED_ROUTE_STATUS}`,
  "connection: close",
  `content-type: ${JSON_TYPE}`,
  `content-length: ${CLOSED_ROUTE_BODY.length}`,
  "",
  CLOSED_ROUTE_BODY,
].join("\r\n");

/** A WebSocket route of the backend on the library `ws`. */
export class NodeWebSocketRoute<Visitor extends object> implements OpenWebSocketRoute {
  readonly #route: WebSocketRoute<Visitor>;
  readonly #sockets = new Set<NodeSocket<Visitor>>();
  readonly #server: WsServer<typeof AnsweringSocket>;

  constructor(route: WebSocketRoute<Visitor>) {
    this.#route = route;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: route.messageBytesMax,
      WebSocket: AnsweringSocket,
      handleProtocols: (offered) => firstProtocol([...offered].join()),
    });
  }

  welcome({ message, request, socket, head }: UpgradeRequest): void {
    if (this.#route.isClosed?.() === true) return void socket.end(CLOSED);
    const connection = message.socket;
    const visitor = this.#route.admit(request, {
      getRemoteAddress: () => addressBytes(connection.remoteAddress ?? ""),
    });
    this.#server.handleUpgrade(message, socket, head, (raw) => {
      const opened = new NodeSocket({ raw, connection, visitor, route: this.#route });
      this.#sockets.add(opened);
      raw.once("close", () => this.#sockets.delete(opened));
      this.#route.open(opened);
    });
  }

  check(passedSec: number): void {
    for (const socket of this.#sockets) socket.check(passedSec);
  }

  breakAll(): void {
    for (const socket of this.#sockets) socket.breakOff("");
  }
}

export interface FoundPath<Value> {
  readonly value: Value;
  /** The segments at `:name`, undecoded, from left to right. */
  readonly parameters: readonly string[];
}

interface Branch<Value> {
  readonly named: Map<string, Branch<Value>>;
  /** The branch for a segment `:name`. */
  open: Branch<Value> | undefined;
  value: Value | undefined;
  /** The branch for `/*` at the end of the path. */
  rest: Value | undefined;
}

/**
 * Finds the value for a path. A literal segment takes precedence over `:name`, which matches no empty one, and
 * that over `*`.
 */
export class PathTree<Value> {
  readonly #root: Branch<Value> = newBranch();

  /** `path` begins with a slash. */
  set(path: string, value: Value): void {
    let branch = this.#root;
    for (const segment of path.slice(1).split("/")) {
      if (segment === "*") {
        branch.rest = value;
        return;
      }
      branch = segment.startsWith(":") ? openBranch(branch) : namedBranch(branch, segment);
    }
    branch.value = value;
  }

  find(path: string): FoundPath<Value> | undefined {
    return found(this.#root, path.slice(1).split("/"), 0, []);
  }
}

function found<Value>(
  branch: Branch<Value>,
  segments: readonly string[],
  depth: number,
  parameters: readonly string[],
): FoundPath<Value> | undefined {
  const segment = segments[depth];
  if (segment === undefined) {
    return branch.value === undefined ? undefined : { value: branch.value, parameters };
  }
  const named = branch.named.get(segment);
  const byName = named && found(named, segments, depth + 1, parameters);
  if (byName !== undefined) return byName;
  const { open, rest } = branch;
  if (open !== undefined && segment !== "") {
    const byParameter = found(open, segments, depth + 1, [...parameters, segment]);
    if (byParameter !== undefined) return byParameter;
  }
  return rest === undefined ? undefined : { value: rest, parameters };
}

function newBranch<Value>(): Branch<Value> {
  return { named: new Map(), open: undefined, value: undefined, rest: undefined };
}

function openBranch<Value>(branch: Branch<Value>): Branch<Value> {
  branch.open ??= newBranch();
  return branch.open;
}

function namedBranch<Value>(branch: Branch<Value>, segment: string): Branch<Value> {
  const known = branch.named.get(segment);
  if (known !== undefined) return known;
  const made = newBranch<Value>();
  branch.named.set(segment, made);
  return made;
}

const HEAD_BYTES_MAX = 4 * 1024;
const HEADER_LINES_MAX = 100;
/**
 * Node then closes the connection without a response. This limit is longer than the deadline of a body, which gets a
 * 408.
 */
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

/** node:http and `ws`, for systems without uWebSockets.js. It has the same limits. */
export class NodeBackend implements HttpBackend {
  readonly name = "node";
  readonly answersInOrder = true;
  readonly #server: Server;
  readonly #paths = new Map<Verb, PathTree<RequestHandler>>();
  readonly #routes = new PathTree<OpenWebSocketRoute>();
  readonly #allRoutes: OpenWebSocketRoute[] = [];
  readonly #connections = new WeakMap<Duplex, NodeConnection>();
  readonly #stopChecking: CancelTimer;

  /** `clock`: the network's clock, whatever clock the calls use. */
  constructor(clock: Clock = new SystemClock()) {
    this.#server = createServer({
      IncomingMessage: messageClass((path) => this.#routes.find(path) !== undefined),
      maxHeaderSize: HEAD_BYTES_MAX,
      keepAliveTimeout: STALL_MAX_MS,
      headersTimeout: STALL_MAX_MS,
      requestTimeout: REQUEST_MAX_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      noDelay: true,
      // Node would respond with 400, and then serve what follows on the same connection.
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
      for (const route of this.#allRoutes) route.check(SOCKET_CHECK_SEC);
    });
  }

  handle(verb: Verb, path: string, handler: RequestHandler): void {
    const tree = this.#paths.get(verb) ?? new PathTree<RequestHandler>();
    this.#paths.set(verb, tree);
    tree.set(path, handler);
  }

  webSocket<Visitor extends object>(path: string, route: WebSocketRoute<Visitor>): void {
    const opened = new NodeWebSocketRoute(route);
    this.#allRoutes.push(opened);
    this.#routes.set(path, opened);
  }

  /** Never shares its port: Node cannot request that from the system. */
  async listen(host: string, port: number, isShared = false): Promise<number | undefined> {
    if (isShared) return undefined;
    const server = this.#server;
    const isBackchannel = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen({ host, port, exclusive: true }, () => resolve(true));
    });
    return isBackchannel ? portOf(server.address()) : undefined;
  }

  stopListening(): void {
    this.#server.close();
  }

  close(): void {
    this.#stopChecking();
    this.stopListening();
    for (const route of this.#allRoutes) route.breakAll();
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
    const found = this.#routes.find(path);
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

/** Requests that uWebSockets.js refuses too. */
function refusalStatus({ headers, rawHeaders, httpVersion }: IncomingMessage): number | undefined {
  if (rawHeaders.length > 2 * HEADER_LINES_MAX) return 431;
  if (httpVersion !== "1.1") return 505;
  if (hostCountOf(rawHeaders) !== 1) return 400;
  const coding = headers["transfer-encoding"];
  const refusal = coding === undefined ? undefined : codingRefusal(coding);
  return refusal && Number.parseInt(refusal, 10);
}

/** Node keeps the first Host header of several, and allows WebSocket clients to omit it. */
function hostCountOf(rawHeaders: readonly string[]): number {
  return rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
}

export function portOf(address: AddressInfo | string | null): number | undefined {
  return typeof address === "object" ? address?.port : undefined;
}

/**
 * Node passes every request with an upgrade header to its upgrade listener. Only WebSocket requests with a
 * matching route go there; the others (many clients offer HTTP/2) are ordinary requests.
 */
function messageClass(hasRoute: (path: string) => boolean): typeof IncomingMessage {
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
      const isForRoute =
        this.method === "GET" &&
        this.headers["sec-websocket-key"] !== undefined &&
        hasRoute(splitAddress(this.url ?? "").path);
      return isForRoute;
    }
  };
}
