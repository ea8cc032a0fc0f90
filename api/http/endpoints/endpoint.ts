import type { Answer, StreamedAnswer } from "../answer/answer.js";
import type { DownloadAnswer } from "../answer/download-answer.js";
import type { CorsPolicy } from "../request/cors.js";

export type Method = "get" | "post" | "patch" | "delete";

/** The data of a request that an endpoint may use, all copied: uWebSockets.js's own is invalid after the callback. */
export interface IncomingRequest {
  /** Sent back as `x-request-id` and part of every log line about this request. */
  readonly requestId: string;
  /** The decoded `:id` of the path, or empty. */
  readonly id: string;
  /** The query string, undecoded. */
  readonly queryString: string;
  /** The address of the client, not of a trusted proxy. */
  readonly clientAddress: string;
  /** Returns one of the endpoint's `headerNames`; empty if the client sent none. */
  header(name: string): string;
  /** Reads the body, at most `bodyBytesMax`, for an endpoint that takes one. Includes `alone`. */
  body(): Promise<Buffer>;
  /** The request's organization is known: from now on the body counts towards its limit, not its address's. */
  bodyBelongsTo(orgId: string): void;
  /**
   * Awaited before any change. Rejects, without a response, if another request arrived together with this one and
   * the backend closes the connection for that: a change whose response cannot be delivered must not happen.
   */
  alone(): Promise<void>;
  /** Aborts when the client disconnects before the response is complete. */
  readonly signal: AbortSignal;
}

/** One method of one path, whatever produces its responses: a route of the contract, telephony, metrics. */
export interface Endpoint {
  readonly method: Method;
  /** Begins with a slash; one segment may be `:id`. */
  readonly path: string;
  /** Lower-case names of the headers to keep. */
  readonly headerNames: readonly string[];
  readonly readsBody: boolean;
  /** Omitted: 1 MiB, the maximum of any endpoint. A larger body is refused with 413. */
  readonly bodyBytesMax?: number;
  /** Probes arrive every few seconds; they are logged as debug. */
  readonly isQuiet: boolean;
  /** Not served below the sub-path of PUBLIC_BASE_URL. */
  readonly isLocal?: boolean;
  /** A quiet endpoint gets the client's address only if it sets this. */
  readonly needsClientAddress?: boolean;
  /** The policy of all methods at this path, instead of the server's own. */
  readonly cors?: CorsPolicy;
  /** Throws a `RequestError` or `HttpError` to refuse; any other error becomes a 500. */
  answer(request: IncomingRequest): Answer | Promise<Answer | StreamedAnswer | DownloadAnswer>;
}
