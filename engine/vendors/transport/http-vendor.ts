import type { Clock } from "../../time/clock.js";
import {
  type Endpoint,
  endpointOf,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";
import { postStream, requestStream, type StreamLimits, type StreamRequest } from "./http-stream.js";

/** A connection that is not open by then is too late for its request. */
const WARM_TIMEOUT_MS = 5_000;

/** A front page is read to its end so that its connection can be used again; a larger one is not worth it. */
const FRONT_PAGE_MAX_BYTES = 64 * 1024;

/** A user waits for this list in the console. */
const LOOKUP_LIMITS: StreamLimits = {
  firstByteMs: 8_000,
  betweenBytesMs: 5_000,
  totalMs: 10_000,
  replyMaxBytes: 2 * 1024 * 1024,
};

/**
 * Leaves an idle connection in the pool by requesting a page that costs nothing. Failures are left to the real
 * request.
 */
export function warmConnection(
  { clock, connections }: VendorContext,
  endpoint: Endpoint,
  clientOwned: boolean,
  orgId?: string,
): void {
  if (connections.hasIdle(endpoint.origin, clientOwned, orgId)) return;
  let abort = (): void => undefined;
  let receivedBytes = 0;
  const cancelTimer = clock.after(WARM_TIMEOUT_MS, () => abort());
  try {
    connections.for(clientOwned, orgId).dispatch(
      { origin: endpoint.origin, path: endpoint.path === "" ? "/" : endpoint.path, method: "GET" },
      {
        onRequestStart: (controller) => {
          abort = () => controller.abort(new Error("no longer needed"));
        },
        onResponseStart: () => undefined,
        onResponseData: (_controller, chunk) => {
          receivedBytes += chunk.length;
          if (receivedBytes > FRONT_PAGE_MAX_BYTES) abort();
        },
        onResponseEnd: cancelTimer,
        onResponseError: cancelTimer,
      },
    );
  } catch {
    // A closed pool or a malformed address: the request itself will report it.
    cancelTimer();
  }
}

/** The request-specific part; its path is relative to the vendor's address. */
export type VendorRequest = Omit<StreamRequest, "vendor" | "dispatcher" | "clock" | "origin">;

/** A vendor with an HTTP API: its address, and the connections that may be used for it. */
export class HttpVendor {
  readonly name: string;
  readonly #context: VendorContext;
  readonly #endpoint: Endpoint;
  readonly #clientOwned: boolean;
  readonly #orgId: string | undefined;

  /** @throws VendorError as `endpointOf` does. */
  constructor(name: string, given: VendorSettings, publicUrl: string, context: VendorContext) {
    this.name = name;
    this.#context = context;
    this.#endpoint = endpointOf(name, given, publicUrl);
    this.#clientOwned = given.clientOwned;
    this.#orgId = given.orgId;
  }

  /** The vendor's address. */
  get address(): string {
    return this.#endpoint.origin + this.#endpoint.path;
  }

  get clock(): Clock {
    return this.#context.clock;
  }

  /** Posts to the vendor's endpoint, with the limits and errors of `postStream`. */
  post(
    request: VendorRequest,
    onData: (chunk: Buffer) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, connections } = this.#context;
    return postStream(
      {
        ...request,
        vendor: this.name,
        dispatcher: connections.for(this.#clientOwned, this.#orgId),
        clock,
        origin: this.#endpoint.origin,
        path: this.#endpoint.path + request.path,
      },
      onData,
      signal,
    );
  }

  /** The whole text of a `GET` response, with the limits and errors of `requestStream`. */
  async get(request: Omit<VendorRequest, "body" | "limits">, signal: AbortSignal): Promise<string> {
    const { clock, connections } = this.#context;
    const chunks: Buffer[] = [];
    await requestStream(
      {
        ...request,
        limits: LOOKUP_LIMITS,
        vendor: this.name,
        dispatcher: connections.for(this.#clientOwned, this.#orgId),
        clock,
        origin: this.#endpoint.origin,
        path: this.#endpoint.path + request.path,
        method: "GET",
        body: undefined,
      },
      (chunk) => {
        chunks.push(chunk);
        return false;
      },
      signal,
    );
    return Buffer.concat(chunks).toString();
  }

  /** The next request finds an open connection. */
  warm(): void {
    warmConnection(this.#context, this.#endpoint, this.#clientOwned, this.#orgId);
  }
}
