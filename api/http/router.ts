import type { Logger } from "../../engine/log.js";
import { RequestError } from "../../engine/request-error.js";
import type { Clock } from "../../engine/time/clock.js";
import type { RequestErrorCode } from "../../storage/parley-error.js";
import { type Answer, type HeaderLine, jsonAnswer, type StreamedAnswer } from "./answer/answer.js";
import type { DownloadAnswer } from "./answer/download-answer.js";
import { HttpError, STATUS_BY_CODE } from "./answer/http-error.js";
import type { HttpRequest, HttpResponse, RequestHandler, Verb } from "./backend/http-backend.js";
import type { Endpoint, Method } from "./endpoints/endpoint.js";
import { addressGroup, type ClientAddresses, formatAddress } from "./request/client-address.js";
import type { CorsPolicy } from "./request/cors.js";
import { BodyMemory, RequestBody } from "./request/request-body.js";
import { RequestContext, type RequestHead } from "./request-context.js";
import type { HttpServer } from "./server.js";

/** After these statuses the client may still be sending a body, which the server does not read. */
const LEAVES_BODY: ReadonlySet<number> = new Set([400, 408, 413, 429, 503]);

/** Tells browsers and clients which of the two authentication methods to try. */
const CHALLENGE: HeaderLine = ["www-authenticate", 'Bearer realm="api"'];

/**
 * The only place where an error becomes a status. Refusals keep their message; any other error is a bug: the log
 * gets all of it, the client only the request id that identifies it there.
 */
export function answerToError(error: unknown, requestId: string, logger: Logger): Answer {
  if (error instanceof RequestError) return answerToFailure(error);
  if (error instanceof HttpError) return answerToRefusal(error);
  if (error instanceof Error && error.name === "StorageOverloadedError") {
    logger.warn({ requestId }, "request refused: storage is overloaded");
    return errorAnswer("overloaded", { error: "the service is busy, try again" }, 1);
  }
  if (error instanceof Error && error.name === "StorageUnwritableError") {
    logger.warn({ requestId, error }, "request refused: nothing can be stored");
    const words = { error: "nothing can be stored at the moment, try again" };
    return errorAnswer("database_unavailable", words, 5);
  }
  logger.error({ requestId, error }, "request failed");
  return errorAnswer("internal_error", { error: "internal error", requestId });
}

function errorAnswer(
  code: RequestErrorCode,
  words: { readonly error: string; readonly requestId?: string },
  retryAfterSec?: number,
): Answer {
  const headers: HeaderLine[] = [];
  if (retryAfterSec !== undefined) headers.push(["retry-after", String(retryAfterSec)]);
  return jsonAnswer(STATUS_BY_CODE[code], { ...words, code }, headers);
}

function answerToRefusal({ status, code, message, headers }: HttpError): Answer {
  const answer = jsonAnswer(status, { error: message, code }, headers);
  return LEAVES_BODY.has(status) ? { ...answer, closesConnection: true } : answer;
}

function answerToFailure(failure: RequestError): Answer {
  const body = {
    ...failure.extra,
    error: failure.message,
    code: failure.code,
    ...(failure.details === undefined ? {} : { details: failure.details }),
  };
  const headers: HeaderLine[] = [];
  const status = STATUS_BY_CODE[failure.code];
  if (status === 401) headers.push(CHALLENGE);
  if (failure.retryAfterSec !== undefined) {
    headers.push(["retry-after", String(Math.max(1, Math.ceil(failure.retryAfterSec)))]);
  }
  return jsonAnswer(status, body, headers);
}

export interface RouterOptions {
  readonly server: HttpServer;
  readonly addresses: ClientAddresses;
  readonly cors: CorsPolicy;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: () => string;
  /** While true, responses ask clients to connect again elsewhere. */
  readonly isDraining: () => boolean;
}

/** A request id from a proxy or client is kept if it cannot break a log line or a header. */
const REQUEST_ID = /^[\w.-]{1,64}$/;
const VERBS: Readonly<Record<Method, Verb>> = {
  get: "get",
  post: "post",
  patch: "patch",
  delete: "del",
};
const NO_HEADER_VALUES: readonly string[] = [];
const NO_HEADERS: readonly HeaderLine[] = [];
/** Appears only in the log: the usual status when the client did not wait for the response. */
const STATUS_CLIENT_CLOSED = 499;

/** Dispatches requests to endpoints and returns their responses; other paths are refused here. */
export class Router {
  readonly #options: RouterOptions;
  readonly #methodsByPath = new Map<string, Set<Method>>();
  /** Request ids need to be distinct, not secret: a prefix of the process and a counter are cheap. */
  readonly #idPrefix: string;
  readonly #bodyMemory = new BodyMemory();
  #requestCount = 0;

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#idPrefix = options.newId().replaceAll("-", "").slice(0, 12);
    this.#handle(
      "any",
      "/*",
      refusingEndpoint("/*", () => new HttpError("path_not_found", "no such path")),
    );
  }

  /** Allowed until the server listens. */
  add(endpoint: Endpoint): void {
    this.#handle(VERBS[endpoint.method], endpoint.path, endpoint);
    if (endpoint.method === "get") this.#handle("head", endpoint.path, endpoint);
    this.#refuseOtherMethods(endpoint);
  }

  clientAddress(response: Pick<HttpResponse, "getRemoteAddress">, request: HttpRequest): string {
    const { addresses } = this.#options;
    const socketAddress = formatAddress(new Uint8Array(response.getRemoteAddress()));
    if (!addresses.hasTrustedProxies) return socketAddress;
    const lines: string[] = [];
    request.forEach((name, value) => {
      if (name === "x-forwarded-for") lines.push(value);
    });
    return addresses.resolve(socketAddress, lines.join(","));
  }

  /** Each path is registered once; its methods are added with each endpoint. */
  #refuseOtherMethods({ method, path, cors, isLocal = false }: Endpoint): void {
    const known = this.#methodsByPath.get(path);
    if (known !== undefined) {
      known.add(method);
      return;
    }
    const methods = new Set([method]);
    this.#methodsByPath.set(path, methods);
    const shared = cors === undefined ? { isLocal } : { cors, isLocal };
    const refusal = () => methodNotAllowed(methods);
    this.#handle("options", path, { ...optionsEndpoint(path, methods), ...shared });
    this.#handle("any", path, { ...refusingEndpoint(path, refusal), ...shared });
  }

  #handle(verb: Verb, path: string, endpoint: Endpoint): void {
    const handler: RequestHandler = (response, request) => {
      const head = this.#readHead(verb, endpoint, response, request);
      const body = endpoint.readsBody ? this.#bodyOf(endpoint, head, response, request) : undefined;
      this.#serve(new RequestContext(endpoint, head, response, body), response);
    };
    if (endpoint.isLocal === true) this.#options.server.handleLocally(verb, path, handler);
    else this.#options.server.handle(verb, path, handler);
  }

  #bodyOf(
    endpoint: Endpoint,
    head: RequestHead,
    response: HttpResponse,
    request: HttpRequest,
  ): RequestBody {
    const address = head.clientAddress || this.clientAddress(response, request);
    return new RequestBody(response, {
      announcedLength: request.getHeader("content-length"),
      encoding: request.getHeader("content-encoding"),
      owner: `address ${addressGroup(address)}`,
      clock: this.#options.clock,
      memory: this.#bodyMemory,
      ...(endpoint.bodyBytesMax === undefined ? {} : { bytesMax: endpoint.bodyBytesMax }),
    });
  }

  #readHead(
    verb: Verb,
    endpoint: Endpoint,
    response: HttpResponse,
    request: HttpRequest,
  ): RequestHead {
    const { clock, server } = this.#options;
    const cors = endpoint.cors ?? this.#options.cors;
    const method = verb === "any" ? request.getMethod() : verb === "del" ? "delete" : verb;
    const names = endpoint.headerNames;
    const asked = request.getHeader("x-request-id");
    return {
      requestId:
        asked !== "" && REQUEST_ID.test(asked)
          ? asked
          : `${this.#idPrefix}-${++this.#requestCount}`,
      method,
      isHead: method === "head",
      id: endpoint.path.includes(":id") ? decodeSegment(request.getParameter(0)) : "",
      queryString: request.getQuery() ?? "",
      clientAddress:
        endpoint.isQuiet && endpoint.needsClientAddress !== true
          ? ""
          : this.clientAddress(response, request),
      headerValues:
        names.length === 0 ? NO_HEADER_VALUES : names.map((name) => request.getHeader(name)),
      startedMs: clock.monotonicMs(),
      mustBeAlone: !server.answersInOrder,
      corsHeaders: cors.isOn ? cors.headersFor(method, request.getHeader("origin")) : NO_HEADERS,
    };
  }

  #serve(exchange: RequestContext, response: HttpResponse): void {
    let answer: ReturnType<Endpoint["answer"]>;
    try {
      answer = exchange.endpoint.answer(exchange);
    } catch (error) {
      answer = answerToError(error, exchange.requestId, this.#options.logger);
    }
    if (!(answer instanceof Promise)) {
      this.#send(exchange, answer, true);
      return;
    }
    const { server } = this.#options;
    server.requestOpened();
    response.onAborted(() => {
      if (exchange.isOver) return;
      exchange.abort();
      server.requestClosed();
      this.#log(exchange, STATUS_CLIENT_CLOSED);
    });
    answer.then(
      (ready) => this.#sendLater(exchange, ready),
      (error: unknown) => this.#refuseWhenRead(exchange, error),
    );
  }

  #refuseWhenRead(exchange: RequestContext, error: unknown): void {
    if (exchange.isOver) return;
    this.#sendLater(exchange, answerToError(error, exchange.requestId, this.#options.logger));
  }

  #sendLater(exchange: RequestContext, answer: Answer | StreamedAnswer | DownloadAnswer): void {
    if ("file" in answer) return void this.#stream(exchange, answer);
    if (exchange.isOver) return;
    if ("produce" in answer) {
      void this.#stream(exchange, answer);
      return;
    }
    this.#send(exchange, answer, false);
    this.#options.server.requestClosed();
  }

  /** The log already has an entry if the client disconnected meanwhile. */
  async #stream(exchange: RequestContext, answer: StreamedAnswer | DownloadAnswer): Promise<void> {
    const { clock, logger, server } = this.#options;
    try {
      await ("file" in answer ? exchange.download(answer) : exchange.stream(answer, clock));
    } catch (error) {
      logger.error({ requestId: exchange.requestId, error }, "a streamed response was interrupted");
    }
    if (exchange.isClosed) return;
    server.requestClosed();
    this.#log(exchange, answer.status);
  }

  #send(exchange: RequestContext, answer: Answer, isCorked: boolean): void {
    const { isDraining, server } = this.#options;
    exchange.send(answer, { closes: isDraining(), isCorked, server });
    this.#log(exchange, answer.status);
  }

  #log({ endpoint, head }: RequestContext, status: number): void {
    const { clock, logger } = this.#options;
    const fields = {
      requestId: head.requestId,
      method: head.method,
      route: endpoint.path,
      status,
      durationMs: Math.round((clock.monotonicMs() - head.startedMs) * 1_000) / 1_000,
    };
    if (endpoint.isQuiet) logger.debug(fields, "request");
    else logger.info(fields, "request");
  }
}

function refusingEndpoint(path: string, refusal: () => HttpError): Endpoint {
  return {
    method: "get",
    path,
    headerNames: [],
    readsBody: false,
    isQuiet: false,
    answer: () => {
      throw refusal();
    },
  };
}

function optionsEndpoint(path: string, methods: ReadonlySet<Method>): Endpoint {
  return {
    method: "get",
    path,
    headerNames: [],
    readsBody: false,
    isQuiet: true,
    answer: () => ({
      status: 204,
      contentType: "",
      body: "",
      headers: [["allow", allowedMethods(methods)]],
    }),
  };
}

function methodNotAllowed(methods: ReadonlySet<Method>): HttpError {
  const allowed = allowedMethods(methods);
  return new HttpError("method_not_allowed", `expected one of the methods ${allowed}`, [
    ["allow", allowed],
  ]);
}

function allowedMethods(methods: ReadonlySet<Method>): string {
  const names = [...methods].flatMap((method) =>
    method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()],
  );
  return [...names, "OPTIONS"].join(", ");
}

/** An id that cannot be decoded matches nothing. */
function decodeSegment(segment: string | undefined): string {
  try {
    return decodeURIComponent(segment ?? "");
  } catch {
    return "";
  }
}
