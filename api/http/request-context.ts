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

/** What a client may leave unread, beside what the system holds for it; past it, the client has gone or will not keep up. */
export const STREAM_BACKLOG_BYTES_MAX = 256 * 1024;

/** The body of an answer that is sent while it is made. It belongs to a response whose head is written. */
export class AnswerStream {
  readonly #response: HttpResponse;
  #waiting = "";
  #isFlushing = false;
  #isOver = false;
  #backlogBytes = 0;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  /** What is written in one turn of the event loop goes out together. Does nothing once the answer is over. */
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

  /** The client has gone: the response must not be touched any more. */
  abandon(): void {
    this.#isOver = true;
    this.#waiting = "";
  }

  /** Breaks the connection: an answer without its end cannot be taken for a whole one. */
  breakOff(): void {
    if (this.#isOver) return;
    this.abandon();
    this.#response.close();
  }

  /** What the system does not take, uWebSockets.js keeps and sends later; it says so at the write after that. */
  #flush(): void {
    this.#isFlushing = false;
    if (this.#isOver || this.#waiting === "") return;
    const text = this.#waiting;
    this.#waiting = "";
    let hadNoBacklog = true;
    this.#response.cork(() => {
      hadNoBacklog = this.#response.write(text);
    });
    // An upper bound: some of it may have been sent meanwhile.
    this.#backlogBytes = Buffer.byteLength(text) + (hadNoBacklog ? 0 : this.#backlogBytes);
    if (!hadNoBacklog && this.#backlogBytes > STREAM_BACKLOG_BYTES_MAX) this.breakOff();
  }
}

/** The part of the server that waits, when it stops, for answers that are under way. */
export type OpenRequests = Pick<HttpServer, "requestOpened" | "requestClosed">;

/**
 * Ends an answer, whose head is written, with bytes that others may be sent at the same time. What the system does not
 * take is offered again when the client has read, so a slow client holds none of our memory. A second request that a
 * client sends meanwhile closes its connection. Called within a cork.
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

/** Held in memory for each client that downloads. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Sends the file's bytes as fast as the client takes them. Resolves when all is sent or the client has gone; rejects, with
 * the connection broken off, when the file cannot be read. The response's head is written.
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

/** uWebSockets.js takes a part of the chunk when the client does not read; the rest is offered when it does. */
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

/** For answers that bring none of their own: JSON and text that a browser has nothing to load for. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; frame-ancestors 'none'";
const JSON_HEADERS = securityHeaders(JSON_TYPE);
/** Answers that have no body and no length: 204, and 304 for what the client has already. */
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
  /** What comes behind it before its answer breaks its connection. */
  readonly mustBeAlone: boolean;
  readonly corsHeaders: readonly HeaderLine[];
}

interface SendOptions {
  readonly closes: boolean;
  readonly isCorked: boolean;
  readonly server: OpenRequests;
}

/** One request and the one answer to it. */
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

  /** True once answered or aborted: the response must not be touched any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** True when the client went away before its answer was whole. */
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
    // Created even if it was not requested: a later reader has to find it aborted.
    this.#isClosed ??= new AbortController();
    this.#isClosed.abort(
      this.#stream instanceof PacedStream ? this.#stream.slowClientError : undefined,
    );
  }

  /** Resolves when all of it is sent, or the client has gone; rejects, with the connection broken off, as `produce` does. */
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

  /** Resolves when all of it is sent, or the client has gone; rejects, with the connection broken off, when it cannot be read. */
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
   * `closes`: the connection serves nothing after this. `isCorked`: within the request's own callback, where
   * uWebSockets.js collects what is written by itself. `server` waits for bytes that the client has yet to take.
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

/** `endWithoutBody` given anything would write a second length, or take the answer for unfinished. */
function endWithoutBody(response: HttpResponse, answer: Answer, closes: boolean): void {
  // uWebSockets.js ends the process when such an answer has no abort handler.
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
 * The value of `x-content-type-options` and the header lines after it. uWebSockets.js copies a value as it is, so one
 * call writes them all at a fifth of the cost. Nothing of a request may ever get into this text.
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
