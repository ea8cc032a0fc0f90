import type { Answer, StreamedAnswer } from "../answer/answer.js";
import type { DownloadAnswer } from "../answer/download-answer.js";
import type { CorsPolicy } from "../request/cors.js";

export type Method = "get" | "post" | "patch" | "delete";

/** What an endpoint may know of a request, all of it copied: uWebSockets.js's own is gone after the callback. */
export interface IncomingRequest {
  /** Sent back as `x-request-id` and written in every log line about this request. */
  readonly requestId: string;
  /** The decoded `:id` of the path, or empty. */
  readonly id: string;
  /** What follows the `?`, undecoded. */
  readonly queryString: string;
  /** The address of the client, not of the trusted proxy before it. */
  readonly clientAddress: string;
  /** One of the endpoint's `headerNames`; empty when the client sent none. */
  header(name: string): string;
  /** Only of an endpoint that reads a body; at most `bodyBytesMax`. Includes `alone`. */
  body(): Promise<Buffer>;
  /** The request is known to be an organization's: from now on its body counts there, and not for its address. */
  bodyBelongsTo(orgId: string): void;
  /**
   * Awaited before any change. Rejects, without a response, when another request arrived together with this one and the
   * backend breaks the connection for that: a change whose response cannot be delivered must not happen.
   */
  alone(): Promise<void>;
  /** Aborts when the client goes away before its answer is whole. */
  readonly signal: AbortSignal;
}

/** One method of one path, below whatever makes its answers: a route of the contract, telephony, metrics. */
export interface Endpoint {
  readonly method: Method;
  /** Begins with a slash; one segment may be `:id`. */
  readonly path: string;
  /** Lower-case names of the headers to keep. */
  readonly headerNames: readonly string[];
  readonly readsBody: boolean;
  /** Left out: 1 MiB, the most that any endpoint takes. A larger body is refused with 413. */
  readonly bodyBytesMax?: number;
  /** Probes come every few seconds for ever; they are logged as debug. */
  readonly isQuiet: boolean;
  /** Not served below the sub-path of PUBLIC_BASE_URL. */
  readonly isLocal?: boolean;
  /** A quiet endpoint is told who asks only where it says so. */
  readonly needsClientAddress?: boolean;
  /** The policy of all methods at this path, in place of the server's own. */
  readonly cors?: CorsPolicy;
  /** Throws a `RequestError` or `HttpError` to refuse; anything else that it throws is answered as 500. */
  answer(request: IncomingRequest): Answer | Promise<Answer | StreamedAnswer | DownloadAnswer>;
}
