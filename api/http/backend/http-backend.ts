import type { RequestErrorCode } from "../../../storage/parley-error.js";
/**
 * What the layers above ask of whatever speaks HTTP and WebSocket. The methods that a request, a response and a socket have
 * are those of uWebSockets.js, so that its own objects serve without a wrapper around each.
 */
export interface HttpBackend {
  readonly name: "uws" | "node";
  /** Whether a request that comes before the answer to the one in front of it waits, or breaks the connection. */
  readonly answersInOrder: boolean;
  /** Registers a handler for `path`, in which segments may be `:id` and the last may be `*`. */
  handle(verb: Verb, path: string, handler: RequestHandler): void;
  webSocket<Visitor extends object>(path: string, route: WebSocketRoute<Visitor>): void;
  /**
   * Resolves with the port, which the system chooses when `port` is 0; with undefined when it cannot be had. `isShared`: other
   * processes of this server may listen there too, and the system gives each of them its part of the connections.
   */
  listen(host: string, port: number, isShared?: boolean): Promise<number | undefined>;
  /** Connections that are open stay. */
  stopListening(): void;
  /** Breaks off everything that is open. */
  close(): void;
}

/** The verbs as uWebSockets.js calls them; `any` is asked when no other fits. */
export type Verb = "get" | "post" | "patch" | "del" | "head" | "options" | "any";

export type RequestHandler = (response: HttpResponse, request: HttpRequest) => void;

/** Must not be touched after the callback that it was given to. */
export interface HttpRequest {
  /** Lower case. */
  getMethod(): string;
  /** The value of the first header of that name; empty when there is none. */
  getHeader(lowerCaseName: string): string;
  /** The segment that stands for the path's `:name` of that index, undecoded. */
  getParameter(index: number): string | undefined;
  /** What follows the `?`, undecoded; with a key, that one's value, decoded. */
  getQuery(key?: string): string | undefined;
  /** Each header line; names in lower case. */
  forEach(each: (name: string, value: string) => void): void;
}

/** Must not be touched once it is ended, closed or aborted. Few further requests wait for it; more break its connection. */
export interface HttpResponse {
  /** 4 or 16 bytes. */
  getRemoteAddress(): ArrayBuffer;
  /** Writes within `whole` leave together. */
  cork(whole: () => void): unknown;
  /** Such as `200 OK`; comes before the headers. */
  writeStatus(line: string): unknown;
  /** After the value, whole header lines may follow, each behind a CRLF. */
  writeHeader(name: string, value: string): unknown;
  /** A piece of a body of unknown length; an empty one sends the head alone. False while the client leaves something unread. */
  write(text: string): boolean;
  /** `closes`: the connection serves nothing after this. */
  end(body?: string, closes?: boolean): unknown;
  endWithoutBody(): unknown;
  /**
   * A piece of a body of `totalBytes`, of which no copy is made. Answers whether the piece is taken, and whether the body is
   * whole with it. A piece that is not taken must not change until `onWritable` says how many bytes of the body have been.
   */
  tryEnd(bytes: Uint8Array, totalBytes: number): [isTaken: boolean, isWhole: boolean];
  /** Called when the client has read what was left unread. */
  onWritable(handler: (sentBytes: number) => boolean): unknown;
  /** Called when the connection breaks before the end; replaces the handler before it. */
  onAborted(handler: () => void): unknown;
  /** Offers the request's body, in pieces that are valid during the call. Only within the request's own callback. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  /** Breaks the connection. */
  close(): unknown;
}

/** What takes the WebSockets of one path. A socket must not be touched once it is closed. */
export interface WebSocketRoute<Visitor extends object> {
  /** A larger message breaks the connection; `close` is then told `REFUSED_MESSAGE`, unless `refused` has closed it. */
  readonly messageBytesMax: number;
  /** A client that is silent for this long, pings included, is disconnected. */
  readonly silenceMaxSec: number;
  /** While it is closed a client is answered 503: a proxy asks the next server then. Left out: it never is. */
  isClosed?(): boolean;
  /** What to remember of the client, before its connection is accepted. */
  admit(request: HttpRequest, response: Pick<HttpResponse, "getRemoteAddress">): Visitor;
  open(socket: BackendSocket<Visitor>): void;
  /** The bytes are valid during the call. */
  message(socket: BackendSocket<Visitor>, message: ArrayBuffer, isBinary: boolean): void;
  /** A message was too large, and can still be answered: not with uWebSockets.js, which breaks the connection by itself. */
  refused?(socket: BackendSocket<Visitor>): void;
  /** Optional. Called when the send buffer drains, also when it becomes empty. */
  drained?(socket: BackendSocket<Visitor>): void;
  /** Told once, as soon as either side closes or the connection breaks, which is 1006. */
  close(socket: BackendSocket<Visitor>, code: number, reason: string): void;
}

export interface BackendSocket<Visitor> {
  getUserData(): Visitor;
  /** The bytes must not change afterwards. */
  send(message: string | Uint8Array, isBinary: boolean): number;
  /** Sends what is still unread, then the close frame. */
  end(code: number, reason: string): void;
  /** Bytes that the system has not taken yet. */
  getBufferedAmount(): number;
}

/** For a person who reads what a proxy was told. */
export const CLOSED_ROUTE_MESSAGE = "this server takes no calls, and another one does";
export const CLOSED_ROUTE_STATUS = "503 Service Unavailable";
export const CLOSED_ROUTE_BODY = JSON.stringify({
  error: CLOSED_ROUTE_MESSAGE,
  code: "unavailable" satisfies RequestErrorCode,
});

/** uWebSockets.js's own words for a message beyond `messageBytesMax`. */
export const REFUSED_MESSAGE = "Received too big message";

/** Clients that offer protocols break off unless one of them is chosen. */
export function firstProtocol(offered: string): string {
  return offered.split(",")[0]?.trim() ?? "";
}
