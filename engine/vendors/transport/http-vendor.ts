import type { Clock } from "../../time/clock.js";
import {
  type Endpoint,
  endpointOf,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";
import { postStream, type StreamRequest } from "./http-stream.js";
import { warmConnection } from "./warm-connection.js";

/** What is different in each request to one vendor; its path is below that of the vendor's address. */
export type VendorRequest = Omit<StreamRequest, "vendor" | "dispatcher" | "clock" | "origin">;

/** A vendor that is asked by HTTP: where it listens, and over which connections it may be reached. */
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

  /** Where the vendor listens. */
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

  /** The next request finds an open connection. */
  warm(): void {
    warmConnection(this.#context, this.#endpoint, this.#clientOwned, this.#orgId);
  }
}
