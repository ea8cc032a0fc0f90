import type { Clock } from "../../engine/time/clock.js";
import {
  type Answer,
  type HeaderLine,
  JSON_TYPE,
  type StreamedAnswer,
  statusLine,
} from "./answer/answer.js";
import type { DownloadAnswer } from "./answer/download-answer.js";
import { RequestAbortedError } from "./answer/http-error.js";
import { PacedStream } from "./answer/paced-stream.js";
import type { HttpResponse } from "./backend/http-backend.js";
import type { Endpoint, IncomingRequest } from "./endpoints/endpoint.js";
import type { RequestBody } from "./request/request-body.js";
import type { HttpServer } from "./server.js";

/**
 * The maximum of unread data, besides what the system buffers for the client; beyond it, the client counts as
 * disconnected.
 */
export const STREAM_BACKLOG_BYTES_MAX = 256 * 1024;

/** The body of a response that is generated while it is sent. Requires a response whose head is written. */
export class AnswerStream {
  readonly #response: HttpResponse;
  #waiting = "";
  #isFlushing = false;
  #isOver = false;
  #backlogBytes = 0;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  /** The writes of one turn of the event loop are sent together. Does nothing after the end of the response. */
  write(text: string): void {
    if (this.#isOver || text === "") return;
    this.#waiting += text;
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const rest = this.#waiting;
    this.#response.cork(() => {
      if (rest !== "") this.#response.write(rest);
      this.#response.end();
    });
  }

  /** The client has disconnected: the response must not be used any more. */
  abandon(): void {
    this.#isOver = true;
    this.#waiting = "";
  }

  /** Destroys the connection, so that an incomplete response cannot be mistaken for a complete one. */
  breakOff(): void {
    if (this.#isOver) return;
    this.abandon();
    this.#response.close();
  }

  /** uWebSockets.js keeps what the system does not accept and sends it later; it reports that at the next write. */
  #flush(): void {
    this.#isFlushing = false;
    if (this.#isOver || this.#waiting === "") return;
    const text = this.#waiting;
    this.#waiting = "";
    let hadNoBacklog = true;
    this.#response.cork(() => {
      hadNoBacklog = this.#response.write(text);
    });
    // An upper bound: some of the data may have been sent meanwhile.
    this.#backlogBytes = Buffer.byteLength(text) + (hadNoBacklog ? 0 : this.#backlogBytes);
    if (!hadNoBacklog && this.#backlogBytes > STREAM_BACKLOG_BYTES_MAX) this.breakOff();
  }
}

/** The part of the server that waits for responses in progress when it stops. */
export type OpenRequests = Pick<HttpServer, "requestOpened" | "requestClosed">;

/**
 * Ends a response, whose head is written, with bytes that other responses may share. What the system does not
 * accept is offered again when the client has read, so a slow client uses none of our memory. A second request
 * from the client meanwhile closes its connection. Called within a cork.
 */
export function sendBytes(response: HttpResponse, bytes: Uint8Array, server: OpenRequests): void {
  let isOpen = false;
  response.onAborted(() => {
    if (isOpen) server.requestClosed();
    isOpen = false;
  });
  const [, isDone] = response.tryEnd(bytes, bytes.length);
  if (isDone) return;
  isOpen = true;
  server.requestOpened();
  response.onWritable((sent) => {
    let isTaken = false;
    response.cork(() => {
      const [isWhole, isOver] = response.tryEnd(bytes.subarray(sent), bytes.length);
      isTaken = isWhole || isOver;
    });
    if (isTaken && isOpen) {
      isOpen = false;
      server.requestClosed();
    }
    return isTaken;
  });
}

/** The bytes held in memory for each downloading client. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Sends the file's bytes as fast as the client accepts them. Resolves when everything is sent or the client has
 * disconnected; rejects, with the connection destroyed, if the file cannot be read. The response's head must be written
 * before.
 */
export async function sendDownload(
  response: HttpResponse,
  { file, from, sizeBytes }: DownloadAnswer,
  gone: AbortSignal,
): Promise<void> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  let sent = 0;
  while (sent < sizeBytes && !gone.aborted) {
    const wanted = buffer.subarray(0, Math.min(CHUNK_BYTES, sizeBytes - sent));
    const count = await file.read(wanted, from + sent);
    if (gone.aborted) return;
    if (count === 0) {
      response.close();
      throw new Error("a file is shorter than it was");
    }
    await sendChunk(response, wanted.subarray(0, count), sent, sizeBytes, gone);
    sent += count;
  }
}

/** uWebSockets.js accepts a part of the chunk if the client does not read; the rest is offered when it does. */
function sendChunk(
  response: HttpResponse,
  chunk: Uint8Array,
  offset: number,
  sizeBytes: number,
  gone: AbortSignal,
): Promise<void> {
  const { promise, resolve } = deferred();
  gone.addEventListener("abort", resolve, { once: true });
  const offer = (part: Uint8Array) => {
    let isTaken = false;
    response.cork(() => {
      const [ok, done] = response.tryEnd(part, sizeBytes);
      isTaken = ok || done;
    });
    if (isTaken) resolve();
    return isTaken;
  };
  response.onWritable((writtenTo) => offer(chunk.subarray(writtenTo - offset)));
  offer(chunk);
  return promise.finally(() => gone.removeEventListener("abort", resolve));
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** The policy of responses without their own: JSON and text for which a browser loads nothing. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; frame-ancestors 'none'";
const JSON_HEADERS = securityHeaders(JSON_TYPE);
/** Statuses of responses without a body and a length: 204, and 304 for content that the client already has. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);
const NO_HEADERS: readonly HeaderLine[] = [];

export interface RequestHead {
  readonly requestId: string;
  readonly id: string;
  readonly queryString: string;
  readonly clientAddress: string;
  readonly headerValues: readonly string[];
  /** Lower case. */
  readonly method: string;
  readonly isHead: boolean;
  readonly startedMs: number;
  /** Data that follows this request before its response closes the connection. */
  readonly mustBeAlone: boolean;
  readonly corsHeaders: readonly HeaderLine[];
}

interface SendOptions {
  readonly closes: boolean;
  readonly isCorked: boolean;
  readonly server: OpenRequests;
}

/** One request and its one response. */
export class RequestContext implements IncomingRequest {
  readonly endpoint: Endpoint;
  readonly head: RequestHead;
  readonly #response: HttpResponse;
  readonly #body: RequestBody | undefined;
  #isOver = false;
  #isClosed: AbortController | undefined;
  #stream: AnswerStream | PacedStream | undefined;

  constructor(
    endpoint: Endpoint,
    head: RequestHead,
    response: HttpResponse,
    body: RequestBody | undefined,
  ) {
    this.endpoint = endpoint;
    this.head = head;
    this.#response = response;
    this.#body = body;
  }

  get requestId(): string {
    return this.head.requestId;
  }

  get id(): string {
    return this.head.id;
  }

  get queryString(): string {
    return this.head.queryString;
  }

  get clientAddress(): string {
    return this.head.clientAddress;
  }

  /** True once the request has a response or was aborted: the response must not be used any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** True when the client disconnected before the response was complete. */
  get isClosed(): boolean {
    return this.#isClosed?.signal.aborted === true;
  }

  header(name: string): string {
    return this.head.headerValues[this.endpoint.headerNames.indexOf(name)] ?? "";
  }

  async body(): Promise<Buffer> {
    if (this.#body === undefined) throw new TypeError(`${this.endpoint.path} reads no body`);
    const bytes = await this.#body.whole;
    await this.alone();
    return bytes;
  }

  bodyBelongsTo(orgId: string): void {
    this.#body?.belongsTo(`organization ${orgId}`);
  }

  async alone(): Promise<void> {
    if (!this.head.mustBeAlone) return;
    await new Promise(setImmediate);
    if (this.#isOver) throw new RequestAbortedError("another request came with this one");
  }

  get signal(): AbortSignal {
    this.#isClosed ??= new AbortController();
    return this.#isClosed.signal;
  }

  abort(): void {
    this.#isOver = true;
    this.#stream?.abandon();
    this.#body?.abort();
    // The signal is created even if it was not requested: a later reader must find it aborted.
    this.#isClosed ??= new AbortController();
    this.#isClosed.abort(
      this.#stream instanceof PacedStream ? this.#stream.slowClientError : undefined,
    );
  }

  /**
   * Resolves when everything is sent, or the client has disconnected; rejects, with the connection destroyed, if
   * `produce` does.
   */
  async stream(answer: StreamedAnswer, clock: Clock): Promise<void> {
    if (this.#isOver) return;
    const response = this.#response;
    if (this.head.isHead) {
      this.#isOver = true;
      response.cork(() => {
        writeHead(response, this.head, answer);
        response.endWithoutBody();
      });
      return;
    }
    response.cork(() => {
      writeHead(response, this.head, answer);
      response.write("");
    });
    const { pace } = answer;
    const stream =
      pace === undefined ? new AnswerStream(response) : new PacedStream(response, pace, clock);
    this.#stream = stream;
    this.#body?.abort();
    try {
      await answer.produce((text) => stream.write(text), this.signal);
    } catch (error) {
      if (this.#isOver) return;
      this.#isOver = true;
      stream.breakOff();
      throw error;
    }
    if (this.#isOver) return;
    this.#isOver = true;
    stream.end();
  }

  /**
   * Resolves when everything is sent, or the client has disconnected; rejects, with the connection destroyed, if the
   * file cannot be read.
   */
  async download(answer: DownloadAnswer): Promise<void> {
    this.#body?.abort();
    try {
      if (!this.#isOver) await this.#download(answer);
    } finally {
      await answer.file.close();
    }
  }

  async #download(answer: DownloadAnswer): Promise<void> {
    const response = this.#response;
    const { sizeBytes } = answer;
    response.cork(() => {
      writeHead(response, this.head, answer);
      if (!this.head.isHead && sizeBytes > 0) return;
      response.writeHeader("content-length", String(sizeBytes));
      response.endWithoutBody();
    });
    if (this.head.isHead || sizeBytes === 0) {
      this.#isOver = true;
      return;
    }
    await sendDownload(response, answer, this.signal);
    this.#isOver = true;
  }

  /**
   * `closes`: closes the connection after this response. `isCorked`: within the request's own callback, where
   * uWebSockets.js corks writes itself. `server` waits for bytes that the client has yet to accept.
   */
  send(answer: Answer, { closes, isCorked, server }: SendOptions): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const response = this.#response;
    const closesNow = closes || answer.closesConnection === true;
    const write = () => writeAnswer(response, this.head, answer, closesNow, server);
    if (isCorked) write();
    else response.cork(write);
    this.#body?.abort();
  }
}

function writeAnswer(
  response: HttpResponse,
  head: RequestHead,
  answer: Answer,
  closes: boolean,
  server: OpenRequests,
): void {
  const { body, status } = answer;
  writeHead(response, head, answer);
  if (head.isHead || BODILESS.has(status)) endWithoutBody(response, answer, closes);
  else if (typeof body === "string") response.end(body, closes);
  else {
    if (closes) response.writeHeader("connection", "close");
    sendBytes(response, body, server);
  }
}

function writeHead(
  response: HttpResponse,
  head: RequestHead,
  answer: Answer | StreamedAnswer | DownloadAnswer,
): void {
  response.writeStatus(statusLine(answer.status));
  response.writeHeader("x-request-id", head.requestId);
  for (const [name, value] of head.corsHeaders) response.writeHeader(name, value);
  for (const [name, value] of answer.headers ?? NO_HEADERS) response.writeHeader(name, value);
  response.writeHeader("x-content-type-options", headersOf(answer));
}

/** `endWithoutBody` with an argument would write a second length, or leave the response unfinished. */
function endWithoutBody(response: HttpResponse, answer: Answer, closes: boolean): void {
  // uWebSockets.js ends the process if such a response has no abort handler.
  response.onAborted(() => undefined);
  if (!BODILESS.has(answer.status)) {
    response.writeHeader("content-length", String(Buffer.byteLength(answer.body)));
  }
  if (closes) response.writeHeader("connection", "close");
  response.endWithoutBody();
}

interface Content {
  readonly contentType: string;
  readonly policy?: string;
  readonly cacheControl?: string;
}

function headersOf({ contentType, policy, cacheControl }: Content): string {
  if (contentType === JSON_TYPE && policy === undefined && cacheControl === undefined) {
    return JSON_HEADERS;
  }
  return securityHeaders(contentType, policy, cacheControl);
}

/**
 * The value of `x-content-type-options` and the header lines after it. uWebSockets.js copies a value unchanged, so
 * one call writes them all at a fifth of the cost. This text must never contain anything from a request.
 */
function securityHeaders(
  contentType: string,
  policy = CONTENT_SECURITY_POLICY,
  cacheControl = "no-store",
): string {
  return [
    "nosniff",
    ...(contentType === "" ? [] : [`content-type: ${contentType}`]),
    `content-security-policy: ${policy}`,
    "x-frame-options: DENY",
    "referrer-policy: no-referrer",
    `cache-control: ${cacheControl}`,
  ].join("\r\n");
}
