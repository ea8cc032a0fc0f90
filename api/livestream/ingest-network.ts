import { RequestError } from "../../engine/request-error.js";
import type { IncomingRequest } from "../http/endpoints/endpoint.js";
import { AddressBlocks } from "../http/request/address-blocks.js";

/** Set by proxies, and by browsers for pages of another origin; an ingest sends none of them. */
const TELLTALE_HEADERS = ["x-forwarded-for", "x-real-ip", "forwarded", "via", "origin"] as const;
/** The headers that `requireIngest` reads. */
export const INGEST_HEADERS: readonly string[] = TELLTALE_HEADERS;

/**
 * The networks of the ingest, by the address of the connection itself. A request through a proxy is refused, and
 * so is one that a web page made a browser send.
 */
export class IngestNetwork {
  readonly #blocks: AddressBlocks;

  constructor(networks: readonly string[]) {
    this.#blocks = new AddressBlocks(networks);
  }

  has(address: string): boolean {
    return this.#blocks.has(address);
  }

  /** RequestError `forbidden` for any other client than the ingest. */
  requireIngest(request: IncomingRequest): void {
    const telltale = TELLTALE_HEADERS.find((name) => request.header(name) !== "");
    if (telltale !== undefined) {
      throw new RequestError(
        "forbidden",
        `webhooks are for the ingest only: a request with ${telltale} is not its own`,
      );
    }
    if (this.has(request.clientAddress)) return;
    throw new RequestError(
      "forbidden",
      "webhooks are for the ingest only: the address is not in its network",
    );
  }
}
