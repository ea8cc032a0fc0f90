import type { RequestErrorCode } from "../../../storage/parley-error.js";
/**
 * The HTTP and WebSocket backend that the layers above use. The methods of a request, a response and a socket are
 * those of uWebSockets.js, so that its own objects need no wrappers.
 */
export interface HttpBackend {
  readonly name: "uws" | "node";
  /** Whether a pipelined request waits for the response before it, or closes the connection. */
  readonly answersInOrder: boolean;
  /** Registers a handler for `path`; segments may be `:id`, and the last may be `*`. */
  handle(verb: Verb, path: string, handler: RequestHandler): void;
  webSocket<Visitor extends object>(path: string, route: WebSocketRoute<Visitor>): void;
  /**
   * Resolves with the port, which the system chooses if `port` is 0; with undefined if the port is unavailable.
   * `isShared`: other processes of this server may listen there too, and the system distributes the connections.
   */
  listen(host: string, port: number, isShared?: boolean): Promise<number | undefined>;
  /** Open connections stay open. */
  stopListening(): void;
  /** Destroys everything that is open. */
  close(): void;
}

/** The verbs as uWebSockets.js names them; `any` matches when no other does. */
export type Verb = "get" | "post" | "patch" | "del" | "head" | "options" | "any";

export type RequestHandler = (response: HttpResponse, request: HttpRequest) => void;

/** The request must not be used after the callback that received it. */
export interface HttpRequest {
  /** Lower case. */
  getMethod(): string;
  /** The value of the first header of that name; empty if there is none. */
  getHeader(lowerCaseName: string): string;
  /** The segment at the path's `:name` of that index, undecoded. */
  getParameter(index: number): string | undefined;
  /** The query string, undecoded; with a key, that parameter's value, decoded. */
  getQuery(key?: string): string | undefined;
  /** Each header line; names in lower case. */
  forEach(each: (name: string, value: string) => void): void;
}

/**
 * A response must not be used after it is ended, closed or aborted. A few pipelined requests wait for it; more close
 * its connection.
 */
export interface HttpResponse {
  /** The client's address as 4 or 16 bytes. */
  getRemoteAddress(): ArrayBuffer;
  /** Writes within `whole` are sent together. */
  cork(whole: () => void): unknown;
  /** Writes the status, such as `200 OK`, before the headers. */
  writeStatus(line: string): unknown;
  /** The value may contain further header lines, each after a CRLF. */
  writeHeader(name: string, value: string): unknown;
  /** A piece of a body of unknown length; an empty one sends only the head. False while the client has unread data. */
  write(text: string): boolean;
  /** `closes`: closes the connection after this response. */
  end(body?: string, closes?: boolean): unknown;
  endWithoutBody(): unknown;
  /**
   * A piece of a body of `totalBytes`, without a copy. Returns whether the piece is accepted, and whether the body
   * is complete with it. A piece that is not accepted must not change until `onWritable` reports how many bytes of
   * the body have been sent.
   */
  tryEnd(bytes: Uint8Array, totalBytes: number): [isTaken: boolean, isWhole: boolean];
  /** Called when the client has read the pending data. */
  onWritable(handler: (sentBytes: number) => boolean): unknown;
  /** Called when the connection breaks before the end; replaces the previous handler. */
  onAborted(handler: () => void): unknown;
  /** Passes on the request's body, in pieces that are valid during the call. Only within the request's own callback. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  /** Destroys the connection. */
  close(): unknown;
}

/** The handler of one path's WebSockets. A socket must not be used after it is closed. */
export interface WebSocketRoute<Visitor extends object> {
  /** A larger message closes the connection; `close` then gets `REFUSED_MESSAGE`, unless `refused` has closed it. */
  readonly messageBytesMax: number;
  /** A client that is silent for this long, pings included, is disconnected. */
  readonly silenceMaxSec: number;
  /** Whether new clients are refused with a 503, so that a proxy tries the next server. Omitted: never. */
  isClosed?(): boolean;
  /** Returns the data to keep about the client, before its connection is accepted. */
  admit(request: HttpRequest, response: Pick<HttpResponse, "getRemoteAddress">): Visitor;
  open(socket: BackendSocket<Visitor>): void;
  /** The bytes are valid only during the call. */
  message(socket: BackendSocket<Visitor>, message: ArrayBuffer, isBinary: boolean): void;
  /**
   * A message was too large, and a response is still possible: not with uWebSockets.js, which closes the
   * connection itself.
   */
  refused?(socket: BackendSocket<Visitor>): void;
  /** Optional. Called when the send buffer drains, also when it becomes empty. */
  drained?(socket: BackendSocket<Visitor>): void;
  /** Called once, as soon as either side closes or the connection breaks; the code is then 1006. */
  close(socket: BackendSocket<Visitor>, code: number, reason: string): void;
}

export interface BackendSocket<Visitor> {
  getUserData(): Visitor;
  /** The bytes must not change afterwards. */
  send(message: string | Uint8Array, isBinary: boolean): number;
  /** Sends pending data, then the close frame. */
  end(code: number, reason: string): void;
  /** The bytes that the system has not accepted yet. */
  getBufferedAmount(): number;
}

/** The reason phrase, for a person who reads a proxy's response. */
export const CLOSED_ROUTE_MESSAGE = "this server takes no calls, and another one does";
export const CLOSED_ROUTE_STATUS = "503 Service Unavailable";
export const CLOSED_ROUTE_BODY = JSON.stringify({
  error: CLOSED_ROUTE_MESSAGE,
  code: "unavailable" satisfies RequestErrorCode,
});

/** The text of uWebSockets.js for a message beyond `messageBytesMax`. */
export const REFUSED_MESSAGE = "Received too big message";

/** Clients that offer protocols disconnect unless one of them is chosen. */
export function firstProtocol(offered: string): string {
  return offered.split(",")[0]?.trim() ?? "";
}
