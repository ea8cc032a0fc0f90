import {
  IDEMPOTENCY_KEY_CHARACTERS_MAX,
  type IdempotentRequest,
  isIdempotencyKey,
} from "../../../engine/calls/idempotent-requests.js";
import { invalidFields, RequestError } from "../../../engine/request-error.js";
import type { Tenant } from "../../../engine/tenancy/tenant.js";
import type { UserRecord } from "../../../storage/records.js";
import { type EventStream, eventText, type StreamEvents } from "../../contract/event-stream.js";
import type { FileDownload } from "../../contract/file-download.js";
import {
  BODY_BYTES_MAX,
  type BodyOf,
  type QueryOf,
  type Route,
  type SuccessOf,
} from "../../contract/routes/route.js";
import type { RouteId, RouteTable } from "../../contract/routes/route-table.js";
import { type Answer, type HeaderLine, jsonAnswer, type StreamedAnswer } from "../answer/answer.js";
import { type DownloadAnswer, downloadAnswer } from "../answer/download-answer.js";
import {
  type Authentication,
  CREDENTIAL_HEADERS,
  type Identity,
  limitKey,
  requireAccess,
} from "../request/authentication.js";
import { addressGroup } from "../request/client-address.js";
import { parseJsonBody } from "../request/json-body.js";
import type { UseLimiter } from "../request/rate-limiter.js";
import { validated } from "../request/validation.js";
import type { Endpoint, IncomingRequest } from "./endpoint.js";

const EVENT_STREAM_TYPE = "text/event-stream; charset=utf-8";
/** Asks proxies not to buffer the response. */
const UNBUFFERED: readonly HeaderLine[] = [["x-accel-buffering", "no"]];

export function eventStreamAnswer<Events extends StreamEvents>(
  status: number,
  { produce }: EventStream<Events>,
): StreamedAnswer {
  return {
    status,
    contentType: EVENT_STREAM_TYPE,
    headers: UNBUFFERED,
    produce: (write, signal) =>
      produce(
        {
          event: (name, data) => write(eventText(name, data)),
          batch: ({ text }) => write(text),
        },
        signal,
      ),
  };
}

/** The arguments of a route's handler; the route itself declares the types. */
export class RouteCall {
  readonly query: unknown;
  readonly body: unknown;
  readonly #request: IncomingRequest;
  readonly #identity: Identity | undefined;
  readonly idempotency: IdempotentRequest | undefined;

  constructor(
    request: IncomingRequest,
    query: unknown,
    body: unknown,
    identity: Identity | undefined,
    idempotency: IdempotentRequest | undefined,
  ) {
    this.query = query;
    this.body = body;
    this.idempotency = idempotency;
    this.#request = request;
    this.#identity = identity;
  }

  get id(): string {
    return this.#request.id;
  }

  get tenant(): Tenant | undefined {
    return this.#identity?.tenant;
  }

  get user(): UserRecord | undefined {
    return this.#identity?.user;
  }

  /** Created on first use, since few handlers need it. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }
}

/** The arguments of a route's handler: validated, parsed, and in the types of the contract. */
export interface RouteRequest<R extends Route> {
  /** The decoded `:id` of the path, or empty. */
  readonly id: string;
  readonly query: QueryOf<R>;
  readonly body: BodyOf<R>;
  readonly tenant: R["auth"] extends "public" ? undefined : Tenant;
  readonly user: R["auth"] extends "user" | "operator" ? UserRecord : UserRecord | undefined;
  /** Undefined without the header, or where the route does not read it. */
  readonly idempotency: IdempotentRequest | undefined;
  /** Aborts when the client disconnects before the response is complete. */
  readonly signal: AbortSignal;
}

/** A response other than the route's success. */
export class OtherAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: readonly HeaderLine[];

  constructor(status: number, body: unknown, headers: readonly HeaderLine[] = []) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export type Handler<R extends Route> = (
  request: RouteRequest<R>,
) => SuccessOf<R> | OtherAnswer | Promise<SuccessOf<R> | OtherAnswer>;

export type Handlers<Ids extends RouteId> = { readonly [Id in Ids]: Handler<RouteTable[Id]> };

/** A handler whose type is checked where it is registered, not where it is called. */
export type AnyHandler = (
  request: Pick<RouteCall, "id" | "query" | "body" | "tenant" | "user" | "idempotency" | "signal">,
) => unknown;

export interface ApiGuards {
  readonly authentication: Authentication;
  readonly authLimiter: UseLimiter;
  readonly generalLimiter: UseLimiter;
  readonly vendorLimiter: UseLimiter;
}

const NO_QUERY = new URLSearchParams();
const BODY_HEADERS: readonly string[] = ["content-type"];
const DOWNLOAD_HEADERS: readonly string[] = ["range"];
const IDEMPOTENCY_HEADER = "idempotency-key";

type AnyAnswer = Answer | StreamedAnswer | DownloadAnswer;

/** Serves one route: authentication, rate limits, validation, the handler, and the response as JSON. */
export class ApiEndpoint implements Endpoint {
  readonly method: Endpoint["method"];
  readonly path: string;
  readonly headerNames: readonly string[];
  readonly readsBody: boolean;
  readonly bodyBytesMax: number;
  readonly isQuiet: boolean;
  readonly #route: Route;
  readonly #handler: AnyHandler;
  readonly #guards: ApiGuards;

  constructor(route: Route, handler: AnyHandler, guards: ApiGuards) {
    this.method = route.method;
    this.path = route.path;
    this.readsBody = route.body !== undefined || route.upload !== undefined;
    this.bodyBytesMax = route.upload?.bytesMax ?? BODY_BYTES_MAX;
    this.isQuiet = route.limit === "none";
    this.headerNames = [
      ...(route.auth === "public" ? [] : CREDENTIAL_HEADERS),
      ...(this.readsBody ? BODY_HEADERS : []),
      ...(route.success.download === undefined ? [] : DOWNLOAD_HEADERS),
      ...(route.idempotent === true ? [IDEMPOTENCY_HEADER] : []),
    ];
    this.#route = route;
    this.#handler = handler;
    this.#guards = guards;
  }

  answer(request: IncomingRequest): ReturnType<Endpoint["answer"]> {
    const query = request.queryString === "" ? NO_QUERY : new URLSearchParams(request.queryString);
    if (this.#route.auth !== "public") return this.#answerKnown(request, query);
    const limited = this.#limitAddress(request);
    if (limited !== undefined) return limited.then(() => this.#answerUnknown(request, query));
    return this.#answerUnknown(request, query);
  }

  #answerUnknown(request: IncomingRequest, query: URLSearchParams): ReturnType<Endpoint["answer"]> {
    if (this.readsBody) return this.#answerParsed(request, query, undefined);
    return this.#handle(request, query, undefined, undefined);
  }

  async #answerKnown(request: IncomingRequest, query: URLSearchParams): Promise<AnyAnswer> {
    const identity = await this.#identify(request, query);
    await requireWithin(this.#guards.generalLimiter, limitKey(identity));
    requireAccess(identity, this.#route.auth);
    request.bodyBelongsTo(identity.tenant.organization.id);
    // Passwords must not be tried faster with a stolen token than at sign-in.
    if (this.#route.limit === "auth") await this.#limitAddress(request);
    if (this.#route.limit === "vendor") {
      await requireWithin(this.#guards.vendorLimiter, vendorKey(this.#route, identity));
    }
    return this.#answerParsed(request, query, identity);
  }

  /** Failed credentials are counted by address, so guessing is limited although there is no user yet. */
  async #identify(request: IncomingRequest, query: URLSearchParams): Promise<Identity> {
    try {
      return await this.#guards.authentication.identify(request, query);
    } catch (error) {
      if (error instanceof RequestError) {
        await requireWithin(this.#guards.generalLimiter, addressKey(request));
      }
      throw error;
    }
  }

  /** Synchronous if this process counts the uses itself. */
  #limitAddress(request: IncomingRequest): Promise<void> | undefined {
    const { limit } = this.#route;
    if (limit === "none") return undefined;
    const { authLimiter, generalLimiter } = this.#guards;
    return requireWithin(limit === "auth" ? authLimiter : generalLimiter, addressKey(request));
  }

  async #answerParsed(
    request: IncomingRequest,
    query: URLSearchParams,
    identity: Identity | undefined,
  ): Promise<AnyAnswer> {
    const { body: schema, upload } = this.#route;
    if (upload !== undefined) return this.#handle(request, query, await request.body(), identity);
    if (schema === undefined) {
      if (this.method !== "get") await request.alone();
      return this.#handle(request, query, undefined, identity);
    }
    const value = parseJsonBody(await request.body(), request.header("content-type"));
    return this.#handle(request, query, validated(schema, value, "body"), identity);
  }

  #handle(
    request: IncomingRequest,
    query: URLSearchParams,
    body: unknown,
    identity: Identity | undefined,
  ): ReturnType<Endpoint["answer"]> {
    const { query: schema } = this.#route;
    const parsedQuery = schema && validated(schema, Object.fromEntries(query), "query");
    const idempotency = idempotencyOf(this.#route, request, body);
    const result = this.#handler(new RouteCall(request, parsedQuery, body, identity, idempotency));
    return result instanceof Promise
      ? result.then((value: unknown) => this.#answerWith(value, request))
      : this.#answerAtOnce(result, request);
  }

  #answerAtOnce(value: unknown, request: IncomingRequest): ReturnType<Endpoint["answer"]> {
    const answer = this.#answerWith(value, request);
    return "produce" in answer || "file" in answer ? Promise.resolve(answer) : answer;
  }

  #answerWith(value: unknown, request: IncomingRequest): AnyAnswer {
    const { status, events, download } = this.#route.success;
    if (value instanceof OtherAnswer) return jsonAnswer(value.status, value.body, value.headers);
    // The result of a streaming handler is checked where it is registered.
    if (events !== undefined) return eventStreamAnswer(status, value as EventStream<StreamEvents>);
    if (download === undefined) return jsonAnswer(status, value);
    // Like a streaming handler's result, a download handler's is checked where it is registered.
    return downloadAnswer(status, download, value as FileDownload, request.header("range"));
  }
}

/** The answer to a request that was sent before. */
export function repeatedAnswer(status: number, body: unknown): OtherAnswer {
  return new OtherAnswer(status, body, [["idempotent-replayed", "true"]]);
}

function idempotencyOf(
  { idempotent, method, path }: Route,
  request: IncomingRequest,
  body: unknown,
): IdempotentRequest | undefined {
  const key = idempotent === true ? request.header(IDEMPOTENCY_HEADER) : "";
  if (key === "") return undefined;
  if (isIdempotencyKey(key)) return { key, route: `${method} ${path}`, body };
  const message = `expected 1 to ${IDEMPOTENCY_KEY_CHARACTERS_MAX} visible ASCII characters`;
  throw invalidFields([{ path: "Idempotency-Key", message }]);
}

function addressKey(request: IncomingRequest): string {
  return `address ${addressGroup(request.clientAddress)}`;
}

/** Counted by organization and route, so a second key gives no second limit. */
function vendorKey({ path }: Route, { tenant }: Identity): string {
  return `${path} of ${tenant.organization.id}`;
}

function requireWithin(limiter: UseLimiter, key: string): Promise<void> | undefined {
  const retryAfterSec = limiter.take(key);
  if (retryAfterSec instanceof Promise) return retryAfterSec.then(requireNow);
  requireNow(retryAfterSec);
  return undefined;
}

function requireNow(retryAfterSec: number): void {
  if (retryAfterSec === 0) return;
  throw new RequestError("rate_limited", `too many requests: try again in ${retryAfterSec} s`, {
    retryAfterSec,
  });
}
